"""Causal claims: the estimate by hand, and the scales that must be rejected."""

import numpy as np

from convergence.claims import CausalProblem
from convergence.claims.schedules import schedules
from convergence.spaces import Chart, Coordinate, Gaussian

LINE = Gaussian(((1.7,),))
PROBLEM = CausalProblem(LINE, (LINE.polynomial("x0"), LINE.polynomial("x0**2 + x0")))


def test_the_estimate_by_hand():
    beta, points = 8.0, LINE.sample(500, np.random.default_rng(2))
    x, y = PROBLEM.targets, points[:, 0]
    kernel = np.exp(-beta * (x - y) ** 2) * (y <= x)
    kernel /= kernel.sum(axis=1, keepdims=True)
    values = np.stack([y, y**2 + y], axis=1)
    at = np.concatenate([x, x**2 + x], axis=1)
    expected = np.sqrt(np.pi * beta) * (kernel @ values - at)
    found = PROBLEM.estimate(iter(np.split(points, 4)), beta)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_faults_at_large_beta():
    """The past gives -f'; with a diffusive scale there is no limit, without a mask it is zero."""
    limit, beta = PROBLEM.limit, 1e8
    x = PROBLEM.targets[:, 0]
    np.testing.assert_allclose(limit, -np.stack([np.ones_like(x), 2 * x + 1], axis=1))
    faults = {fault.name: fault.expectation for fault in PROBLEM.faults()}
    np.testing.assert_allclose(PROBLEM.expectation(beta), limit, rtol=1e-3)
    np.testing.assert_allclose(faults["future for past"](beta), -limit, rtol=1e-3)
    np.testing.assert_allclose(faults["mask omitted"](beta), 0 * limit, atol=1e-3)
    np.testing.assert_allclose(faults["β off by 2"](beta), np.sqrt(0.5) * limit, rtol=1e-3)
    diffusive = faults["4β(I - P), a diffusion"]
    np.testing.assert_allclose(diffusive(beta) / diffusive(beta / 4), 2, rtol=1e-3)


def test_bias_and_sampling_error_are_balanced_at_the_smallest_sample():
    """Half an order of bias: the first β makes bias² + sd² least, to its leading orders."""
    interval = Chart((Coordinate("t", 0.0, 1.0),), ("t",))
    problem = CausalProblem(interval, (interval.function("sin(2*t)"), interval.function("exp(t)")))
    first = schedules(problem, 2 / 3, order=0.5)["standard"].joint[0]

    def square(beta):
        bias = problem.expectation(beta) - problem.limit
        return np.mean(bias**2 + problem.sampling_error(first.n, beta)[1] ** 2)

    least = min(map(square, first.beta * np.geomspace(0.2, 5, 41)))
    assert square(first.beta) < 1.02 * least
