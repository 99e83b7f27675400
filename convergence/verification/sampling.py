"""Check 2, sampling: standardised errors are N(0, 1). Constants, not only rates."""

from __future__ import annotations

import numpy as np

from .claim import Batch, Claim
from .factor import factor_verdicts
from .statistics import POWER, location_test, replicate_location_test, scale_seen, scale_test
from .verdict import Outcome, Verdict, decide

LEAST_REPLICATES = 8


def unfit(claim: Claim, batch: Batch, degrees: bool = True) -> str:
    """Why a batch cannot decide anything, or an empty string.

    Without `degrees` low effective degrees are no reason.
    """
    setting = batch.setting
    if len(batch.values) < LEAST_REPLICATES:
        return f"{len(batch.values)} replicates are too few (at least {LEAST_REPLICATES})"
    if not np.all(np.isfinite(batch.values)):
        return "some estimates are missing or not finite"
    if not np.all(np.isfinite(claim.expectation(setting.beta))):
        return "the expectation is not finite"
    if claim.sampling_error is not None:
        shift, sd = claim.sampling_error(setting.n, setting.beta)
        if not (np.all(np.isfinite(shift)) and np.all(np.isfinite(sd)) and np.all(sd > 0)):
            return "the predicted standard deviation is not finite and positive"
    if degrees and claim.effective_degree is not None:
        degree = float(np.min(claim.effective_degree(setting.n, setting.beta)))
        needed = claim.least_degree
        if claim.sampling_error is not None:
            # the variance test resolves sqrt(2/count); the next order, about 2/degree, must stay
            # under half of that
            count = batch.values.shape[0] * batch.values.shape[1]
            needed = max(needed, 4 * np.sqrt(count / 2))
        if not degree >= needed:
            return (
                f"effective degree {degree:.0f} at N = {setting.n}, β = {setting.beta:.4g} is "
                f"under {needed:.0f}: the normal law of the errors does not hold yet"
            )
    return ""


def sampling_check(claim: Claim, batches: list[Batch], level: float) -> list[Verdict]:
    """Mean zero at every target and variance one for every batch and function, factors one.

    `level` is the false-alarm rate of each single test.
    """
    verdicts, fit = [], []
    for batch in batches:
        where = f"N={batch.setting.n}, β={batch.setting.beta:.4g}"
        reason = unfit(claim, batch)
        if reason:
            verdicts.append(
                Verdict("sampling", where, "", Outcome.INCONCLUSIVE, np.nan, np.nan, reason=reason)
            )
            continue
        fit.append(batch)
        errors = claim.standardised(batch)
        for j, label in enumerate(claim.functions):
            if errors is None:
                deviations = batch.values[:, :, j] - claim.expectation(batch.setting.beta)[:, j]
                verdicts.append(_replicate_mean(deviations, where, label, level))
            else:
                verdicts += _mean_and_variance(errors[:, :, j], where, label, level)
    return verdicts + factor_verdicts(claim, fit, level)


def _mean_and_variance(errors: np.ndarray, where: str, label: str, level: float) -> list[Verdict]:
    statistic, p = location_test(errors)
    mean = float(np.mean(errors))
    half = 1.96 / np.sqrt(errors.size)
    location = Verdict(
        "sampling", f"mean, {where}", label, decide(p, level), mean, 0.0,
        mean - half, mean + half, p, level,
        f"χ² = {statistic:.1f} over {errors.shape[1]} targets",
    )  # fmt: skip
    variance, p, _ = scale_test(errors, level)
    _, _, (low, high) = scale_test(errors, 0.05)
    sees = scale_seen(len(errors), errors.shape[1], level)
    scale = Verdict(
        "sampling", f"variance, {where}", label, decide(p, level), variance, 1.0,
        low, high, p, level,
        f"{errors.size} standardised errors; {100 * sees:.2g} % in the standard deviation is seen "
        f"with power {POWER}",
        sees,
    )  # fmt: skip
    return [location, scale]


def _replicate_mean(deviations: np.ndarray, where: str, label: str, level: float) -> Verdict:
    """The mean in units of the replicates' standard deviation, tested by the largest |t|."""
    t, p = replicate_location_test(deviations)
    spread = np.std(deviations, axis=0, ddof=1)
    mean = float(np.mean(deviations / np.where(spread > 0, spread, 1.0)))
    half = 1.96 / np.sqrt(len(deviations))  # targets may depend on each other
    return Verdict(
        "sampling", f"mean, {where}", label, decide(p, level), mean, 0.0,
        mean - half, mean + half, p, level, f"largest |t| = {t:.1f} (replicate errors)",
    )  # fmt: skip
