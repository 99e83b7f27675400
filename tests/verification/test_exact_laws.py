"""Every statistical test against its exact law, also far in the tail, and the power it claims.

Statistics are made with prescribed values, so that p-values are known to all digits; laws of errors
at few replicates and many targets are drawn, and the p-values must be uniform.
"""

import numpy as np
import pytest
from scipy import integrate, special, stats

from convergence.verification.statistics import (
    curve_test,
    location_power,
    location_test,
    log_log_slope,
    normal_test,
    replicate_location_power,
    replicate_location_test,
    scale_seen,
    scale_test,
    student_test,
)

TAILS = (0.5, 1e-3, 1e-6, 1e-12, 1e-40)


def chi2_tail(x, freedom):
    """P(χ² > x), by the incomplete gamma function."""
    return special.gammaincc(freedom / 2, x / 2)


def with_deviations(square, replicates, targets):
    """Errors whose squared deviations from the means of their targets sum to `square`."""
    rng = np.random.default_rng(2)
    errors = rng.standard_normal((replicates, targets))
    deviations = errors - errors.mean(axis=0)
    deviations *= np.sqrt(square / np.sum(deviations**2))
    return deviations + np.sqrt(square) * np.arange(targets)  # their means are no matter


@pytest.mark.parametrize(("replicates", "targets"), [(2, 1), (2, 7), (8, 3), (48, 40)])
@pytest.mark.parametrize("tail", TAILS)
def test_the_variance_has_one_degree_less_a_target(replicates, targets, tail):
    """In both tails; the interval is the one that inverts the test."""
    freedom = targets * (replicates - 1)
    for square in (stats.chi2.isf(tail / 2, freedom), stats.chi2.ppf(tail / 2, freedom)):
        errors = with_deviations(square, replicates, targets)
        variance, p, (low, high) = scale_test(errors, tail)
        assert variance == pytest.approx(square / freedom, rel=1e-12)
        assert p == pytest.approx(tail, rel=1e-6)
        assert min(abs(low - 1), abs(high - 1)) < 1e-9


@pytest.mark.parametrize(("replicates", "targets"), [(2, 1), (3, 9), (24, 5)])
@pytest.mark.parametrize("tail", TAILS)
def test_the_mean_is_chi_square_with_one_degree_a_target(replicates, targets, tail):
    square = 2 * special.gammainccinv(targets / 2, tail)
    means = np.linspace(-1, 2, targets)
    means *= np.sqrt(square / replicates / np.sum(means**2))
    spread = np.linspace(-3, 3, replicates)[:, None]  # no matter for the mean
    statistic, p = location_test(means + spread)
    assert statistic == pytest.approx(square, rel=1e-12)
    assert p == pytest.approx(tail, rel=1e-6)


@pytest.mark.parametrize("replicates", [2, 8, 30])
@pytest.mark.parametrize("targets", [1, 6])
@pytest.mark.parametrize("size", [0.3, 3.0, 1e3])
def test_replicate_means_are_students(replicates, targets, size):
    """The least of scipy's p-values times the number of targets."""
    errors = np.random.default_rng(3).standard_normal((replicates, targets)) + size
    expected = min(1.0, targets * np.min(stats.ttest_1samp(errors, 0).pvalue))
    t, p = replicate_location_test(errors)
    assert t == pytest.approx(np.max(np.abs(stats.ttest_1samp(errors, 0).statistic)), rel=1e-10)
    assert p == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("count", [2, 8, 30])
def test_a_mean_of_samples_is_students(count):
    samples = 0.7 + np.random.default_rng(4).standard_normal(count)
    mean, half, p, _ = student_test(samples, 1e-6)
    expected = stats.ttest_1samp(samples, 0.0)
    interval = expected.confidence_interval(0.95)
    assert mean == pytest.approx(np.mean(samples), rel=1e-14)
    assert p == pytest.approx(expected.pvalue, rel=1e-10)
    assert (mean - half, mean + half) == pytest.approx((interval.low, interval.high), rel=1e-10)


