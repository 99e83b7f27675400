"""Claims on whole operators: what is measured, against dense matrices; their faults."""

import numpy as np
import pytest

from convergence.claims import KillingProblem, RotationProblem, killing_claim, rotation_claim
from convergence.errors import InvalidInputError
from convergence.limits import gaussian_circulation, gaussian_stationary, killing_eigenvalue
from convergence.operators import MarkovOperator, elimination_law, stationary
from convergence.scores import CoifmanLafon, Distance, killing_link
from convergence.spaces import Circle, Gaussian, Sphere

HBAR, BETA = 0.7, 5.0
PLANE = Gaussian(((1.0, 0.3), (0.3, 0.6)))
TURN = Distance(link=((0.0, 0.9), (-0.9, 0.0)))
RNG = np.random.default_rng(61)


def dense(points, score, loops):
    squares = np.sum((points[:, None] - points) ** 2, axis=-1)
    kernel = np.exp(-BETA * squares + points @ np.array(score.link) @ points.T)
    if not loops:
        np.fill_diagonal(kernel, 0)
    return kernel / kernel.sum(axis=1, keepdims=True)


def test_rotation():
    points, problem = PLANE.sample(200, RNG), RotationProblem(PLANE, TURN, HBAR)
    p = dense(points, TURN, loops=False)
    law = elimination_law(p)
    flow = law[:, None] * p
    covariance = np.cov(points.T, aweights=law, ddof=0)
    area = points[:, :1] * points[:, 1] - points[:, 1:] * points[:, 0]
    off = ~np.eye(200, dtype=bool)
    entropy = 0.5 * np.sum((flow - flow.T)[off] * np.log(flow[off] / flow.T[off]))
    scale = 4 * HBAR * BETA
    turning = scale * np.sum(flow * area)
    expected = [*covariance[np.triu_indices(2)], turning]
    np.testing.assert_allclose(problem.measured(points, BETA)[0], expected, rtol=1e-8)
    assert turning > 0.3
    # a column that is a multiple of another would count one piece of evidence twice
    assert scale * entropy == pytest.approx(2 * 0.9 * turning, rel=1e-8)
    assert len(problem.functions) == len(expected)


def test_rotation_references_and_faults():
    problem = RotationProblem(PLANE, TURN, HBAR)
    for beta in (6.0, None):
        found = problem.reference(PLANE, TURN, beta)
        covariance = gaussian_stationary(PLANE, TURN, beta)[1]
        turning = gaussian_circulation(PLANE, TURN, beta, HBAR)[0, 1]
        expected = [*covariance[np.triu_indices(2)], turning]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    faults = {fault.name: fault.expectation(1e6)[0] for fault in problem.faults()}
    limit = problem.limit[0]
    np.testing.assert_allclose(faults["2ħβ for 4ħβ"], limit * [1, 1, 1, 0.5], rtol=1e-4)
    np.testing.assert_allclose(faults["ħ off by 5 %"], limit * [1, 1, 1, 1.05], rtol=1e-4)
    np.testing.assert_allclose(
        faults["link omitted"], [*(PLANE.sigma / 2)[np.triu_indices(2)], 0], atol=1e-4
    )
    assert faults["link reversed"][3] == pytest.approx(-limit[3], rel=1e-4)
    doubled = gaussian_stationary(Gaussian(((2.0, 0.6), (0.6, 1.2))), TURN)[1]
    np.testing.assert_allclose(faults["law ρ for ρ²"][:3], doubled[np.triu_indices(2)], rtol=1e-4)
    assert len(faults) == 7


