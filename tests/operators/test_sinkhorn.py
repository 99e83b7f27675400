"""Sinkhorn's scaling against the dense matrix, hard supports, and what is infeasible."""

import numpy as np
import pytest

from convergence.errors import InfeasibleError, InvalidInputError, NotConvergedError
from convergence.operators import MarkovOperator, sample_log_weights, sinkhorn
from convergence.scores import Distance, Sinkhorn
from convergence.spaces import Sphere

SPHERE = Sphere(2, 2.0, (0, 0, 1))
POINTS = SPHERE.sample(400, np.random.default_rng(6))
LINE = np.array([[0.0], [1.0], [2.0]])


def scaled(points, beta, found, self_loops):
    exponents = -beta * np.sum((points[:, None] - points) ** 2, axis=-1)
    if not self_loops:
        np.fill_diagonal(exponents, -np.inf)
    return np.exp(exponents + found.log_weights[:, None] + found.log_weights)


@pytest.mark.parametrize(
    ("beta", "self_loops"),
    [(0.01, True), (3.0, True), (30.0, True), (1e4, True), (0.01, False), (10.0, False)],
)
def test_symmetric_and_doubly_stochastic(beta, self_loops):
    found = sinkhorn(POINTS, beta, self_loops=self_loops)
    assert found.converged
    assert found.marginal_error <= 1e-12
    matrix = scaled(POINTS, beta, found, self_loops)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=2e-12)
    operator = MarkovOperator.of_sample(
        POINTS, Distance(normalisation=Sinkhorn()), beta, self_loops=self_loops
    )
    p = operator.toarray()
    np.testing.assert_allclose(p, matrix, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(p, p.T, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(operator.T @ np.ones(400), 1, rtol=2e-12)


def test_the_solution_is_that_of_the_damped_iteration():
    """u ← sqrt(u / Ku) on the dense matrix, to its end."""
    kernel = np.exp(-5 * np.sum((POINTS[:, None] - POINTS) ** 2, axis=-1))
    u = np.ones(400)
    for _ in range(200):
        u = np.sqrt(u / (kernel @ u))
    np.testing.assert_allclose(
        sinkhorn(POINTS, 5.0, self_loops=True).log_weights, np.log(u), atol=1e-11
    )


def test_any_positive_marginal():
    a = np.random.default_rng(0).random(400) + 0.1
    found = sinkhorn(POINTS, 10.0, self_loops=True, marginal=a)
    np.testing.assert_allclose(scaled(POINTS, 10.0, found, True).sum(axis=1), a, rtol=2e-12)


def test_iterations_do_not_grow_with_the_sample():
    """A fixed rate of 0.17 an iteration where self-loops are kept."""
    points = SPHERE.sample(10_000, np.random.default_rng(1))
    for n, beta in ((1000, 10.0), (10_000, 100.0)):
        found = sinkhorn(points[:n], beta, self_loops=True)
        assert found.converged
        assert found.iterations <= 20


def test_two_points_far_apart():
    two = np.array([[0.0], [1.0]])
    identity = sinkhorn(two, 1e6, self_loops=True)
    np.testing.assert_array_equal(identity.log_weights, 0)
    swap = sinkhorn(two, 500.0, self_loops=False)
    np.testing.assert_allclose(scaled(two, 500.0, swap, False), [[0, 1], [1, 0]], rtol=1e-12)


def test_duplicates_and_separate_clusters():
    ten = sinkhorn(np.ones((10, 2)), 1e6, self_loops=True)
    np.testing.assert_allclose(ten.log_weights, -0.5 * np.log(10), rtol=1e-12)
    clusters = np.concatenate([POINTS[:40], POINTS[40:60] + 100.0])
    found = sinkhorn(clusters, 5.0, self_loops=True)
    alone = sinkhorn(POINTS[:40], 5.0, self_loops=True)
    np.testing.assert_allclose(found.log_weights[:40], alone.log_weights, atol=1e-11)


def test_path_of_three_nodes_without_its_diagonal():
    """Where the ends do not see each other the support has no doubly stochastic matrix."""
    with pytest.raises(InfeasibleError, match=r"leave 1 of 3 points.*self-loops"):
        sinkhorn(LINE, 50.0, self_loops=False)
    assert sinkhorn(LINE, 50.0, self_loops=True).converged
    # where they do, one half everywhere off the diagonal is the only one
    half = scaled(LINE, 1.0, sinkhorn(LINE, 1.0, self_loops=False), False)
    np.testing.assert_allclose(half, 0.5 * (1 - np.eye(3)), rtol=1e-11)


def test_a_marginal_that_the_path_of_three_cannot_carry():
    """The middle point must take what both ends have: (1, 2, 1) alone has a scaling."""
    for marginal in (np.ones(3), np.full(3, 0.1), np.array([1, 2, 1.2])):
        with pytest.raises(InfeasibleError, match=r"without a partner.*self-loops"):
            sinkhorn(LINE, 50.0, self_loops=False, marginal=marginal)
    found = sinkhorn(LINE, 50.0, self_loops=False, marginal=np.array([1.0, 2.0, 1.0]))
    expected = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    np.testing.assert_allclose(scaled(LINE, 50.0, found, False), expected, atol=1e-11)


@pytest.mark.parametrize("most", [0, 1])
def test_hardly_any_iterations_leave_a_scaling_that_says_its_error(most):
    found = sinkhorn(POINTS, 5.0, self_loops=True, max_iterations=most)
    assert not found.converged
    sums = scaled(POINTS, 5.0, found, True).sum(axis=1)
    np.testing.assert_allclose(found.marginal_error, np.max(np.abs(np.log(sums))))


def test_supports_without_a_matching():
    star = np.concatenate([np.zeros((1, 2)), Sphere(1).candidates()[:1] * 1.0, [[-1.0, 0.0]]])
    with pytest.raises(InfeasibleError, match="partner"):
        sinkhorn(star, 60.0, self_loops=False)
    # 200 pairs and one triple in a row, far apart: only the triple fails
    pairs = np.concatenate([[100.0 * k, 100.0 * k + 1] for k in range(200)])
    points = np.concatenate([pairs, [-100.0, -99.0, -98.0]])[:, None]
    with pytest.raises(InfeasibleError, match="leave 1 of 403"):
        sinkhorn(points, 50.0, self_loops=False)
    assert sinkhorn(points[:-3], 50.0, self_loops=False).converged


def test_rows_without_mass_are_named():
    with pytest.raises(InfeasibleError, match=r"1 rows .*rows 0"):
        sinkhorn(LINE[:1], 1.0, self_loops=False)
    points = np.concatenate([POINTS, [[50.0, 0, 0]]])
    with pytest.raises(InfeasibleError, match=r"rows 400"):
        sinkhorn(points, 10.0, self_loops=False)


def test_unconverged_is_said():
    found = sinkhorn(POINTS, 5.0, self_loops=True, max_iterations=3)
    assert not found.converged
    assert found.iterations == 3
    assert found.marginal_error > 1e-6
    # a path of four: its middle edge lies on no matching, so convergence is only sublinear
    four = np.arange(4.0)[:, None]
    assert not sinkhorn(four, 300.0, self_loops=False).converged
    with pytest.raises(NotConvergedError, match="marginals"):
        sample_log_weights(four, Distance(normalisation=Sinkhorn()), 300.0, self_loops=False)


@pytest.mark.parametrize("marginal", [np.zeros(400), np.ones(3), np.full(400, np.nan)])
def test_refusals(marginal):
    with pytest.raises(InvalidInputError, match="positive mass"):
        sinkhorn(POINTS, 5.0, self_loops=True, marginal=marginal)
