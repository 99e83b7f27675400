"""What a check concludes, with the number that made it conclude so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np


class Outcome(StrEnum):
    """PASS is given only on evidence; what could not be decided is INCONCLUSIVE."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class Verdict:
    """One decision.

    Attributes
    ----------
    check : str
        bias, sampling, joint or faults.
    quantity : str
        What was measured, for example "slope" or the name of a fault.
    function : str
        Label of the test function, empty where all are pooled.
    outcome : Outcome
    measured, predicted : float
    low, high : float
        Interval of the measured value; NaN where the decision uses none.
    p_value, level : float
        The decision is FAIL when p_value < level; NaN for deterministic checks.
    reason : str
    sees : float
        The smallest relative error that this test would have shown with probability 0.99.
    """

    check: str
    quantity: str
    function: str
    outcome: Outcome
    measured: float
    predicted: float
    low: float = np.nan
    high: float = np.nan
    p_value: float = np.nan
    level: float = np.nan
    reason: str = ""
    sees: float = np.nan


def decide(p_value: float, level: float) -> Outcome:
    """FAIL below the level, PASS otherwise; a p-value that is no number decides nothing."""
    if not np.isfinite(p_value):
        return Outcome.INCONCLUSIVE
    return Outcome.FAIL if p_value < level else Outcome.PASS


def overall(verdicts: Iterable[Verdict]) -> Outcome:
    """FAIL if any failed; PASS only if there are decisions and all of them passed."""
    outcomes = [verdict.outcome for verdict in verdicts]
    if Outcome.FAIL in outcomes:
        return Outcome.FAIL
    if not outcomes or Outcome.INCONCLUSIVE in outcomes:
        return Outcome.INCONCLUSIVE
    return Outcome.PASS
