"""All checks of a claim, with the false-alarm rate shared out among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .bias import bias_check
from .claim import Batch, Claim, Schedule
from .faults import faults_check
from .identity import identity_check
from .joint import joint_check
from .sampling import sampling_check
from .verdict import Outcome, Verdict

FALSE_ALARM_RATE = 1e-4
"""Chance that a study of true claims has any failed verdict."""


# why a check that a claim lists has nothing to decide
_LACKS = {
    "bias": "the schedule has no β for it",
    "sampling": "the schedule has no setting for it",
    "joint": "the schedule has no settings for it",
    "faults": "the claim lists no fault",
    "identity": "the claim has no identity that is right",
}


def count_tests(claim: Claim, schedule: Schedule) -> int:
    """Number of statistical tests that a claim undergoes."""
    functions = len(claim.functions)
    count = 0
    if "sampling" in claim.checks:
        count += len(schedule.sampling) * functions * (1 if claim.sampling_error is None else 2)
        count += len(claim.sized) + len(claim.parts) if schedule.sampling else 0  # factors
    if "joint" in claim.checks:
        count += functions * (1 if claim.sampling_error is None else len(schedule.joint) + 1)
    if "faults" in claim.checks:
        count += len(claim.faults)
    return count


def study_level(
    claims: Sequence[Claim], preset: str, false_alarm_rate: float = FALSE_ALARM_RATE
) -> float:
    """The level of each single test, so that the whole study keeps its false-alarm rate.

    Bonferroni over all statistical tests of all claims of the study (also when only some of them
    are run): the chance of any false alarm is at most `false_alarm_rate`, whatever the
    dependence between tests.
    """
    return false_alarm_rate / max(1, sum(count_tests(c, c.schedules[preset]) for c in claims))


def verify(
    claim: Claim, schedule: Schedule, batches: Mapping[str, list[Batch]], level: float
) -> list[Verdict]:
    """The verdicts of every check that the claim lists; one that decides nothing is INCONCLUSIVE.

    Parameters
    ----------
    claim : Claim
    schedule : Schedule
    batches : mapping
        "sampling", "joint" and "identity" to the measured batches.
    level : float
        False-alarm rate of each single statistical test, see `study_level`.
    """
    verdicts: list[Verdict] = []
    if "bias" in claim.checks:
        verdicts += bias_check(claim, schedule)
    if "sampling" in claim.checks:
        verdicts += sampling_check(claim, batches["sampling"], level)
    if "joint" in claim.checks:
        verdicts += joint_check(claim, schedule, batches["joint"], level)
    if "faults" in claim.checks:
        verdicts += faults_check(claim, batches["sampling"], level)
    if "identity" in claim.checks:
        verdicts += identity_check(claim, batches["identity"])
    decided = {verdict.check for verdict in verdicts}
    return verdicts + [
        Verdict(check, "", "", Outcome.INCONCLUSIVE, np.nan, np.nan, reason=_LACKS[check])
        for check in claim.checks
        if check not in decided
    ]
