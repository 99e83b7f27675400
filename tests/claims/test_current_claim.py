"""Current claims: what is measured is the net flux and the entropy production of the matrix."""

from dataclasses import replace

import numpy as np
import pytest

from convergence.claims import CurrentProblem, current_claim
from convergence.claims.currents import rings
from convergence.errors import InvalidInputError
from convergence.limits import TiltedRing
from convergence.operators import Component, MarkovOperator, stationary
from convergence.scores import Distance, harmonic_link
from convergence.spaces import Circle, FlatTorus
from convergence.verification import Outcome, overall
from convergence.verification.bias import bias_check

RING = Circle(kappa=0.5)
SCORE = Distance((0.2, -0.3), link=harmonic_link([0.9]))
PROBLEM = CurrentProblem(RING, SCORE, hbar=0.7)
BETA = 15.0
CIRCLES = harmonic_link([0.9, -0.6])
POINTS = RING.sample(400, np.random.default_rng(6))


def by_hand(points):
    """4ħβ times the flux through any cut, and ½ Σ (A_ij - A_ji) log(A_ij/A_ji)."""
    points = points[np.argsort(RING.angle(points))]
    operator = MarkovOperator.of_sample(points, SCORE, BETA, self_loops=False)
    squares = np.sum((points[:, None] - points) ** 2, axis=-1)
    kernel = np.exp(-BETA * squares + points @ SCORE.link @ points.T + points @ SCORE.doob)
    np.fill_diagonal(kernel, 0)
    flow = stationary(operator).law[:, None] * kernel / kernel.sum(axis=1, keepdims=True)
    theta = RING.angle(points)
    turn = np.angle(np.exp(1j * (theta - theta[:, None])))
    net = flow - flow.T
    fluxes = []
    for cut in (-2.0, 0.3, 2.5):
        ahead = np.mod(cut - theta[:, None], 2 * np.pi)
        fluxes.append(np.sum(net * ((turn > 0) & (ahead < turn))))
    off = flow > 0
    entropy = 0.5 * np.sum(net[off] * np.log(flow[off] / flow.T[off]))
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


def test_wrong_densities():
    """The walk of density ρ has the law ρ²: without potential, and with half of it."""
    faults = {fault.name: fault.expectation(1e3)[0] for fault in PROBLEM.faults()}
    for name, kappa in {"potential omitted": 0.0, "law ρ for ρ²": 0.25}.items():
        other = TiltedRing(Circle(kappa), SCORE, 0.7)
        expected = [other.current, other.entropy_production]
        np.testing.assert_allclose(faults[name], expected, rtol=2e-3)
        assert np.max(np.abs(faults[name] / PROBLEM.limit[0] - 1)) > 0.01


def test_a_torus_is_its_circles():
    """On a grid, where the product is exact: currents through each cut, Ṡ the sum."""
    torus = FlatTorus((Circle(0.4, 0.5), Circle(0.3)))
    problem = CurrentProblem(torus, Distance((0.2, 0.0, 0.0, 0.1), link=CIRCLES), 0.7)
    theta = 2 * np.pi * (np.arange(40) + 0.5) / 40
    one = Circle().at(theta)
    grid = np.hstack([np.repeat(one, 40, axis=0), np.tile(one, (40, 1))])
    weights = torus.log_density(grid)
    component = MarkovOperator.of_sample(grid, problem.score, 6.0, self_loops=True).components_[0]
    weighted = Component(component.queries, component.keys, component.log_weights + weights)
    found = problem.observed(MarkovOperator([weighted], 6.0), grid)
    expected = problem.expectation(6.0)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-3)  # steps across a third
    assert problem.functions == ("j_1", "j_2", r"\dot{S}")
    assert found[0] > 0.1 > -0.1 > found[1]
    mixing = np.array(CIRCLES) + np.rot90(np.diag([1.0, 0, 0, -1.0]))
    with pytest.raises(InvalidInputError, match="mix"):
        rings(torus, Distance(link=mixing.tolist()))


def test_the_bias_of_a_uniform_current_is_of_order_two():
    claim = current_claim(
        "ring", Circle(), Distance(link=harmonic_link([0.9])), statement="", source="", hbar=0.7
    )
    beta = 9.0
    exact = 2 * 0.7 * beta * np.arctan(0.9 / (2 * beta)) / np.pi
    assert claim.expectation(beta)[0, 0] == pytest.approx(exact, rel=1e-12)
    assert claim.bias_order == (2.0, 1.0)
    schedule = claim.schedules["smoke"]
    assert overall(bias_check(claim, schedule)) == Outcome.PASS
    assert overall(bias_check(replace(claim, bias_order=1.0), schedule)) == Outcome.FAIL


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
    }.items():
        np.testing.assert_allclose(faults[name], steady(c), atol=1e-3, err_msg=name)
    np.testing.assert_allclose(faults["2ħβ for 4ħβ"], np.array(steady(0.9)) / 2, atol=1e-3)
    np.testing.assert_allclose(faults["ħ off by 5 %"], 1.05 * np.array(steady(0.9)), atol=1e-3)
    assert len(faults) == 6
    np.testing.assert_allclose(problem.limit[0], steady(0.9), rtol=1e-12)


@pytest.mark.parametrize(
    ("score", "fault"),
    [
        (Distance((0.3, 0.2), link=harmonic_link([0.9])), "law h for h²"),
        (Distance(link=((0.4, 0.9), (-0.9, -0.4))), "symmetric part of the link omitted"),
    ],
)
def test_a_potential_without_density_has_a_bias_of_order_one(score, fault):
    """A Doob weight or the symmetric part of a link on a uniform circle."""
    claim = current_claim("ring", Circle(), score, statement="", source="", hbar=0.7)
    assert claim.bias_order == (1.0, 1.0)
    schedule = claim.schedules["smoke"]
    assert overall(bias_check(claim, schedule)) == Outcome.PASS
    assert overall(bias_check(replace(claim, bias_order=(2.0, 1.0)), schedule)) == Outcome.FAIL
    faults = {f.name: f.expectation(1e3)[0] for f in claim.faults}
    other = {
        "law h for h²": replace(score, doob=(0.15, 0.1)),
        "symmetric part of the link omitted": Distance(link=harmonic_link([0.9])),
    }[fault]
    exact = TiltedRing(Circle(), other, 0.7)
    np.testing.assert_allclose(faults[fault], [exact.current, exact.entropy_production], rtol=2e-3)
    assert np.max(np.abs(faults[fault] / claim.limit[0] - 1)) > 0.02
