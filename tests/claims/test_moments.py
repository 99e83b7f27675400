"""Metric, dimension and density: estimates against plain formulas, references against limits."""

import numpy as np
import pytest

from convergence.claims import DensityProblem, MetricProblem
from convergence.spaces import Ellipse, SwissRoll, TorusOfRevolution

CHARTS = [
    Ellipse(2, 1, "cos(u)/2", "coordinates"),
    TorusOfRevolution(2, 1, "cos(u)/2 + sin(u + v)/3"),
    SwissRoll(10, "sin(u/2 + h/3)/2"),
]
every_chart = pytest.mark.parametrize("chart", CHARTS, ids=str)


def plain(chart, targets, points, beta, hbar):
    """2ħβ P[(y-x)^a (y-x)^b] and 2ħβ P|F(y)-F(x)|², pair by pair."""
    x, y = chart.features(targets), chart.features(points)
    squares = np.sum((x[:, None] - y) ** 2, axis=-1)
    weights = np.exp(-beta * squares)
    weights /= weights.sum(axis=1, keepdims=True)
    steps = points - targets[:, None]
    for a, c in enumerate(chart.coordinates):
        if c.periodic:
            steps[..., a] = np.sin(steps[..., a])  # ranges of length 2π
    d = chart.dim
    columns = [steps[..., a] * steps[..., b] for a in range(d) for b in range(a, d)] + [squares]
    return 2 * hbar * beta * np.stack([np.sum(weights * m, axis=1) for m in columns], axis=1)


@every_chart
def test_the_estimate_is_the_plain_formula(chart):
    problem = MetricProblem(chart, 0.7, 3)
    points = chart.sample(3000, np.random.default_rng(0))
    expected = plain(chart, problem.targets, points, 5.0, 0.7)
    for chunks in ([points], np.split(points, 3)):
        np.testing.assert_allclose(problem.estimate(iter(chunks), 5.0), expected, rtol=1e-11)
    assert len(problem.labels) == expected.shape[1]


@every_chart
def test_the_metric_is_the_limit_of_its_expectation(chart):
    problem = MetricProblem(chart, 0.7, 3)
    inverse = np.linalg.inv(chart.metric(problem.targets))
    d = chart.dim
    pairs = [(a, b) for a in range(d) for b in range(a, d)]
    for column, (a, b) in enumerate(pairs):
        np.testing.assert_allclose(problem.limit[:, column], 0.7 * inverse[:, a, b], rtol=1e-12)
    np.testing.assert_allclose(problem.limit[:, -1], 0.7 * d)
    near, far = (problem.expectation(beta) for beta in (4096.0, 2048.0))
    scale = np.max(np.abs(problem.limit))
    np.testing.assert_allclose(2 * near - far, problem.limit, atol=2e-5 * scale)


def test_the_dimension_is_the_slope_of_the_degree():
    """-2 dlog q_β/dlog β = 2β P|F(y)-F(x)|², also at finite β."""
    chart = CHARTS[1]
    metric, density = MetricProblem(chart, 1.0, 3), DensityProblem(chart, 3)
    beta, step = 20.0, 1e-4
    logs = [np.log(density.expectation(b)[:, 0] * b**-1.0) for b in (beta - step, beta + step)]
    slope = -2 * (logs[1] - logs[0]) / (2 * step) * beta
    np.testing.assert_allclose(metric.expectation(beta)[:, -1], slope, rtol=1e-6)


@every_chart
def test_the_degree_gives_the_density(chart):
    problem = DensityProblem(chart, 3)
    points = chart.sample(4000, np.random.default_rng(1))
    x, y = chart.features(problem.targets), chart.features(points)
    rows = np.exp(-3.0 * np.sum((x[:, None] - y) ** 2, axis=-1)).mean(axis=1)
    expected = (3.0 / np.pi) ** (chart.dim / 2) * rows
    found = problem.estimate(iter(np.split(points, 2)), 3.0)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-12)
    near, far = (problem.expectation(beta) for beta in (4096.0, 2048.0))
    np.testing.assert_allclose(2 * near - far, problem.limit, rtol=2e-5)
    np.testing.assert_allclose(problem.limit[:, 0], np.exp(chart.log_density(problem.targets)))


@pytest.mark.parametrize(
    "problem", [MetricProblem(CHARTS[1], 0.7, 3), DensityProblem(CHARTS[1], 3)]
)
def test_sampling_constants(problem):
    """Standardised errors have variance one: χ² over 200 samples, false alarms 1e-6 a column."""
    from scipy import stats

    n, beta, chart = 4000, 2.5, CHARTS[1]
    shift, sd = problem.sampling_error(n, beta)
    rng = np.random.default_rng(3)
    values = np.stack([problem.estimate([chart.sample(n, rng)], beta) for _ in range(200)])
    errors = (values - problem.expectation(beta) - shift) / sd
    for column in np.moveaxis(errors, -1, 0):
        for target in column.T:
            statistic = 199 * np.var(target, ddof=1)
            p = 2 * min(stats.chi2.cdf(statistic, 199), stats.chi2.sf(statistic, 199))
            assert p > 1e-6
            assert abs(np.mean(target)) * np.sqrt(200) < stats.norm.isf(5e-7)


def test_sampling_constants_by_plain_sums():
    """Ratio bias and delta method over a fine grid of the ellipse; of a plain mean its variance."""
    chart, n, beta, hbar = CHARTS[0], 500, 6.0, 0.7
    metric, density = MetricProblem(chart, hbar, 3), DensityProblem(chart, 3)
    u = 2 * np.pi * np.arange(4000)[:, None] / 4000
    law = np.exp(chart.log_coordinate_density(u)) * 2 * np.pi / 4000
    x, y = chart.features(metric.targets), chart.features(u)
    squares = np.sum((x[:, None] - y) ** 2, axis=-1)
    kernel = np.exp(-beta * squares)
    mass = kernel @ law
    shift, sd = metric.sampling_error(n, beta)
    for column, m in enumerate((np.sin(u[:, 0] - metric.targets) ** 2, squares)):
        rest = m - (kernel * m @ law / mass)[:, None]
        # E of Σ K m / Σ K, to first order in 1/N
        bias = -(kernel**2 * rest) @ law / (n * mass**2)
        spread = (kernel**2 * rest**2) @ law / (n * mass**2)
        np.testing.assert_allclose(shift[:, column], 2 * hbar * beta * bias, rtol=1e-8)
        np.testing.assert_allclose(sd[:, column], 2 * hbar * beta * np.sqrt(spread), rtol=1e-8)
    shift, sd = density.sampling_error(n, beta)
    x = chart.features(density.targets)
    kernel = np.exp(-beta * np.sum((x[:, None] - y) ** 2, axis=-1))
    variance = (kernel**2 @ law - (kernel @ law) ** 2) / n
    np.testing.assert_array_equal(shift, 0)
    np.testing.assert_allclose(sd[:, 0], np.sqrt(beta / np.pi * variance), rtol=1e-8)
