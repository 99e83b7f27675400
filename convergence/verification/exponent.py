"""Does the error of the exact curve fall, at large N, with the exponent that a claim states?"""

from __future__ import annotations

from typing import Any

import numpy as np

from .bias import REFERENCE_ACCURACY, richardson
from .claim import Claim, Schedule
from .verdict import Outcome, Verdict

# the least change of a slope's extrapolation that counts as resolved; exponents of different
# dimensions or orders lie 1/36 or more apart
_RESOLVED = 0.01
_NOISE = -0.5


def exponent_verdicts(claim: Claim, schedule: Schedule) -> list[Verdict]:
    """One decision a function, deterministic.

    Along β = c N^rate, the rate and c being those of the joint settings, the curve
    sqrt(bias² + sd²), or without a predicted sd the bias alone, is followed over the β of the bias
    check, far beyond what can be sampled. Its local slopes, extrapolated in 1/β, must meet the
    claim's `slope`. A bias of order o, and an sd² like β^k/N, give -rate o where rate = 1/(2o + k):
    a wrong rate, order or slope shows.
    """
    if claim.slope is None:
        return []
    curve = _Curve(claim, schedule)
    return [_verdict(claim, curve, j) for j in range(len(claim.functions))]


class _Curve:
    """log N, log RMSE of every function, and how far the rounding of references moves the latter.

    Attributes
    ----------
    ratio : float
        Of neighbouring β; 1 where N alone grows.
    rate, rate_error : float
        Of β in N, and its relative error from the rounding of the settings' N and β.
    """

    def __init__(self, claim: Claim, schedule: Schedule) -> None:
        first, last = schedule.joint[0], schedule.joint[-1]
        log_n, log_beta = np.log(last.n / first.n), np.log(last.beta / first.beta)
        self.rate = log_beta / log_n
        grows = self.rate > 1e-6
        self.rate_error = (0.5 / first.n + 0.5 / last.n) / log_n
        betas = np.array(schedule.betas if grows else 4 * [last.beta])
        self.ratio = float(betas[1] / betas[0])
        biases = self._biases(claim, betas)
        betas = betas[-len(biases) :]
        steps = np.log(betas / last.beta) / self.rate if grows else 7.0 * np.arange(4)
        self.log_n = np.log(last.n) + steps
        squares, slips = [], []
        for beta, log_size, bias in zip(betas, self.log_n, biases, strict=True):
            size = np.exp(log_size)
            n: Any = round(size) if size < 2**53 else size  # NumPy has no integers beyond 2^64
            square, slip = bias**2, 2 * REFERENCE_ACCURACY * np.abs(bias)
            if claim.sampling_error is not None:
                shift, sd = claim.sampling_error(n, beta)
                square = (bias + shift) ** 2 + sd**2
            squares.append(np.mean(square, axis=0))
            slips.append(np.mean(slip, axis=0) / squares[-1] / 2)
        self.log_error, self.slip = 0.5 * np.log(np.array(squares)), np.array(slips)

    def _biases(self, claim: Claim, betas: np.ndarray) -> np.ndarray:
        """expectation - limit; of β^-p log β what one step of a Richardson table leaves, β^-p.

        At a fixed β what is smaller than every power is no part of the curve.
        """
        if self.ratio == 1:
            return np.zeros((len(betas), *claim.limit.shape))
        biases = np.stack([claim.expectation(beta) - claim.limit for beta in betas])
        if claim.bias_logarithm:
            power = self.ratio ** float(claim.bias_order)  # type: ignore[arg-type]
            return biases[1:] + np.diff(biases, axis=0) / (power - 1)
        return biases


def _verdict(claim: Claim, curve: _Curve, j: int) -> Verdict:
    stated = float(claim.slope)  # type: ignore[arg-type]
    label, expansion = claim.functions[j], claim.expansion(j)
    known = int(np.sum(np.cumprod(curve.slip[:, j] < _RESOLVED / 10)))
    if known < 4:
        return _undecided(label, stated, "the bias is below the rounding of the references")
    log_n, log_error = curve.log_n[:known], curve.log_error[:known, j]
    slopes = np.diff(log_error) / np.diff(log_n)
    if expansion is None or curve.ratio == 1:
        best, error = slopes[-1], abs(slopes[-1] - slopes[-2])
    else:
        # noise may bring half powers even where the bias has none
        step = expansion.step if claim.sampling_error is None else min(expansion.step, 0.5)
        powers = 3 * [expansion.order] if expansion.logarithm else [step, 2 * step, 3 * step]
        count = min(4, len(slopes) - 1)
        tables = [
            richardson(part, curve.ratio, powers)
            for part in (slopes[-count:], slopes[-count - 1 : -1])
        ]
        best = tables[0][0]
        error = float(tables[0][1] + abs(best - tables[1][0]))
    slip = 4 * curve.slip[known - 1, j] / float(np.min(np.diff(log_n)))
    error = float(error + slip + curve.rate_error * abs(best))
    if not error < _RESOLVED:
        return _undecided(label, stated, f"its extrapolation is uncertain by {error:.1e}")
    # an error that falls at least so fast may have a bias that falls faster than its noise
    noise = claim.slope_is_bound and stated == _NOISE and best < stated
    outcome = Outcome.PASS if abs(best - stated) <= error or noise else Outcome.FAIL
    return Verdict(
        "joint", "exponent", label, outcome, float(best), stated, float(best) - error,
        float(best) + error,
        reason=f"the exact curve at large N has {best:.5f} ± {error:.1e}, stated {stated:.5f}",
    )  # fmt: skip


def _undecided(label: str, stated: float, reason: str) -> Verdict:
    return Verdict("joint", "exponent", label, Outcome.INCONCLUSIVE, np.nan, stated, reason=reason)
