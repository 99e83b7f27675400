"""Current claims: what is measured is the net flux and the entropy production of the matrix."""

import numpy as np
import pytest

from convergence.claims import CurrentProblem
from convergence.operators import MarkovOperator, stationary
from convergence.scores import Distance, harmonic_link
from convergence.spaces import Circle

RING = Circle(kappa=0.5)
SCORE = Distance((0.2, -0.3), link=harmonic_link([0.9]))
PROBLEM = CurrentProblem(RING, SCORE, hbar=0.7)
BETA = 15.0
POINTS = RING.sample(400, np.random.default_rng(6))


def by_hand(points):
    """4ħβ times the flux through any cut, and ½ Σ (A_ij - A_ji) log(A_ij/A_ji)."""
    points = points[np.argsort(RING.angle(points))]
    operator = MarkovOperator.of_sample(points, SCORE, BETA, self_loops=True)
    squares = np.sum((points[:, None] - points) ** 2, axis=-1)
    kernel = np.exp(-BETA * squares + points @ SCORE.link @ points.T + points @ SCORE.doob)
    flow = stationary(operator).law[:, None] * kernel / kernel.sum(axis=1, keepdims=True)
    theta = RING.angle(points)
    turn = np.angle(np.exp(1j * (theta - theta[:, None])))
    net = flow - flow.T
    fluxes = []
    for cut in (-2.0, 0.3, 2.5):
        ahead = np.mod(cut - theta[:, None], 2 * np.pi)
        fluxes.append(np.sum(net * ((turn > 0) & (ahead < turn))))
    entropy = 0.5 * np.sum(net * np.log(flow / flow.T))
    return 4 * 0.7 * BETA * np.array(fluxes), 4 * 0.7 * BETA * entropy


def test_what_is_measured():
    fluxes, entropy = by_hand(POINTS)
    found = PROBLEM.measured(POINTS, BETA)
    np.testing.assert_allclose(fluxes, found[0, 0], rtol=1e-9)  # the same through every cut
    assert found[0, 1] == pytest.approx(entropy, rel=1e-9)
    assert found[0, 0] > 0.05


def test_halves_remove_what_falls_like_one_over_n():
    first, second = PROBLEM.measured(POINTS[:200], BETA), PROBLEM.measured(POINTS[200:], BETA)
    whole = PROBLEM.measured(POINTS, BETA)
    expected = 2 * whole - (first + second) / 2
    np.testing.assert_allclose(PROBLEM.estimate(POINTS, BETA), expected, rtol=1e-12)


def test_faults():
    """On the uniform circle at large β: j = 2ħc/2π and 4ħc², c reversed, halved, doubled."""
    problem = CurrentProblem(Circle(), Distance(link=harmonic_link([0.9])), hbar=0.7)
    faults = {fault.name: fault.expectation(1e4)[0] for fault in problem.faults()}

    def steady(c):
        return [2 * 0.7 * c / (2 * np.pi), 4 * 0.7 * c**2]

    for name, c in {
        "link omitted": 0.0,
        "link reversed": -0.9,
        "link halved": 0.45,
        "queries moved by Mᵀx/β for Mᵀx/2β": 1.8,
        "potential omitted": 0.9,
    }.items():
        np.testing.assert_allclose(faults[name], steady(c), atol=1e-3, err_msg=name)
    np.testing.assert_allclose(faults["2ħβ for 4ħβ"], np.array(steady(0.9)) / 2, atol=1e-3)
    np.testing.assert_allclose(problem.limit[0], steady(0.9), rtol=1e-12)
