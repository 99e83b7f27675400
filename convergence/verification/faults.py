"""Check 4, faults: every listed wrong reference is rejected by the same data and rule."""

from __future__ import annotations

import numpy as np
from scipy import stats

from .claim import Batch, Claim, Fault
from .sampling import unfit
from .statistics import (
    location_power,
    location_test,
    replicate_location_power,
    replicate_location_test,
)
from .verdict import Outcome, Verdict


def faults_check(claim: Claim, batches: list[Batch], level: float) -> list[Verdict]:
    """One decision a fault, by the location test of the sampling check.

    Rejected at `level`: PASS. Not rejected though the test would have rejected it with
    probability over 1 - level: FAIL. Otherwise the sample is too small: INCONCLUSIVE.
    """
    fit = [batch for batch in batches if not unfit(claim, batch)]
    if not fit:
        reason = unfit(claim, batches[0]) if batches else "no samples were drawn"
        return [
            Verdict("faults", fault.name, "", Outcome.INCONCLUSIVE, np.nan, np.nan, reason=reason)
            for fault in claim.faults
        ]
    return [_reject(claim, fault, fit, level) for fault in claim.faults]


def _reject(claim: Claim, fault: Fault, batches: list[Batch], level: float) -> Verdict:
    """The smallest p-value over batches and functions, and the largest power.

    A wrong value that is no number (a logarithm of a negative one) decides nothing.
    """
    tried = []
    for batch in batches:
        wrong = fault.expectation(batch.setting.beta)
        errors = claim.standardised(batch, wrong)
        separations = _separations(claim, batch, wrong)
        for j, label in enumerate(claim.functions):
            if errors is None:
                statistic, p = replicate_location_test((batch.values - wrong)[:, :, j])
            else:
                statistic, p = location_test(errors[:, :, j])
            power_of = location_power if errors is not None else replicate_location_power
            power = power_of(separations[:, j], len(batch.values), level)
            tried.append((p, -statistic, power, label))
    tried = [entry for entry in tried if np.isfinite(entry[0])] or tried
    p, statistic, _, label = min(tried)
    power = max(entry[2] for entry in tried)
    if p < level:
        outcome, reason = Outcome.PASS, "rejected"
    elif power > 1 - level:
        outcome, reason = Outcome.FAIL, "not rejected, though the samples would show it"
    else:
        outcome, reason = Outcome.INCONCLUSIVE, "not rejected: more samples are needed"
    targets = claim.limit.shape[0]
    if claim.sampling_error is None:
        freedom = len(batches[0].values) - 1
        name, threshold = "largest |t|", float(stats.t.isf(level / (2 * targets), freedom))
    else:
        name, threshold = "χ²", float(stats.chi2.isf(level, targets))
    return Verdict(
        "faults",
        fault.name,
        label,
        outcome,
        -statistic,
        threshold,
        p_value=p,
        level=level,
        reason=f"{reason} ({name} against its threshold; power {power:.6g})",
    )


def _separations(claim: Claim, batch: Batch, wrong: np.ndarray) -> np.ndarray:
    """How far, in standard deviations, a wrong expectation lies from the true one."""
    n, beta = batch.setting.n, batch.setting.beta
    if claim.sampling_error is None:
        sd = np.std(batch.values, axis=0, ddof=1)
    else:
        sd = claim.sampling_error(n, beta)[1]
    return (claim.expectation(beta) - wrong) / sd
