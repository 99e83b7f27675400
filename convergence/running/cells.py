"""Cells: one replicate of one claim at one setting, identified by content, seeded by identity."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import ConvergenceError, StudyError
from ..verification import Claim, Sampler, Schedule, Setting

CHUNK = 2**20
"""Largest number of points that are drawn, and for streamed claims held, at once."""


@dataclass(frozen=True)
class Cell:
    """One replicate. Its identity, and so its random numbers, is its content."""

    study: str
    claim: str
    check: str
    n: int
    beta: float
    replicate: int

    @property
    def identity(self) -> str:
        return json.dumps(
            [self.study, self.claim, self.check, self.n, self.beta.hex(), self.replicate]
        )

    def seed(self, root: int) -> np.random.SeedSequence:
        """A seed that depends on the identity alone: order, subset and workers do not matter."""
        digest = hashlib.sha256(self.identity.encode()).digest()
        return np.random.SeedSequence(root, spawn_key=tuple(np.frombuffer(digest, "<u4").tolist()))

    def key(self, configuration: str, code: str, root: int) -> str:
        """Where the result is kept: it changes with the configuration and the code."""
        content = json.dumps([self.identity, configuration, code, root])
        return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True)
class Result:
    """What a cell gave: values (targets, functions), seconds, and "ok" or the error."""

    values: np.ndarray
    seconds: float
    status: str = "ok"


def settings(schedule: Schedule, claim: Claim) -> list[tuple[str, Setting]]:
    """The (check, setting) pairs that are sampled for a claim."""
    pairs = []
    if "sampling" in claim.checks or "faults" in claim.checks:
        pairs += [("sampling", setting) for setting in schedule.sampling]
    if "joint" in claim.checks:
        pairs += [("joint", setting) for setting in schedule.joint]
    if "identity" in claim.checks:
        pairs += [("identity", setting) for setting in schedule.identity]
    return pairs


def cells_of(study: str, claim: Claim, schedule: Schedule) -> list[Cell]:
    """Every cell of a claim, in a fixed order."""
    return [
        Cell(study, claim.id, check, setting.n, setting.beta, replicate)
        for check, setting in settings(schedule, claim)
        for replicate in range(setting.replicates)
    ]


def sample_chunks(space: Sampler, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """n points of a space in chunks of at most `CHUNK`, drawn one after the other."""
    for start in range(0, n, CHUNK):
        yield space.sample(min(CHUNK, n - start), rng)


def compute(claim: Claim, cell: Cell, root: int) -> Result:
    """Draw the sample and estimate. A named error becomes the status of the cell.

    Raises
    ------
    StudyError
        When the estimate breaks off otherwise, has a wrong shape or is not finite.
    """
    start = time.perf_counter()
    status = "ok"
    where = f"claim {claim.id!r} at N = {cell.n}, β = {cell.beta:g}"
    try:
        chunks = sample_chunks(claim.space, cell.n, np.random.default_rng(cell.seed(root)))
        points = chunks if claim.streamed else np.concatenate(list(chunks))
        values = np.asarray(claim.estimate(points, cell.beta), dtype=float)
    except ConvergenceError as error:
        values = np.full(claim.limit.shape, np.nan)
        status = f"{type(error).__name__}: {error}"
    except (Exception, SystemExit) as error:
        raise StudyError(f"{where} broke off with {type(error).__name__}: {error}") from error
    if values.shape != claim.limit.shape:
        raise StudyError(
            f"{where} gave an estimate of shape {values.shape}; (targets, functions) is "
            f"{claim.limit.shape}"
        )
    if status == "ok" and not np.all(np.isfinite(values)):
        raise StudyError(f"{where} gave an estimate that is not finite")
    return Result(values, time.perf_counter() - start, status)
