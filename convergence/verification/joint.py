"""Check 3, joint: along β(N) the error lies on a curve without parameters, and has its slope."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from scipy import stats

from .claim import Batch, Claim, Schedule
from .exponent import exponent_verdicts
from .sampling import unfit
from .statistics import curve_test, log_log_slope
from .verdict import Outcome, Verdict, decide

# of references; a smaller bias has no slope
_ACCURACY = 1e-9


def predicted_rmse(claim: Claim, n: int, beta: float) -> np.ndarray:
    """sqrt(bias² + sd²) over targets, one value a function, for claims with a predicted sd."""
    shift, sd = claim.error_scale(n, beta)
    bias = claim.expectation(beta) - claim.limit + shift
    return np.sqrt(np.mean(bias**2 + sd**2, axis=0))


def joint_check(
    claim: Claim, schedule: Schedule, batches: list[Batch], level: float
) -> list[Verdict]:
    """The curve at every N, the slope, and the exponent that it tends to, for every function.

    The slope is held against that of the predicted curve over the same N: the asymptotic exponent
    is approached like 1/β, and the difference is known exactly. Where theory gives a bound and no
    standard deviation, that bound is the slower of the asymptotic exponent and the exact bias's
    slope over the same N.
    """
    # a slope from replicates asks for no law of the errors
    degrees = claim.sampling_error is not None
    reasons = [reason for reason in (unfit(claim, batch, degrees) for batch in batches) if reason]
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
    return verdicts + exponent_verdicts(claim, schedule)


def _on_curve(claim: Claim, batch: Batch, j: int, level: float) -> Verdict:
    n, beta = batch.setting.n, batch.setting.beta
    shift, sd = claim.error_scale(n, beta)
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
    if claim.sampling_error is None:
        return _bound(claim, batches, j) if claim.slope_is_bound else claim.slope
    if claim.slope_is_bound:
        return claim.slope
    return _fitted(
        batches, [predicted_rmse(claim, b.setting.n, b.setting.beta)[j] for b in batches]
    )


def _bound(claim: Claim, batches: list[Batch], j: int) -> float | None:
    """The slower of the claim's slope and that of the exact bias over the same N.

    RMSE² = bias² + sd²: with an sd that falls like N^-1/2 the error falls at least as fast.
    """
    biases = [(claim.expectation(b.setting.beta) - claim.limit)[:, j] for b in batches]
    sizes = np.sqrt(np.mean(np.square(biases), axis=1))
    if claim.slope is None or np.min(sizes) <= _ACCURACY:
        return claim.slope
    return max(claim.slope, _fitted(batches, sizes))


def _fitted(batches: list[Batch], errors: Sequence[float] | np.ndarray) -> float:
    """Slope of log error against log N."""
    return float(np.polyfit(np.log([b.setting.n for b in batches]), np.log(errors), 1)[0])
