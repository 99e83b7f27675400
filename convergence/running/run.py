"""Run a study: every cell once, in any order, on any executor, resumable at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np

from .. import backend
from ..errors import InvalidInputError, StudyError
from ..verification import Batch, Claim, Schedule, Verdict, study_level, verify
from .cells import Cell, Result, cells_of, compute, settings
from .checkpoint import Checkpoint
from .provenance import code_version, provenance
from .study import Study, load_study

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
        return {
            claim.id: verify(claim, self.schedule(claim), self.batches(claim), self.level)
            for claim in self.study.claims
        }


def plan(path: Path, preset: str) -> list[Cell]:
    """Every cell of a study at a preset.

    Raises
    ------
    StudyError
        For a preset that some claim does not know.
    """
    study = load_study(path)
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
        Any joblib backend by name.
    device : str
    progress : callable, optional

    Raises
    ------
    StudyError, CheckpointError, DeviceError
    """
    device = backend.resolve_device(device)
    cells = plan(path, preset)
    study, code = load_study(path), code_version(path)
    keys = {cell: cell.key(study.claim(cell.claim).configuration, code, seed) for cell in cells}
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


def _compute_all(
    path: Path, cells: list[Cell], seed: int, jobs: int, executor: str, device: str
) -> Iterable[tuple[Cell, Result]]:
    if jobs == 1 or len(cells) < 2:
        return (_compute(path, cell, seed, device) for cell in cells)
    # workers that a killed run leaves behind end soon, not after joblib's five minutes
    options = {"idle_worker_timeout": 20} if executor == "loky" else {}
    try:
        parallel = joblib.Parallel(
            n_jobs=jobs, backend=executor, return_as="generator_unordered", **options
        )
    except ValueError as error:
        raise InvalidInputError(f"joblib has no executor {executor!r}: {error}") from error
    return parallel(joblib.delayed(_compute)(path, cell, seed, device) for cell in cells)


def _compute(path: Path, cell: Cell, seed: int, device: str) -> tuple[Cell, Result]:
    with backend.use_device(device):
        return cell, compute(load_study(path).claim(cell.claim), cell, seed)
