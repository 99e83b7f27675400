"""Schrödinger bridges: both marginals, symmetry for equal ones, and honest failure."""

import numpy as np
import pytest

from convergence.errors import InfeasibleError, InvalidInputError
from convergence.operators import bridge, sinkhorn, stationary
from convergence.spaces import Sphere

rng = np.random.default_rng(12)
SPHERE = Sphere(2, 1.0, (0, 0, 1))
X, Y = SPHERE.sample(300, rng), SPHERE.sample(200, rng)
A, B = rng.random(300) + 0.2, rng.random(200) + 0.2
A, B = A / A.sum(), B / B.sum()
C = A[::-1].copy()


def dense(found, queries, keys, beta, self_loops=True):
    exponents = -beta * np.sum((queries[:, None] - keys) ** 2, axis=-1)
    if not self_loops:
        np.fill_diagonal(exponents, -np.inf)
    return np.exp(exponents + found.query_potential[:, None] + found.key_potential)


@pytest.mark.parametrize(
    ("keys", "b", "self_loops"),
    [(Y, B, True), (X, C, True), (X, C, False)],
    ids=["other points", "same points", "without loops"],
)
@pytest.mark.parametrize("beta", [0.5, 8.0])
def test_both_marginals(keys, b, beta, self_loops):
    found = bridge(X, keys, beta, A, b, self_loops=self_loops)
    assert found.converged
    assert found.marginal_error <= 1e-12
    coupling = found.coupling()
    np.testing.assert_allclose(
        coupling, dense(found, X, keys, beta, self_loops), rtol=1e-10, atol=1e-18
    )
    np.testing.assert_allclose(coupling.sum(axis=1), A, rtol=1e-12)
    np.testing.assert_allclose(coupling.sum(axis=0), b, rtol=1e-11)


def test_against_alternating_updates():
    kernel = np.exp(-4 * np.sum((X[:, None] - Y) ** 2, axis=-1))
    v = np.ones(200)
    for _ in range(3000):
        u = A / (kernel @ v)
        v = B / (kernel.T @ u)
    expected = u[:, None] * kernel * v
    np.testing.assert_allclose(bridge(X, Y, 4.0, A, B).coupling(), expected, rtol=1e-9, atol=1e-18)


@pytest.mark.parametrize("self_loops", [True, False])
def test_equal_marginals_carry_no_current(self_loops):
    """A symmetric kernel and equal marginals: a symmetric coupling, whatever the first claim."""
    found = bridge(X, X, 8.0, A, A, self_loops=self_loops, tolerance=1e-14)
    coupling = found.coupling()
    np.testing.assert_array_equal(found.query_potential, found.key_potential)
    assert np.max(np.abs(coupling - coupling.T)) < 1e-12 * np.max(coupling)
    np.testing.assert_allclose(stationary(found.operator).law, A, rtol=1e-11)
    flux = found.operator.flux(A)
    assert np.max(np.abs(flux @ X)) < 1e-15


def test_newton_finds_the_symmetric_coupling_too():
    """The same problem with its keys in another order goes through the general solver."""
    reordered = bridge(X, X[::-1], 8.0, A, A[::-1]).coupling()[:, ::-1]
    expected = bridge(X, X, 8.0, A, A).coupling()
    np.testing.assert_allclose(reordered, expected, rtol=1e-9, atol=1e-14)


def test_unequal_marginals_carry_a_current():
    found = bridge(X, X, 8.0, A, C)
    coupling = found.coupling()
    assert np.max(np.abs(coupling - coupling.T)) > 1e-3 * np.max(coupling)


def test_uniform_marginals_are_sinkhorn():
    ones = np.ones(300)
    found = bridge(X, X, 8.0, ones, ones)
    expected = sinkhorn(X, 8.0, self_loops=True).log_weights
    np.testing.assert_array_equal(found.key_potential, expected)