def test_killing():
    """Eigenvalues of the dense matrix, their turn told by the eigenvectors."""
    omega = 1.5
    score, points = Distance(link=killing_link((0, 0, omega))), Sphere(2).sample(250, RNG)
    problem = KillingProblem(Sphere(2), score, HBAR)
    found = problem.measured(points, BETA)[0]
    values, vectors = np.linalg.eig(dense(points, score, loops=True))
    turning = points[:, 0] + 1j * points[:, 1]
    vectors = vectors / np.linalg.norm(vectors, axis=0)
    expected = []
    for harmonic in (points[:, 2], turning, turning**2):
        slow = np.where(np.abs(1 - values) < 1e-9, 0, 1) * np.abs(np.conj(harmonic) @ vectors)
        value = 4 * HBAR * BETA * (1 - values[np.argmax(slow)])
        expected += [value.real, value.imag] if np.iscomplexobj(harmonic) else [value.real]
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert found[2] < -1
    assert found[4] < -1
    back = KillingProblem(Sphere(2), Distance(link=killing_link((0, 0, -omega))), HBAR)
    assert back.measured(points, BETA)[0, 2] > 1


def test_killing_references_and_faults():
    problem = KillingProblem(Sphere(2), Distance(link=killing_link((0, 0, 1.5))), HBAR)
    one = killing_eigenvalue(1, 1, 1.5, 8.0, HBAR)
    np.testing.assert_allclose(problem.expectation(8.0)[0, 1:3], [one.real, one.imag], rtol=1e-14)
    expected = HBAR * np.array([2, 2, -3, 6, -6])
    np.testing.assert_allclose(problem.limit[0], expected, rtol=1e-14)
    faults = {fault.name: fault.expectation(1e5)[0] for fault in problem.faults()}
    for name, factor in {"link omitted": 0, "link reversed": -1, "link halved": 0.5}.items():
        turned = expected * [1, 1, factor, 1, factor]
        np.testing.assert_allclose(faults[name], turned, atol=1e-3)
    np.testing.assert_allclose(faults["2ħβ for 4ħβ"], expected / 2, atol=1e-3)
    with pytest.raises(InvalidInputError, match="uniform"):
        problem.reference(Sphere(2, 1.0, (0, 0, 1)), problem.score, None)
    with pytest.raises(InvalidInputError, match="killing_link"):
        problem.reference(Sphere(2), Distance(link=killing_link((1.0, 0, 1.5))), None)


def test_killing_refuses_what_would_change_the_spectrum():
    turn = killing_link((0, 0, 1.5))
    for space in (Sphere(2, radius=2.0), Sphere(3), Sphere(2, 1.0, (0, 0, 1)), Circle(), PLANE):
        with pytest.raises(InvalidInputError, match="uniform sphere S² of radius 1"):
            KillingProblem(space, Distance(link=turn))
    for score in (
        Distance(link=killing_link((0, 1.0, 1.5))),
        Distance((0, 0, 0.3), link=turn),
        Distance(normalisation=CoifmanLafon(1.0), link=turn),
        Distance(link=(np.array(turn) + 0.2 * np.eye(3)).tolist()),
    ):
        with pytest.raises(InvalidInputError, match="killing_link"):
            KillingProblem(Sphere(2), score)


@pytest.mark.parametrize("preset", ["smoke", "standard", "paper"])
def test_schedules(preset):
    claims = (
        rotation_claim("r", PLANE, TURN, statement="", source=""),
        killing_claim("k", 1.0, statement="", source=""),
    )
    for claim in claims:
        joint = claim.schedules[preset].joint
        betas, sizes = np.transpose([(s.beta, s.n) for s in joint])
        np.testing.assert_allclose(betas[1:] / betas[:-1], (sizes[1:] / sizes[:-1]) ** 0.5, 1e-2)
        assert claim.slope == -0.5
        assert claim.slope_is_bound


def test_the_direct_law_is_that_of_arnoldi():
    points = PLANE.sample(150, RNG)
    operator = MarkovOperator.of_sample(points, TURN, BETA, self_loops=True)
    one, other = stationary(operator, largest_dense=0), stationary(operator)
    np.testing.assert_allclose(other.law, one.law, rtol=1e-8, atol=1e-14)
    assert (one.method, other.method) == ("scipy.sparse.linalg.eigs", "scipy.linalg.solve")
    assert other.residual < 1e-13
    assert stationary(operator, largest_dense=8 * 150**2 - 1).method == one.method