def student_power(shift, threshold, freedom):
    """P((Z + shift)/sqrt(χ²/freedom) > threshold), integrated over the law of χ."""

    def given(chi):
        return stats.norm.sf(threshold * chi / np.sqrt(freedom) - shift) * stats.chi.pdf(
            chi, freedom
        )

    middle = np.sqrt(freedom)
    return integrate.quad(given, 0, middle + 40, points=[middle], epsabs=1e-13, limit=400)[0]


@pytest.mark.parametrize("count", [8, 16, 360])
@pytest.mark.parametrize("level", [1e-3, 1e-7])
def test_what_a_student_test_sees_is_rejected_in_99_of_100(count, level):
    samples = np.random.default_rng(5).standard_normal(count)
    sees = student_test(samples, level)[3]
    error = np.sqrt(np.sum((samples - samples.mean()) ** 2) / (count - 1) / count)
    threshold = stats.t.isf(level / 2, count - 1)
    # the mean over 4096 quantiles of s leaves out two tails of 1/8192, where the power is known
    assert student_power(sees / error, threshold, count - 1) == pytest.approx(0.99, abs=1e-5)


@pytest.mark.parametrize("count", [8, 40])
@pytest.mark.parametrize("separation", [0.5, 2.0])
def test_power_of_replicates_is_that_of_students_test(count, separation):
    """At the target that shows most, with the level shared over three."""
    separations, level = np.array([0.1, -separation, 0.0]), 1e-3
    threshold = stats.t.isf(level / 6, count - 1)
    expected = student_power(np.sqrt(count) * separation, threshold, count - 1)
    assert replicate_location_power(separations, count, level) == pytest.approx(expected, abs=1e-8)


def test_location_power_is_noncentral():
    """By Poisson's mixture of central laws."""
    separations, replicates, level = np.array([0.2, -0.4, 0.1]), 24, 1e-5
    half = replicates * np.sum(separations**2) / 2
    counts = np.arange(200)
    threshold = 2 * special.gammainccinv(1.5, level)
    mixture = stats.poisson.pmf(counts, half) @ chi2_tail(threshold, 3 + 2 * counts)
    assert location_power(separations, replicates, level) == pytest.approx(mixture, rel=1e-10)


def test_a_factor_of_known_errors_is_least_squares():
    """Estimate, error and p-value by a stacked regression with unit errors."""
    rng = np.random.default_rng(6)
    pairs = [
        (rng.standard_normal((replicates, targets)), rng.standard_normal(targets))
        for replicates, targets in ((3, 4), (5, 4), (2, 1))
    ]
    column = np.concatenate([np.tile(u, len(errors)) for errors, u in pairs])
    values = np.concatenate([errors.ravel() for errors, _ in pairs])
    (expected,) = np.linalg.lstsq(column[:, None], values, rcond=None)[0]
    theta, error, p, sees = normal_test(pairs, 1e-6)
    assert theta == pytest.approx(expected, rel=1e-12)
    assert error == pytest.approx(np.linalg.norm(column) ** -1, rel=1e-12)
    assert p == pytest.approx(special.erfc(abs(theta) / error / np.sqrt(2)), rel=1e-10)
    threshold = np.sqrt(2) * special.erfcinv(1e-6)
    assert 0.5 * special.erfc((threshold - sees / error) / np.sqrt(2)) == pytest.approx(0.99)


@pytest.mark.parametrize("size", [1.0, 6.0, 13.0])
def test_a_factor_of_known_errors_far_in_the_tail(size):
    theta, error, p, _ = normal_test([(np.full((4, 1), size / 2), np.array([1.0]))], 0.01)
    assert (theta, error) == pytest.approx((size / 2, 0.5))
    assert p == pytest.approx(special.erfc(size / np.sqrt(2)), rel=1e-10)


@pytest.mark.parametrize(("replicates", "targets"), [(2, 3), (24, 5), (96, 3)])
def test_what_the_variance_test_sees(replicates, targets):
    """The larger of the two standard deviations off by it is rejected in 99 %, and no less."""
    level, freedom = 1e-6, targets * (replicates - 1)
    sees = scale_seen(replicates, targets, level)
    upper, lower = stats.chi2.isf(level / 2, freedom), stats.chi2.ppf(level / 2, freedom)
    up = chi2_tail(upper / (1 + sees) ** 2, freedom)
    down = 1.0 if sees >= 1 else 1 - chi2_tail(lower / (1 - sees) ** 2, freedom)
    assert min(up, down) == pytest.approx(0.99, abs=1e-9)