def test_large_beta_needs_no_more_than_some_hundred_sums():
    """Neighbouring marginals on a line at β = 2000: alternating updates would need thousands."""
    line = np.linspace(0, 1, 400)[:, None]
    a, b = (np.exp(0.1 * s * np.cos(np.pi * line[:, 0])) for s in (1, -1))
    a, b = a / a.sum(), b / b.sum()
    found = bridge(line, line, 2000.0, a, b)
    assert found.converged
    assert found.iterations < 600
    np.testing.assert_allclose(found.coupling().sum(axis=0), b, rtol=1e-10)


@pytest.mark.parametrize("beta", [50.0, 1000.0, 1e6])
def test_unequal_marginals_on_two_points_at_large_beta(beta):
    """What the second key lacks comes from the other point, at any distance: no other coupling."""
    two = np.array([[0.0], [1.0]])
    found = bridge(two, two, beta, np.array([0.3, 0.7]), np.array([0.5, 0.5]))
    assert found.converged
    # marginals to 1e-12 or, as documented, to the rounding of potentials near β
    accuracy = max(1e-12, 4 * np.finfo(float).eps * beta)
    np.testing.assert_allclose(found.coupling(), [[0.3, 0], [0.2, 0.5]], rtol=0, atol=accuracy)


@pytest.mark.parametrize("beta", [1000.0, 1e4])
def test_marginals_far_apart_at_large_beta(beta):
    """Both marginals and the form exp(φ - β|x - y|² + ψ): there is no other such coupling."""
    some = np.random.default_rng(0)
    points = some.standard_normal((40, 1))
    a, b = (m / m.sum() for m in some.random((2, 40)))
    found = bridge(points, points, beta, a, b)
    assert found.converged
    coupling = found.coupling()
    rounding = 100 * np.finfo(float).eps * beta * np.ptp(points) ** 2
    expected = dense(found, points, points, beta)
    share = np.finfo(float).eps * np.max(a)  # entries of P are known to the rounding of one
    np.testing.assert_allclose(coupling, expected, rtol=rounding, atol=share)
    np.testing.assert_allclose(coupling.sum(axis=1), a, rtol=1e-12)
    np.testing.assert_allclose(coupling.sum(axis=0), b, rtol=rounding)


@pytest.mark.parametrize("most", [0, 1])
def test_hardly_any_iterations_leave_a_coupling_that_says_its_error(most):
    found = bridge(X, Y, 8.0, A, B, max_iterations=most)
    assert not found.converged
    columns = found.coupling().sum(axis=0)
    np.testing.assert_allclose(found.marginal_error, np.max(np.abs(np.log(columns / B))))


def test_newton_keeps_the_free_constant_of_the_potentials_at_bay():
    """Constants solve the homogeneous equation: left to the rounding they grew to 1e4 here."""
    points = Sphere(2, 1.1, (0, 0, 1)).sample(2000, np.random.default_rng(1))
    a = np.exp(0.3 * points[:, 0])
    found = bridge(points, points, 10.0, a / a.sum(), np.full(2000, 1 / 2000))
    assert found.converged
    assert found.iterations < 400
    assert np.max(np.abs(found.key_potential)) < 20


def test_unconverged_is_said():
    found = bridge(X, Y, 8.0, A, B, max_iterations=10)
    assert not found.converged
    assert found.marginal_error > 1e-6


def test_refusals():
    with pytest.raises(InvalidInputError, match="equal totals"):
        bridge(X, Y, 8.0, A, 2 * B)
    with pytest.raises(InvalidInputError, match="row_marginal"):
        bridge(X, Y, 8.0, np.zeros(300), B)
    with pytest.raises(InvalidInputError, match="column_marginal"):
        bridge(X, Y, 8.0, A, B[:-1])
    far = np.concatenate([Y[:-1], [[80.0, 0, 0]]])
    with pytest.raises(InfeasibleError, match=r"columns .*columns 199"):
        bridge(X, far, 8.0, A, B)
    with pytest.raises(InfeasibleError, match=r"rows .*rows 199"):
        bridge(far, X, 8.0, B, A)
