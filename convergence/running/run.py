"""Run a study: every cell once, in any order, on any executor, resumable at any moment."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import joblib
import numpy as np

from .. import backend
from ..errors import ConvergenceError, InvalidInputError, StudyError, WorkerError
from ..verification import Batch, Claim, Schedule, Verdict, study_level, verify
from .cells import Cell, Result, cells_of, compute, settings
from .checkpoint import Checkpoint
from .provenance import code_version, provenance
from .study import Study, load_study

EXECUTORS = ("loky", "threading", "sequential")

Progress = Callable[[Cell, bool], None]
"""Called with each finished cell, and whether it was kept from an earlier run."""


@dataclass(frozen=True)
class Run:
    """What a study gave, before anything is written.

    `results` holds every cell's result; `batches` the same by claim and check, as the checks
    want them.
    """

    name: str
    study: Study
    preset: str
    level: float
    results: dict[Cell, Result]
    provenance: dict

    def schedule(self, claim: Claim) -> Schedule:
        return claim.schedules[self.preset]

    def batches(self, claim: Claim) -> dict[str, list[Batch]]:
        """The measured batches of a claim: "sampling", "joint" and "identity"."""
        found: dict[str, list[Batch]] = {"sampling": [], "joint": [], "identity": []}
        for check, setting in settings(self.schedule(claim), claim):
            cells = (
                Cell(self.name, claim.id, check, setting.n, setting.beta, replicate)
                for replicate in range(setting.replicates)
            )
            values = np.stack([self.results[cell].values for cell in cells])
            found[check].append(Batch(setting, values))
        return found

    def verdicts(self) -> dict[str, list[Verdict]]:
        """The verdicts of every claim, by id."""
        return {claim.id: self._verified(claim) for claim in self.study.claims}

    def _verified(self, claim: Claim) -> list[Verdict]:
        try:
            return verify(claim, self.schedule(claim), self.batches(claim), self.level)
        except ConvergenceError:
            raise
        except (Exception, SystemExit) as error:
            raise StudyError(
                f"claim {claim.id!r} could not be judged: {type(error).__name__}: {error}"
            ) from error


def plan(path: Path, preset: str) -> list[Cell]:
    """Every cell of a study at a preset.

    Raises
    ------
    StudyError
        For a preset that some claim does not know.
    """
    study = load_study(path)
    if not re.fullmatch(r"\w[\w .-]*", preset):
        raise StudyError(f"the name of a preset is that of a folder, not {preset!r}")
    for claim in study.claims:
        if preset not in claim.schedules:
            known = ", ".join(claim.schedules)
            raise StudyError(f"claim {claim.id!r} has no preset {preset!r}; it has {known}")
    return [
        cell
        for claim in study.claims
        for cell in cells_of(path.stem, claim, claim.schedules[preset])
    ]


def run_study(
    path: Path,
    preset: str,
    checkpoint: Path,
    *,
    seed: int = 0,
    jobs: int = 1,
    executor: str = "loky",
    device: str = "cpu",
    progress: Progress | None = None,
) -> Run:
    """Compute the cells that no earlier run has finished, and gather all of them.

    Parameters
    ----------
    path : Path
        The study's file.
    preset : str
    checkpoint : Path
        File of finished cells.
    seed : int
        Root of every cell's seed.
    jobs : int
        Worker processes; 1 computes in this process.
    executor : str
        Of several jobs: "loky" (processes), "threading" or "sequential".
    device : str
    progress : callable, optional

    Raises
    ------
    StudyError, CheckpointError, DeviceError, InvalidInputError, WorkerError
    """
    device = backend.resolve_device(device)
    if executor not in EXECUTORS:
        raise InvalidInputError(f"no executor {executor!r}: it is one of {', '.join(EXECUTORS)}")
    cells = plan(path, preset)
    study, code = load_study(path), code_version(path)
    keys = {cell: cell.key(study.claim(cell.claim).configuration, code, seed) for cell in cells}
    _check_references(study, preset)
    results: dict[Cell, Result] = {}
    with Checkpoint(checkpoint) as kept:
        for cell in cells:
            earlier = kept.get(keys[cell])
            if earlier is not None and earlier.values.shape == study.claim(cell.claim).limit.shape:
                results[cell] = earlier
                if progress:
                    progress(cell, True)
        missing = [cell for cell in cells if cell not in results]
        for cell, result in _compute_all(path, missing, seed, jobs, executor, device):
            results[cell] = result
            if result.status == "ok":
                kept.put(keys[cell], result)
            if progress:
                progress(cell, False)
    configuration = {
        "study": path.stem,
        "preset": preset,
        "claims": {
            claim.id: {
                "problem": claim.configuration,
                "settings": [
                    [check, setting.n, setting.beta, setting.replicates]
                    for check, setting in settings(claim.schedules[preset], claim)
                ],
            }
            for claim in study.claims
        },
    }
    return Run(
        path.stem,
        study,
        preset,
        study_level(study.claims, preset),
        {cell: results[cell] for cell in cells},
        provenance(path, configuration, seed, jobs, device),
    )


def _check_references(study: Study, preset: str) -> None:
    """Evaluate every reference once before anything is sampled.

    Raises
    ------
    StudyError
        For one that breaks off, has a wrong shape or is not finite, with its claim and setting.
    """
    for claim in study.claims:
        shape, targets = np.shape(claim.limit), np.shape(claim.limit)[:1]
        for check, setting in settings(claim.schedules[preset], claim):
            where = f"claim {claim.id!r}, {check} at N = {setting.n}, β = {setting.beta:g}"
            try:
                found = {"expectation": (claim.expectation(setting.beta), shape)}
                if claim.sampling_error is not None:
                    shift, sd = claim.sampling_error(setting.n, setting.beta)
                    found |= {"shift": (shift, shape), "standard deviation": (sd, shape)}
                if claim.effective_degree is not None:
                    degree = claim.effective_degree(setting.n, setting.beta)
                    found["effective degree"] = (degree, targets)
                arrays = {k: (np.asarray(v, dtype=float), right) for k, (v, right) in found.items()}
            except ConvergenceError:
                raise
            except (Exception, SystemExit) as error:
                raise StudyError(
                    f"{where}: a reference broke off with {type(error).__name__}: {error}"
                ) from error
            for name, (array, right) in arrays.items():
                if array.shape != right:
                    raise StudyError(f"{where}: the {name} has shape {array.shape}, not {right}")
                if not np.all(np.isfinite(array)):
                    raise StudyError(f"{where}: the {name} is not finite")


def _compute_all(
    path: Path, cells: list[Cell], seed: int, jobs: int, executor: str, device: str
) -> Iterator[tuple[Cell, Result]]:
    if jobs == 1 or len(cells) < 2:
        yield from (_compute(path, cell, seed, device) for cell in cells)
        return
    parallel = joblib.Parallel(n_jobs=jobs, backend=executor, return_as="generator_unordered")
    work = partial(_in_worker, os.getpid()) if executor == "loky" else _compute
    try:
        yield from parallel(joblib.delayed(work)(path, cell, seed, device) for cell in cells)
    except BrokenProcessPool as error:
        raise WorkerError(
            "a worker process died (killed, or out of memory); finished cells are kept, and the "
            "same command goes on from there: fewer --jobs need less memory"
        ) from error


def _in_worker(run: int, path: Path, cell: Cell, seed: int, device: str) -> tuple[Cell, Result]:
    _end_with(run)
    return _compute(path, cell, seed, device)


@cache
def _end_with(run: int) -> None:
    """From the first cell on, a worker whose run, its parent, is gone ends within a second."""

    def watch() -> None:
        while os.getppid() == run:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _compute(path: Path, cell: Cell, seed: int, device: str) -> tuple[Cell, Result]:
    with backend.use_device(device):
        return cell, compute(load_study(path).claim(cell.claim), cell, seed)
