"""Results on disk: tidy cells, verdicts and provenance, written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from ..errors import CheckpointError
from ..verification import Verdict, study_level
from .cells import Cell, Result, cells_of, settings
from .run import Run
from .study import load_study


def results_folder(output: Path, name: str, preset: str) -> Path:
    """Where a study's results lie: the standard preset is what is published."""
    return output / name if preset == "standard" else output / preset / name


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file under another name first, then move it into place.

    Raises
    ------
    CheckpointError
        When it cannot be written; the old file, if any, is left as it was.
    """
    partial = path.with_name(f".partial-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(partial)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise CheckpointError(f"cannot write {path}: {error}") from error


COLUMNS = [
    "claim", "check", "n", "beta", "replicate", "target", "function", "value", "expectation",
    "limit", "predicted_shift", "predicted_sd", "effective_degree", "seconds", "status",
]  # fmt: skip


def cells_table(run: Run) -> pd.DataFrame:
    """One row per claim, check, N, β, replicate, target and function."""
    tables = []
    for claim in run.study.claims:
        targets, functions = claim.limit.shape
        for check, setting in settings(run.schedule(claim), claim):
            cells = [
                Cell(run.name, claim.id, check, setting.n, setting.beta, r)
                for r in range(setting.replicates)
            ]
            results = [run.results[cell] for cell in cells]
            shape = (setting.replicates, targets, functions)
            replicate, target, function = (i.ravel() for i in np.indices(shape))
            shift, sd = np.full((2, targets, functions), np.nan)
            if claim.sampling_error is not None:
                shift, sd = claim.sampling_error(setting.n, setting.beta)
            degree = np.full(targets, np.nan)
            if claim.effective_degree is not None:
                degree = claim.effective_degree(setting.n, setting.beta)

            def spread(array: np.ndarray, shape: tuple[int, ...] = shape) -> np.ndarray:
                return np.broadcast_to(array, shape).ravel()

            tables.append(
                pd.DataFrame(
                    {
                        "claim": claim.id,
                        "check": check,
                        "n": setting.n,
                        "beta": repr(setting.beta),
                        "replicate": replicate,
                        "target": target,
                        "function": function,
                        "value": np.stack([result.values for result in results]).ravel(),
                        "expectation": spread(claim.expectation(setting.beta)),
                        "limit": spread(claim.limit),
                        "predicted_shift": spread(shift),
                        "predicted_sd": spread(sd),
                        "effective_degree": spread(degree[:, None]),
                        "seconds": np.repeat([r.seconds for r in results], targets * functions),
                        "status": np.repeat([r.status for r in results], targets * functions),
                    }
                )
            )
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)


def verdicts_table(verdicts: dict[str, list[Verdict]]) -> pd.DataFrame:
    """One row a decision."""
    return pd.DataFrame(
        [{"claim": id, **asdict(verdict)} for id, found in verdicts.items() for verdict in found]
    )


def write_cells(run: Run, folder: Path) -> None:
    """cells.csv and provenance.json: all that `read_run` needs."""
    cells, text = cells_table(run), json.dumps(run.provenance, indent=2) + "\n"
    write_whole(folder / "cells.csv", lambda p: cells.to_csv(p, index=False, float_format="%.12g"))
    write_whole(folder / "provenance.json", lambda p: p.write_text(text))


def write_verdicts(verdicts: dict[str, list[Verdict]], folder: Path) -> None:
    """verdicts.csv."""
    table = verdicts_table(verdicts)
    write_whole(
        folder / "verdicts.csv", lambda p: table.to_csv(p, index=False, float_format="%.12g")
    )


def _read_cells(path: Path) -> pd.DataFrame:
    """cells.csv in its own order, numbers being numbers."""
    table = pd.read_csv(path, converters={"beta": float})[COLUMNS]
    return table.astype({"value": float}).sort_values(
        ["claim", "check", "n", "beta", "replicate", "target", "function"], kind="stable"
    )


def changed_cells(run: Run, folder: Path) -> list[str]:
    """Where a published cells.csv is not that of the run read from it, one line each.

    Values come from the file itself; row count, order of targets, references and predicted
    errors must be those of today's claims.
    """
    published, today = _read_cells(folder / "cells.csv"), cells_table(run)
    today = today.astype({"beta": float}).sort_values(list(published.columns[:7]), kind="stable")
    if len(published) != len(today):
        return [f"cells.csv has {len(published)} rows, today's claims {len(today)}"]
    lines = []
    for column in COLUMNS[5:-2]:  # from the target index to the effective degree
        old, new = published[column].to_numpy(float), today[column].to_numpy(float)
        wrong = ~np.isclose(old, new, rtol=1e-9, atol=1e-9, equal_nan=True)
        if np.any(wrong):
            lines.append(f"cells.csv: {np.sum(wrong)} entries of {column!r} are not today's")
    return lines


def read_run(path: Path, folder: Path) -> Run:
    """A run from its published files, with today's claims.

    Raises
    ------
    CheckpointError
        When files are missing, damaged, or hold other cells than the study has today.
    """
    study, name = load_study(path), path.stem
    try:
        record = json.loads((folder / "provenance.json").read_text())
        preset = record["configuration"]["preset"]
        table = _read_cells(folder / "cells.csv")
        rows = dict(iter(table.groupby(["claim", "check", "n", "beta", "replicate"], sort=False)))
        results = {}
        for claim in study.claims:
            for cell in cells_of(name, claim, claim.schedules[preset]):
                found = rows[cell.claim, cell.check, cell.n, cell.beta, cell.replicate]
                values = found["value"].to_numpy().reshape(claim.limit.shape)
                status = str(found["status"].iloc[0])
                results[cell] = Result(values, float(found["seconds"].iloc[0]), status)
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise CheckpointError(
            f"{folder} holds no results of {name} as it is today ({type(error).__name__}: "
            f"{error}); run it, or go on with an interrupted run, with the same --preset and "
            f"--output: python -m convergence run {path}"
        ) from error
    return Run(name, study, preset, study_level(study.claims, preset), results, record)
