"""The statistical tests behind the checks, each with its exact or stated null law.

Errors are arrays (replicates R, targets T): replicates are independent, and targets lie so far
apart that their errors are independent too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import optimize, stats

POWER = 0.99
"""With which a test shows the error that it is said to see."""


def location_test(errors: np.ndarray) -> tuple[float, float]:
    """Is the mean zero at every target, for errors that are N(0, 1)?

    The statistic Σ_t R ē_t² is χ²(T). Summed over targets, so a deviation that changes sign
    from target to target is not averaged away.

    Returns
    -------
    statistic, p_value : float
    """
    replicates, targets = errors.shape
    statistic = float(replicates * np.sum(np.mean(errors, axis=0) ** 2))
    return statistic, float(stats.chi2.sf(statistic, targets))


def replicate_location_test(errors: np.ndarray) -> tuple[float, float]:
    """Is the mean zero at every target, for errors of unknown standard deviation?

    The largest |t| over targets with its Bonferroni p-value (Student, R - 1 degrees of freedom).
    """
    replicates, targets = errors.shape
    spread = np.std(errors, axis=0, ddof=1) / np.sqrt(replicates)
    size = np.abs(np.mean(errors, axis=0))
    exact = (spread == 0) & (size == 0)  # no spread and no error is no evidence against zero
    with np.errstate(divide="ignore"):
        t = float(np.max(np.where(exact, 0.0, size) / np.where(exact, 1.0, spread)))
    return t, float(np.minimum(1.0, targets * 2 * stats.t.sf(t, replicates - 1)))


def scale_test(errors: np.ndarray, level: float) -> tuple[float, float, tuple[float, float]]:
    """Is the variance one, for errors that are N(mean_t, 1)?

    The statistic Σ (e - ē_t)² is χ²(T(R-1)), independent of `location_test`; two-sided.

    Returns
    -------
    variance, p_value : float
    interval : (float, float)
        Of the variance, at confidence 1 - level.
    """
    replicates, targets = errors.shape
    freedom = targets * (replicates - 1)
    statistic = float(np.sum((errors - np.mean(errors, axis=0)) ** 2))
    p = 2 * np.minimum(stats.chi2.cdf(statistic, freedom), stats.chi2.sf(statistic, freedom))
    low = statistic / stats.chi2.isf(level / 2, freedom)
    high = statistic / stats.chi2.ppf(level / 2, freedom)
    return statistic / freedom, float(np.minimum(1.0, p)), (float(low), float(high))


def scale_seen(replicates: int, targets: int, level: float) -> float:
    """The relative error of the standard deviation, up or down, that `scale_test` sees."""
    freedom = targets * (replicates - 1)
    up = stats.chi2.isf(level / 2, freedom) / stats.chi2.ppf(1 - POWER, freedom)
    down = stats.chi2.ppf(level / 2, freedom) / stats.chi2.isf(1 - POWER, freedom)
    return float(max(np.sqrt(up) - 1, 1 - np.sqrt(down)))


def normal_test(
    pairs: Sequence[tuple[np.ndarray, np.ndarray]], level: float
) -> tuple[float, float, float, float]:
    """Is θ zero, for independent errors that are N(θ u_t, 1)?

    Parameters
    ----------
    pairs : sequence of (ndarray, shape (replicates, targets); ndarray, shape (targets,))
        Errors and their u, a pair a setting.
    level : float

    Returns
    -------
    theta, standard_error, p_value : float
        The least-squares estimate is exactly normal.
    sees : float
        The |θ| that is rejected at `level` with probability `POWER`.
    """
    information = sum(len(errors) * float(np.sum(u**2)) for errors, u in pairs)
    error = 1 / np.sqrt(information)
    theta = error**2 * sum(float(np.sum(errors @ u)) for errors, u in pairs)
    p = float(np.minimum(1.0, 2 * stats.norm.sf(abs(theta) / error)))
    sees = error * (stats.norm.isf(level / 2) + stats.norm.isf(1 - POWER))
    return theta, error, p, float(sees)


def student_test(samples: np.ndarray, level: float) -> tuple[float, float, float, float]:
    """Is the mean zero, for independent normal samples of one unknown variance?

    Returns
    -------
    mean, half_width, p_value : float
        The half-width is that of the 95 % interval.
    sees : float
        The |mean| that is rejected at `level` with probability `POWER`, by the noncentral
        Student law and the estimated variance.
    """
    count, freedom = len(samples), len(samples) - 1
    mean, error = float(np.mean(samples)), float(np.std(samples, ddof=1) / np.sqrt(count))
    if error == 0:  # no spread is no evidence of a law
        return mean, 0.0, 1.0 if mean == 0 else 0.0, 0.0
    p = float(np.minimum(1.0, 2 * stats.t.sf(abs(mean) / error, freedom)))
    return mean, error * float(stats.t.isf(0.025, freedom)), p, error * student_seen(freedom, level)


def student_seen(freedom: int, level: float) -> float:
    """The mean, in standard errors, that a two-sided t test rejects with probability `POWER`.

    Given s² the t statistic is normal: the power is the mean of Φ(δ - threshold·s) over s. (The
    noncentral Student law of scipy breaks down in tails as far as these.)
    """
    threshold = float(stats.t.isf(level / 2, freedom))
    spread = np.sqrt(stats.chi2.ppf((np.arange(4096) + 0.5) / 4096, freedom) / freedom)

    def shortfall(delta: float) -> float:
        return float(np.mean(stats.norm.cdf(delta - threshold * spread))) - POWER

    return float(optimize.brentq(shortfall, 0.0, threshold * spread[-1] + 10))


def curve_test(errors: np.ndarray, offsets: np.ndarray) -> tuple[float, float]:
    """Do the errors lie on the root-mean-square curve sqrt(offset² + 1)?

    For errors that are N(offset_t, 1) the sum of squares is noncentral χ²(RT, R Σ offset²);
    two-sided.

    Returns
    -------
    ratio, p_value : float
        The root of the measured over the expected sum of squares.
    """
    replicates, targets = errors.shape
    freedom = replicates * targets
    noncentrality = float(replicates * np.sum(offsets**2))
    statistic = float(np.sum(errors**2))
    law = stats.ncx2(freedom, max(noncentrality, 1e-300))
    lower, upper = law.cdf(statistic), law.sf(statistic)
    ratio = np.sqrt(statistic / (freedom + noncentrality))
    return float(ratio), float(np.minimum(1.0, 2 * np.minimum(lower, upper)))


def location_power(separations: np.ndarray, replicates: int, level: float) -> float:
    """Chance that `location_test` rejects when the mean of target t is separations_t."""
    targets = len(separations)
    noncentrality = float(replicates * np.sum(separations**2))
    threshold = stats.chi2.isf(level, targets)
    # beyond 1e6 the power is one to every digit, below 1e-300 it is the level
    return float(stats.ncx2.sf(threshold, targets, np.clip(noncentrality, 1e-300, 1e6)))


def replicate_location_power(separations: np.ndarray, replicates: int, level: float) -> float:
    """Least chance that `replicate_location_test` rejects a mean of target t at separations_t.

    That of the target which shows most, by the noncentral Student law.
    """
    freedom = replicates - 1
    threshold = stats.t.isf(level / (2 * len(separations)), freedom)
    shift = np.sqrt(replicates) * float(np.max(np.abs(separations)))
    return float(stats.nct.sf(threshold, freedom, min(shift, 1e3)))


def log_log_slope(
    n: np.ndarray, deviations: list[np.ndarray], rng: np.random.Generator, resamples: int = 2000
) -> tuple[float, float, float]:
    """Slope of log RMSE against log N, with its bootstrap standard error over replicates.

    (slope - truth)/error is held against Student's law with `freedom` degrees of freedom. The
    error is estimated from M(R - 1) squared deviations, which carry less information on a variance
    than Gaussian data would: half of it, or at a single target, whose squares have heavier tails, a
    quarter (from simulations of rejections down to 1e-6 with 24 replicates; see the tests).

    Parameters
    ----------
    n : ndarray, shape (M,)
    deviations : list of M ndarrays, shape (replicates, targets)
        estimate - limit.
    rng : numpy.random.Generator
    resamples : int

    Returns
    -------
    slope, standard_error, freedom : float
    """
    log_n = np.log(np.asarray(n, dtype=float))
    weights = (log_n - log_n.mean()) / np.sum((log_n - log_n.mean()) ** 2)
    squares = [np.mean(d**2, axis=1) for d in deviations]
    slope = sum(w * 0.5 * np.log(np.mean(s)) for w, s in zip(weights, squares, strict=True))
    variance = 0.0
    for w, s in zip(weights, squares, strict=True):
        draws = rng.integers(0, len(s), size=(resamples, len(s)))
        spread = np.var(0.5 * np.log(np.mean(s[draws], axis=1)), ddof=1)
        variance += w**2 * spread * len(s) / (len(s) - 1)  # a bootstrap variance is low by that
    information = 0.25 if deviations[0].shape[1] == 1 else 0.5
    freedom = information * sum(len(s) - 1 for s in squares)
    return float(slope), float(np.sqrt(variance)), float(freedom)
