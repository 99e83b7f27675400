"""One row a claim: the numbers that a reader wants first, for the least favourable function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..running import Run
from ..verification import Claim, Outcome, Verdict, overall
from ..verification.factor import FACTOR
from .rounding import percent, with_uncertainty


@dataclass(frozen=True)
class Summary:
    """What the tables show of a claim.

    Of several functions (and settings) the one that fits worst is shown. `reasons` holds a line
    for every decision that is not a PASS.
    """

    id: str
    statement: str
    largest_n: int
    order: str
    slope: str
    predicted_slope: str
    mean: str
    variance: str
    deviation: str
    residual: str
    faults: str
    sees: str
    sees_parts: str
    outcome: Outcome
    checks: dict[str, Outcome]
    reasons: tuple[str, ...] = ()


def summarise(run: Run, verdicts: dict[str, list[Verdict]]) -> list[Summary]:
    """The rows of a study's table, in the study's order."""
    return [_summary(run, claim, verdicts[claim.id]) for claim in run.study.claims]


def _summary(run: Run, claim: Claim, verdicts: list[Verdict]) -> Summary:
    def of(check: str, quantity: str) -> list[Verdict]:
        return [
            v
            for v in verdicts
            if v.check == check and v.quantity.startswith(quantity) and np.isfinite(v.measured)
        ]

    order = max(of("bias", "order"), key=lambda v: abs(v.measured - v.predicted), default=None)
    slope = _worst(of("joint", "slope"))
    mean, variance = _worst(of("sampling", "mean")), _worst(of("sampling", "variance"))
    residuals = of("identity", "residual")
    factors = of("sampling", FACTOR)
    curve = [abs(v.measured - 1) for v in of("joint", "RMSE")]
    faults = [v for v in verdicts if v.check == "faults"]
    rejected = sum(v.outcome == Outcome.PASS for v in faults)
    schedule = run.schedule(claim)
    refuted = claim.refutes and overall(verdicts) == Outcome.PASS
    return Summary(
        id=claim.id,
        statement=claim.statement + (f"; refuted: {claim.refutes}" if refuted else ""),
        largest_n=max(
            (s.n for s in (*schedule.joint, *schedule.sampling, *schedule.identity)), default=0
        ),
        order=with_uncertainty(order.measured, order.high - order.measured) if order else "-",
        slope=_measured(slope),
        predicted_slope=f"{slope.predicted:.4f}" if slope else "-",
        mean=_measured(mean),
        variance=_measured(variance),
        deviation=percent(max(curve, default=np.nan)),
        residual=f"{max(v.measured for v in residuals):.1e}" if residuals else "-",
        faults=f"{rejected}/{len(faults)}",
        sees=percent(max((v.sees for v in factors if v.quantity == FACTOR), default=np.nan)),
        sees_parts=", ".join(
            f"{v.quantity.removeprefix(f'{FACTOR} of the ')} {percent(v.sees)}"
            for v in factors
            if v.quantity != FACTOR
        )
        or "-",
        outcome=overall(verdicts),
        checks={check: overall(v for v in verdicts if v.check == check) for check in claim.checks},
        reasons=tuple(_reason(claim.id, v) for v in verdicts if v.outcome != Outcome.PASS),
    )


def _reason(id: str, v: Verdict) -> str:
    parts = [v.reason]
    if np.isfinite(v.p_value):
        parts.insert(0, f"p = {v.p_value:.2g} at level {v.level:.2g}")
    if np.isfinite(v.measured):
        parts.insert(0, f"measured {v.measured:.4g}, predicted {v.predicted:.4g}")
    function = f" of {v.function}" if v.function else ""
    return f"{v.outcome} {id}, {v.check}: {v.quantity}{function}: {'; '.join(parts)}"


def _worst(verdicts: list[Verdict]) -> Verdict | None:
    return min(verdicts, key=lambda v: v.p_value, default=None)


def _measured(verdict: Verdict | None) -> str:
    """The value with its standard error, a quarter of the width of its 95 % interval."""
    if verdict is None:
        return "-"
    return with_uncertainty(verdict.measured, (verdict.high - verdict.low) / 4)
