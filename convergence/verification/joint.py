"""Check 3, joint: along β(N) the error lies on a curve without parameters, and has its slope."""

from __future__ import annotations

import zlib

import numpy as np
from scipy import stats

from .claim import Batch, Claim
from .sampling import decide, unfit
from .statistics import curve_test, log_log_slope
from .verdict import Outcome, Verdict


def predicted_rmse(claim: Claim, n: int, beta: float) -> np.ndarray:
    """sqrt(bias² + sd²) over targets, one value a function, for claims with a predicted sd."""
    assert claim.sampling_error is not None
    shift, sd = claim.sampling_error(n, beta)
    bias = claim.expectation(beta) - claim.limit + shift
    return np.sqrt(np.mean(bias**2 + sd**2, axis=0))


def joint_check(claim: Claim, batches: list[Batch], level: float) -> list[Verdict]:
    """The curve at every N and the slope, for every function.

    The slope is held against that of the predicted curve over the same N: the asymptotic exponent
    is approached like 1/β, and the difference is known exactly.
    """
    reasons = [reason for reason in (unfit(claim, batch) for batch in batches) if reason]
    if len(batches) < 3:
        reasons.append("a slope needs at least three sample sizes")
    if reasons:
        return [
            Verdict("joint", "slope", "", Outcome.INCONCLUSIVE, np.nan, np.nan, reason=reasons[0])
        ]
    verdicts = []
    for j, label in enumerate(claim.functions):
        if claim.sampling_error is not None:
            verdicts += [_on_curve(claim, batch, j, level) for batch in batches]
        verdicts.append(_slope(claim, batches, j, label, level))
    return verdicts


def _on_curve(claim: Claim, batch: Batch, j: int, level: float) -> Verdict:
    assert claim.sampling_error is not None
    n, beta = batch.setting.n, batch.setting.beta
    shift, sd = claim.sampling_error(n, beta)
    errors = (batch.values[:, :, j] - claim.limit[:, j]) / sd[:, j]
    offsets = (claim.expectation(beta) - claim.limit + shift)[:, j] / sd[:, j]
    ratio, p = curve_test(errors, offsets)
    return Verdict(
        "joint", f"RMSE on its curve, N={n}", claim.functions[j],
        decide(p, level), ratio, 1.0, p_value=p, level=level,
        reason=f"measured over predicted at β = {beta:.4g}",
    )  # fmt: skip


def _slope(claim: Claim, batches: list[Batch], j: int, label: str, level: float) -> Verdict:
    n = np.array([batch.setting.n for batch in batches])
    deviations = [batch.values[:, :, j] - claim.limit[:, j] for batch in batches]
    rng = np.random.default_rng(zlib.crc32(f"{claim.id}/{label}".encode()))
    slope, error, freedom = log_log_slope(n, deviations, rng)
    predicted = _predicted_slope(claim, batches, j)
    if predicted is None:
        reason = "theory predicts no slope for this claim"
        return Verdict("joint", "slope", label, Outcome.INCONCLUSIVE, slope, np.nan, reason=reason)
    t = (slope - predicted) / error
    p = float(stats.t.sf(t, freedom) if claim.slope_is_bound else 2 * stats.t.sf(abs(t), freedom))
    half = float(stats.t.isf(0.025, freedom)) * error
    kind = "at least as fast as" if claim.slope_is_bound else "for β → ∞"
    reason = f"bootstrap over {len(deviations[0])} replicates"
    if claim.slope is not None:
        reason += f"; {kind} {claim.slope:.4f}"
    return Verdict(
        "joint", "slope", label, decide(p, level), slope, predicted,
        slope - half, slope + half, p, level, reason,
    )  # fmt: skip


def _predicted_slope(claim: Claim, batches: list[Batch], j: int) -> float | None:
    if claim.slope_is_bound or claim.sampling_error is None:
        return claim.slope
    log_n = np.log([batch.setting.n for batch in batches])
    curve = [predicted_rmse(claim, batch.setting.n, batch.setting.beta) for batch in batches]
    return float(np.polyfit(log_n, np.log([c[j] for c in curve]), 1)[0])
