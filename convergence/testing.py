"""Assertions for your own tests: is my estimator's limit, constant and rate the right one?

Each raises AssertionError unless the evidence is there: what a sample is too small to decide
does not pass. Statistical decisions keep the stated false-alarm rate, and all samples are drawn
from the stated seed, so a test gives the same answer every time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

from .arrays import real_array
from .claims import GeneratorProblem
from .errors import (
    InvalidInputError,
    NoReferenceError,
    require_positive,
    require_real,
    require_whole,
)
from .scores import Distance
from .spaces import SmoothFunction, Space
from .verification import Batch, Claim, Outcome, Schedule, Setting
from .verification.factor import FACTOR
from .verification.sampling import sampling_check
from .verification.statistics import location_test, log_log_slope, scale_test

Estimator = Callable[[np.ndarray, SmoothFunction, np.ndarray, float], np.ndarray]


def assert_limit(
    estimate: Estimator,
    space: Space,
    score: Distance,
    functions: Sequence[SmoothFunction],
    *,
    n: int,
    beta: float,
    replicates: int = 64,
    hbar: float = 1.0,
    sees: float = 0.1,
    target_count: int = 4,
    false_alarm_rate: float = 1e-4,
    seed: int = 0,
) -> None:
    """Assert that an estimator of the generator has the exact expectation and sampling law.

    The estimates of 4ħβ(f - P f) from `replicates` samples of size n must have, at every target,
    the mean that theory gives at this β (not only in the limit), and its variance.

    Parameters
    ----------
    estimate : callable
        (points, f, targets, beta) → estimates at the targets, shape (targets,). The targets are
        no sample points. On a chart both are rows of coordinates, and the kernel acts on
        `space.features` of them.
    space, score : the problem
    functions : sequence of test functions
    n, beta, replicates : the samples
    hbar : float
    sees : float
        The relative error of the whole operator that the samples must be able to show with
        probability 0.99; a smaller sample is refused.
    target_count : int
    false_alarm_rate : float
        Chance that a right estimator fails.
    seed : int

    Raises
    ------
    AssertionError
        When the estimator is wrong, or the samples cannot tell.
    """
    __tracebackhide__ = True  # of pytest: the message says it all
    for name, count, least in (
        ("n", n, 1), ("replicates", replicates, 2), ("target_count", target_count, 1),
    ):  # fmt: skip
        require_whole(name, count, least)
    require_positive("sees", sees)
    _require_chance(false_alarm_rate)
    if not isinstance(functions, Sequence) or not functions:
        raise InvalidInputError("assert_limit needs a list of at least one test function")
    problem = GeneratorProblem(space, score, tuple(functions), hbar, target_count)
    if problem.reuses_sample:
        raise NoReferenceError(
            f"the sampling law under {score.normalisation!r} is not known, because its weights "
            "are estimated from the sample: hold the mean of replicates against "
            "limits.expectation"
        )

    def columns(points: np.ndarray, beta: float) -> np.ndarray:
        return np.stack([column(points, f, beta) for f in functions], axis=-1)

    def column(points: np.ndarray, f: SmoothFunction, beta: float) -> np.ndarray:
        found = real_array("the estimate", estimate(points, f, problem.targets, beta))
        if found.shape != (len(problem.targets),):
            raise InvalidInputError(
                f"the estimate must be {len(problem.targets)} finite numbers, one a target, not "
                f"an array of shape {found.shape}"
            )
        return found

    setting = Setting(n, beta, replicates)
    claim = Claim(
        id="assert_limit",
        statement="",
        source="",
        space=space,
        functions=tuple(f.label for f in functions),
        estimate=columns,
        expectation=problem.expectation,
        limit=problem.limit,
        schedules={"test": Schedule(sampling=(setting,))},
        sampling_error=problem.sampling_error,
        effective_degree=problem.effective_degree,
    )
    children = np.random.SeedSequence(seed).spawn(replicates)
    samples = (space.sample(n, np.random.default_rng(child)) for child in children)
    batch = Batch(setting, np.stack([columns(points, beta) for points in samples]))
    level = false_alarm_rate / (3 * len(functions))  # mean, variance and factor
    verdicts = sampling_check(claim, [batch], level)
    bad = [v for v in verdicts if v.outcome != Outcome.PASS]
    if bad:
        lines = [
            f"{v.outcome} {v.quantity} {v.function} of the standardised errors: {v.reason}"
            if np.isnan(v.p_value)
            else f"{v.outcome} {v.quantity} {v.function} of the standardised errors: "
            f"{v.measured:.4g}, not {v.predicted:.4g}; p = {v.p_value:.2g} (level {v.level:.2g}); "
            f"{v.reason}"
            for v in bad
        ]
        expected = problem.expectation(beta)
        factor = np.sum(np.mean(batch.values, axis=0) * expected) / np.sum(expected**2)
        lines.append(f"(fitted to the expected values, your operator is {factor:.3g} times theirs)")
        raise AssertionError("\n".join(lines))
    smallest = max((v.sees for v in verdicts if v.quantity == FACTOR), default=np.inf)
    if not smallest <= sees:
        raise AssertionError(
            f"inconclusive: an error of the operator below {100 * smallest:.2g} % could pass, "
            f"{100 * sees:.2g} % is asked for; take a larger n or more replicates"
        )


def _require_chance(false_alarm_rate: float) -> None:
    if not 0 < require_real("false_alarm_rate", false_alarm_rate) < 1:
        raise InvalidInputError(f"a false-alarm rate lies in (0, 1), not {false_alarm_rate!r}")


def assert_standard_normal(errors: np.ndarray, false_alarm_rate: float = 1e-4) -> None:
    """Assert that standardised errors have mean zero in every column and variance one.

    Parameters
    ----------
    errors : ndarray, shape (replicates, targets)
        (estimate - expectation)/sd, independent.
    false_alarm_rate : float
        Chance that errors which are N(0, 1) fail.

    Raises
    ------
    AssertionError
    """
    errors = real_array("errors", errors)
    _require_chance(false_alarm_rate)
    if errors.ndim != 2 or len(errors) < 2:
        raise InvalidInputError(
            f"errors must have shape (replicates >= 2, targets), not {errors.shape}"
        )
    level = false_alarm_rate / 2
    statistic, p = location_test(errors)
    if not p >= level:
        raise AssertionError(
            f"means differ from zero: χ² = {statistic:.1f}, p = {p:.2g} < {level:.2g}"
        )
    variance, p, _ = scale_test(errors, level)
    if not p >= level:
        raise AssertionError(f"variance {variance:.4g} differs from one: p = {p:.2g} < {level:.2g}")


def assert_rate_at_least(
    n: Sequence[int],
    errors: Sequence[np.ndarray],
    rate: float,
    *,
    resolution: float = 0.1,
    false_alarm_rate: float = 1e-4,
    seed: int = 0,
) -> None:
    """Assert that errors fall at least as fast as n^-rate.

    The slope of log RMSE against log n is compared with -rate by a one-sided Student test with a
    bootstrap standard error over replicates.

    Parameters
    ----------
    n : sequence of int
        At least three sizes.
    errors : sequence of ndarray, shape (replicates,) or (replicates, targets)
        estimate - limit at each size, at least eight replicates.
    rate : float
    resolution : float
        Largest standard error of the slope that counts as evidence.
    false_alarm_rate : float
        Chance that errors of exactly that rate fail.
    seed : int
        Of the bootstrap.

    Raises
    ------
    AssertionError
        When the errors fall more slowly, or the slope is too uncertain to tell.
    """
    deviations = [d.reshape(len(d), -1) for d in (real_array("errors", e) for e in errors)]
    sizes = real_array("n", n)
    if not np.all(sizes > 0):
        raise InvalidInputError(f"sizes n are positive, not {n}")
    require_real("rate", rate)
    require_positive("resolution", resolution)
    _require_chance(false_alarm_rate)
    if len(n) < 3 or len(n) != len(deviations) or min(len(d) for d in deviations) < 8:
        raise InvalidInputError("at least three sizes with at least eight replicates are needed")
    slope, error, freedom = log_log_slope(sizes, deviations, np.random.default_rng(seed))
    p = float(stats.t.sf((slope + rate) / error, freedom))
    if not p >= false_alarm_rate:
        raise AssertionError(
            f"errors fall like n^{slope:.3f}, more slowly than n^-{rate:g}: "
            f"p = {p:.2g} < {false_alarm_rate:.2g}"
        )
    if not error <= resolution:
        raise AssertionError(
            f"inconclusive: the slope {slope:.3f} has standard error {error:.3f} > {resolution:g}; "
            "take more replicates or a wider range of n"
        )