@pytest.mark.parametrize("tail", [0.3, 1e-4, 1e-9])
def test_the_curve_is_noncentral(tail):
    """Σ e² over 2 replicates of 3 targets: χ²(6) mixed by Poisson's law of half of 2 Σ offset²."""
    offsets, counts = np.array([0.5, -1.0, 2.0]), np.arange(200)
    weights = stats.poisson.pmf(counts, np.sum(offsets**2))
    direction = np.array([[1.0, 2.0, -1.0], [0.5, 1.0, 1.0]])
    square = stats.ncx2.isf(tail / 2, 6, 2 * np.sum(offsets**2))
    assert weights @ chi2_tail(square, 6 + 2 * counts) == pytest.approx(tail / 2, rel=1e-6)
    errors = direction * np.sqrt(square / np.sum(direction**2))
    ratio, p = curve_test(errors, offsets)
    assert p == pytest.approx(tail, rel=1e-6)
    assert ratio == pytest.approx(np.sqrt(square / (6 + 2 * np.sum(offsets**2))), rel=1e-12)


@pytest.mark.parametrize(
    ("replicates", "targets"), [(2, 60), (8, 1), (8, 30)], ids=["few", "one", "many"]
)
@pytest.mark.parametrize("test", ["scale", "location", "replicates", "curve", "factor", "student"])
def test_p_values_are_uniform(test, replicates, targets):
    """Kolmogorov and Smirnov's test over 1500 true samples, at a false-alarm rate of 1e-6.

    T times the least of T independent p-values, at most one, has the law 1 - (1 - p/T)^T below one.
    """
    rng = np.random.default_rng([replicates, targets])
    offsets = np.linspace(-1, 1, targets)
    found = []
    for _ in range(1500):
        errors = rng.standard_normal((replicates, targets))
        if test == "scale":
            p = scale_test(errors + offsets, 0.05)[1]
        elif test == "location":
            p = location_test(errors)[1]
        elif test == "curve":
            p = curve_test(errors + offsets, offsets)[1]
        elif test == "factor":
            p = normal_test([(errors, offsets + 2)], 0.01)[2]
        elif test == "student":
            p = student_test(errors[:, 0], 0.01)[2]
        else:
            p = replicate_location_test(3 * errors)[1]
        found.append(p)
    found = np.array(found)
    if test == "replicates":
        capped = found == 1
        found = 1 - (1 - found / targets) ** targets
        found[capped] = rng.uniform(1 - (1 - 1 / targets) ** targets, 1, np.sum(capped))
    assert stats.kstest(found, "uniform").pvalue > 1e-6


@pytest.mark.parametrize("offset", [0.0, 1.5])
@pytest.mark.parametrize(("targets", "information"), [(1, 0.25), (5, 0.5)])
def test_slopes_reject_no_more_often_than_students_law(targets, information, offset):
    """With a part of the degrees of Gaussian data.

    In 600,000 simulations of a single target without bias half of the degrees reject 1.9 times too
    often at 1e-3 and 12 times at 1e-6, a quarter of them at most 1.17 times down to 1e-4.
    """
    rng, n, replicates = np.random.default_rng(7), 10.0 ** np.arange(5), 24
    found = []
    for _ in range(2500):
        deviations = [offset + rng.standard_normal((replicates, targets)) for _ in n]
        slope, error, freedom = log_log_slope(n, deviations, rng, 100)
        found.append(2 * stats.t.sf(abs(slope) / error, freedom))
    assert freedom == information * 5 * 23
    for level in (0.1, 0.01, 0.001):
        count = int(np.sum(np.array(found) < level))
        assert stats.binom.sf(count - 1, len(found), 1.17 * level) > 1e-6
    assert np.mean(np.array(found) < 0.5) > 0.4
