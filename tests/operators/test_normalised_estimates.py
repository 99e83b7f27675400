"""Estimates with weights from the sample against their exact N = ∞ expectation.

The weights reuse the sample, so the spread over replicates is the yardstick. For each
normalisation the mean of R = 30 independent estimates at three targets is within t standard
errors of the expectation, t the Student quantile at a family-wise false-alarm rate of 1e-6; seeds
are fixed. The bias of order 1/N that remains is below a tenth of a standard error of one estimate.
"""

import numpy as np
import pytest
from scipy import stats

from convergence import limits
from convergence.operators import generator, sample_log_weights
from convergence.scores import CoifmanLafon, Distance, KeyPotential, Sinkhorn, TargetMeasure
from convergence.spaces import Circle, Gaussian, Polynomial

N, BETA, REPLICATES, FALSE_ALARM = 4000, 12.0, 30, 1e-6
CIRCLE = Circle(1.0, 0.6)
TARGET = Polynomial("0.9*x1", 2)


def circle_expectation(normalisation, f, x):
    """One global trapezoid rule with the exact weight."""
    y = CIRCLE.at(2 * np.pi * np.arange(800) / 800)
    log_h = limits.log_weight(normalisation, CIRCLE, BETA)(y)
    exponents = -BETA * np.sum((x[:, None] - y) ** 2, axis=-1) + CIRCLE.log_density(y) + log_h
    kernel = np.exp(exponents - exponents.max())
    return -4 * BETA * np.sum(kernel * (f(y) - f(x)[:, None]), axis=1) / np.sum(kernel, axis=1)


def gaussian_expectation(normalisation, f, x):
    return limits.expectation(LINE, Distance(normalisation=normalisation), f, x, BETA)


LINE = Gaussian(((1.7,),))
ON_CIRCLE = [
    CoifmanLafon(0.5),
    CoifmanLafon(1.0),
    Sinkhorn(),
    TargetMeasure(TARGET),
    KeyPotential(TARGET),
]
CASES = [
    *((CIRCLE, "x0*x1", n, circle_expectation) for n in ON_CIRCLE),
    *((LINE, "x0", n, gaussian_expectation) for n in (CoifmanLafon(0.5), CoifmanLafon(1.0))),
]


def replicates(space, f, normalisation, x, seed):
    """Independent estimates, shape (replicates, targets)."""
    score, estimates = Distance(normalisation=normalisation), []
    for child in np.random.SeedSequence(seed).spawn(REPLICATES):
        points = space.sample(N, np.random.default_rng(child))
        weights = sample_log_weights(points, score, BETA, self_loops=True)
        at = {"targets": x, "target_values": f(x), "log_weights": weights}
        estimates.append(generator(points, f(points), Distance(), BETA, **at))
    return np.array(estimates)


def worst_t(estimates, expected):
    error = np.std(estimates, axis=0, ddof=1) / np.sqrt(REPLICATES)
    return np.max(np.abs(np.mean(estimates, axis=0) - expected) / error)


@pytest.mark.parametrize(
    ("space", "expression", "normalisation", "expectation"),
    CASES,
    ids=[f"{type(space).__name__} {normalisation!r}" for space, _, normalisation, _ in CASES],
)
def test_mean_of_the_estimates(space, expression, normalisation, expectation):
    f = space.polynomial(expression)
    x = (
        CIRCLE.at(np.array([0.1, 1.2, 5.5]))
        if space is CIRCLE
        else np.array([[-1.1], [0.6], [1.0]])
    )
    estimates = replicates(space, f, normalisation, x, 7)
    level = FALSE_ALARM / (len(CASES) * len(x))
    allowed = stats.t.ppf(1 - level / 2, REPLICATES - 1)
    assert worst_t(estimates, expectation(normalisation, f, x)) < allowed
    # and the plain walk is seen as another operator
    assert worst_t(estimates, expectation(CoifmanLafon(0.0), f, x)) > allowed
