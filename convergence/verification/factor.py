"""Fitted factors: is the operator, or one part of it, some percent off?

A wrong constant moves all targets and settings together: estimates have the mean E + θ p, where E
is the expectation and p the part that is wrong, E itself or the drift alone. θ is fitted by least
squares; its test sees several times less than the largest error at a single target does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .claim import Batch, Claim, Reference
from .statistics import POWER, normal_test, student_test
from .verdict import Verdict, decide

FACTOR = "factor"


def factor_verdicts(claim: Claim, batches: Sequence[Batch], level: float) -> list[Verdict]:
    """One decision a function for the whole operator, and one a part for all functions together.

    A function whose limit is zero has no factor.

    Batches are pooled. Where theory gives the standard deviation, 1 + θ of the whole operator is
    normal; else, and for a part, whose functions share their noise, its error is that of the
    replicates (Student).
    """
    if not batches:
        return []
    every = list(range(len(claim.functions)))
    verdicts = [
        _verdict(claim, batches, claim.expectation, FACTOR, [j], level) for j in claim.sized
    ]
    return verdicts + [
        _verdict(claim, batches, part, f"{FACTOR} of the {name}", every, level)
        for name, part in claim.parts.items()
    ]


def _verdict(
    claim: Claim,
    batches: Sequence[Batch],
    part: Reference,
    quantity: str,
    columns: list[int],
    level: float,
) -> Verdict:
    if claim.sampling_error is not None and len(columns) == 1:
        pairs = [_standardised(claim, batch, part, columns[0]) for batch in batches]
        theta, error, p, sees = normal_test(pairs, level)
        half, law = 1.96 * error, "normal"
    else:
        theta, half, p, sees = student_test(_fitted(claim, batches, part, columns), level)
        law = "Student, errors of replicates"
    label = claim.functions[columns[0]] if len(columns) == 1 else ""
    return Verdict(
        "sampling", quantity, label, decide(p, level), 1 + theta, 1.0, 1 + theta - half,
        1 + theta + half, p, level, f"{law}; {100 * sees:.2g} % is seen with power {POWER}", sees,
    )  # fmt: skip


def _standardised(
    claim: Claim, batch: Batch, part: Reference, j: int
) -> tuple[np.ndarray, np.ndarray]:
    """Errors (replicates, targets) that are N(θ u, 1), and u (targets,)."""
    n, beta = batch.setting.n, batch.setting.beta
    shift, sd = claim.error_scale(n, beta)
    errors = (batch.values - claim.expectation(beta) - shift) / sd
    return errors[:, :, j], part(beta)[:, j] / sd[:, j]


def _fitted(
    claim: Claim, batches: Sequence[Batch], part: Reference, columns: list[int]
) -> np.ndarray:
    """θ from the r-th replicates of all settings together, one value for each r.

    The weights p/scale² are fixed beforehand, so that the values are independent and of one law.
    """
    count = min(len(batch.values) for batch in batches)
    moved, unit = np.zeros(count), 0.0
    for batch in batches:
        n, beta = batch.setting.n, batch.setting.beta
        shift, scale = claim.error_scale(n, beta)
        direction = part(beta)[:, columns]
        weights = direction / scale[:, columns] ** 2
        errors = (batch.values[:count] - claim.expectation(beta) - shift)[:, :, columns]
        moved += np.einsum("rtf,tf->r", errors, weights)
        unit += float(np.sum(direction * weights))
    return moved / unit
