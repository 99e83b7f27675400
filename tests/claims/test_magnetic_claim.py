"""The magnetic claim: quadrature against the closed form, and the estimate against a plain sum."""

import numpy as np
import pytest

from convergence.claims import MagneticProblem
from convergence.limits import magnetic_expectation, magnetic_limit
from convergence.operators import Component, MagneticOperator, MarkovOperator, bilinear_phase

PROBLEM = MagneticProblem(0.3, 2, 0.7)


@pytest.mark.parametrize("beta", [5.0, 60.0, 4000.0])
@pytest.mark.parametrize(("flux", "k"), [(0.3, 2), (-0.45, 1), (0.8, -1)])
def test_expectation_is_the_closed_form(flux, k, beta):
    problem = MagneticProblem(flux, k, 0.7)
    angle = k * problem.targets[:, 0] + problem.phase
    wave = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    closed = magnetic_expectation(flux, k, beta, 0.7)
    np.testing.assert_allclose(problem.expectation(beta), closed * wave, atol=1e-9)
    np.testing.assert_allclose(problem.limit, magnetic_limit(flux, k, 0.7) * wave, rtol=1e-14)


def test_estimate_is_the_plain_sum():
    points = PROBLEM.space.sample(2000, np.random.default_rng(0))
    x, y = PROBLEM.targets, points[:, 0]
    beta = 12.0
    squares = 2 - 2 * np.cos(y - x)
    weights = np.exp(-beta * squares)
    weights /= weights.sum(axis=1, keepdims=True)
    mode = lambda u: np.exp(1j * (2 * u + PROBLEM.phase))  # noqa: E731
    moved = np.sum(weights * np.exp(0.3j * np.sin(y - x)) * mode(y), axis=1)
    expected = 4 * 0.7 * beta * (mode(x[:, 0]) - moved)
    found = PROBLEM.estimate(iter(np.split(points, 2)), beta)
    np.testing.assert_allclose(found[:, 0] + 1j * found[:, 1], expected, atol=1e-9)


def test_the_estimate_is_that_of_the_magnetic_operator():
    """The claim sums over chunks; what it finds is what the operator that users take gives."""
    points, beta = PROBLEM.space.sample(500, np.random.default_rng(1)), 12.0
    features, x = PROBLEM.space.features, PROBLEM.targets
    walk = MarkovOperator([Component(features(x), features(points))], beta)
    turn = np.array([[0.0, 0.3], [-0.3, 0.0]])  # a₀ sin(y - x) is bilinear
    wave, there = (np.exp(1j * (2 * u[:, 0] + PROBLEM.phase)) for u in (points, x))
    found = MagneticOperator(walk, bilinear_phase(turn)).generator(wave, there, 0.7)
    estimate = PROBLEM.estimate(iter(np.split(points, 2)), beta)
    np.testing.assert_allclose(estimate[:, 0] + 1j * estimate[:, 1], found, rtol=1e-11)


def test_faults_are_wrong_fluxes():
    faults = {fault.name: fault.expectation(1e5) for fault in PROBLEM.faults()}
    wave = PROBLEM.limit / magnetic_limit(0.3, 2, 0.7)
    for name, value in {
        "sign of the flux": 0.7 * 1.7**2, "flux omitted": 0.7 * 4, "k² + a₀²": 0.7 * (4 + 0.09),
    }.items():  # fmt: skip
        np.testing.assert_allclose(faults[name], value * wave, atol=1e-3)
