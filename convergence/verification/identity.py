"""Check of an exact identity: its residual is rounding, and that of a wrong identity is not."""

from __future__ import annotations

import numpy as np

from .claim import Batch, Claim
from .verdict import Outcome, Verdict

_CLEARLY = 1e3  # tolerances that the residual of a wrong identity must exceed


def identity_check(claim: Claim, batches: list[Batch]) -> list[Verdict]:
    """One decision a function: the largest residual over all samples, or for a wrong identity the
    smallest, against the claim's tolerance.
    """
    if not batches:
        reason = "no samples were drawn"
        return [Verdict("identity", "", "", Outcome.INCONCLUSIVE, np.nan, 0.0, reason=reason)]
    residuals = np.concatenate([np.abs(b.values - claim.limit).max(axis=1) for b in batches])
    verdicts = []
    for j, label in enumerate(claim.functions):
        if label in claim.wrong:
            least, needed = float(residuals[:, j].min()), _CLEARLY * claim.tolerance
            good = least > needed
            reason = f"a wrong identity; its smallest residual must exceed {needed:.1e}"
            verdict = Verdict("faults", label, "", _outcome(good), least, needed, reason=reason)
        else:
            largest = float(np.max(residuals[:, j]))
            good = largest <= claim.tolerance  # false for NaN
            reason = f"{len(residuals)} samples, at most {claim.tolerance:.1e}"
            verdict = Verdict(
                "identity", "residual", label, _outcome(good), largest, 0.0,
                high=claim.tolerance, reason=reason,
            )  # fmt: skip
        verdicts.append(verdict)
    return verdicts


def _outcome(good: bool) -> Outcome:
    return Outcome.PASS if good else Outcome.FAIL
