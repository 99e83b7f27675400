"""Results on disk: cells, references, verdicts, provenance, written whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import zlib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from uuid import uuid4

import numpy as np
import pandas as pd

from ..errors import CheckpointError
from ..verification import Claim, Setting, Verdict, study_level
from .cells import Cell, Result, cells_of, settings
from .run import Run
from .study import load_study


def results_folder(output: Path, name: str, preset: str) -> Path:
    """Where a study's results lie: the standard preset is what is published."""
    return output / name if preset == "standard" else output / preset / name


PARTIAL = ".partial-"
"""How the names of files begin that are being written."""


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file under a name of its own first, then move it into place.

    Raises
    ------
    CheckpointError
        When it cannot be written; the old file, if any, is left as it was.
    """
    partial = path.with_name(f"{PARTIAL}{os.getpid()}-{uuid4().hex[:8]}-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(partial)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise CheckpointError(f"cannot write {path}: {error}") from error


def write_text(path: Path, text: str) -> None:
    """A whole text file in UTF-8."""
    write_whole(path, lambda partial: partial.write_text(text, encoding="utf-8"))


CELLS, REFERENCES, RECORD = "cells.csv.gz", "references.csv", "provenance.json"
_SETTING = ["claim", "check", "n", "beta"]
_VALUE = [*_SETTING, "replicate", "target", "function", "value", "status"]
_NUMBERS = ["expectation", "limit", "shift", "sd", "effective_degree"]
_REFERENCE = [*_SETTING, "target", "function", *_NUMBERS]


def cells_table(run: Run) -> pd.DataFrame:
    """One row per claim, check, N, β, replicate, target and function: value and status."""
    tables = []
    for claim in run.study.claims:
        for check, setting in settings(run.schedule(claim), claim):
            results = [run.results[cell] for cell in _cells(run, claim, check, setting)]
            values = np.stack([result.values for result in results])
            replicate, target, function = (i.ravel() for i in np.indices(values.shape))
            table = _of_setting(claim, check, setting, replicate.size)
            table["replicate"], table["target"], table["function"] = replicate, target, function
            table["value"] = values.ravel()
            table["status"] = np.repeat([r.status for r in results], values[0].size)
            tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=_VALUE)


def references_table(run: Run) -> pd.DataFrame:
    """One row per claim, check, N, β, target and function: what the values are held against."""
    tables = []
    for claim in run.study.claims:
        for check, setting in settings(run.schedule(claim), claim):
            shift, sd = np.full((2, *claim.limit.shape), np.nan)
            if claim.sampling_error is not None:
                shift, sd = claim.sampling_error(setting.n, setting.beta)
            degree = np.full(len(claim.limit), np.nan)
            if claim.effective_degree is not None:
                degree = claim.effective_degree(setting.n, setting.beta)
            target, function = (i.ravel() for i in np.indices(claim.limit.shape))
            table = _of_setting(claim, check, setting, target.size)
            table["target"], table["function"] = target, function
            numbers = (claim.expectation(setting.beta), claim.limit, shift, sd, degree[:, None])
            for column, array in zip(_NUMBERS, numbers, strict=True):
                table[column] = np.broadcast_to(array, claim.limit.shape).ravel()
            tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=_REFERENCE)


def _cells(run: Run, claim: Claim, check: str, setting: Setting) -> list[Cell]:
    return [
        Cell(run.name, claim.id, check, setting.n, setting.beta, replicate)
        for replicate in range(setting.replicates)
    ]


def _of_setting(claim: Claim, check: str, setting: Setting, rows: int) -> pd.DataFrame:
    """The columns that name a claim and its setting."""
    named = {"claim": claim.id, "check": check, "n": setting.n, "beta": repr(setting.beta)}
    return pd.DataFrame(named, index=range(rows))


def verdicts_table(verdicts: dict[str, list[Verdict]]) -> pd.DataFrame:
    """One row a decision."""
    return pd.DataFrame(
        [{"claim": id, **asdict(verdict)} for id, found in verdicts.items() for verdict in found]
    )


def write_cells(run: Run, folder: Path) -> None:
    """cells.csv.gz, references.csv and provenance.json: all that `read_run` and `check` need.

    Equal numbers are equal bytes: the gzip file carries neither time nor name. The record's digest
    is of itself and of the bytes of both tables.
    """
    cells = _zipped(_csv(cells_table(run)))
    references = _csv(references_table(run))
    seconds = {
        claim.id: round(sum(r.seconds for c, r in run.results.items() if c.claim == claim.id), 3)
        for claim in run.study.claims
    }
    record = {**run.provenance, "seconds": seconds}
    record["digest"] = _digest(record, cells, references)
    write_whole(folder / CELLS, lambda p: p.write_bytes(cells))
    write_whole(folder / REFERENCES, lambda p: p.write_bytes(references))
    write_text(folder / RECORD, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def _zipped(content: bytes) -> bytes:
    """Gzip without time and file name, and with one header on every platform."""
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


def _csv(table: pd.DataFrame) -> bytes:
    text = table.to_csv(index=False, float_format="%.12g", na_rep="nan", lineterminator="\n")
    return text.encode()


def _digest(record: dict, cells: bytes, references: bytes) -> str:
    """Of a record without its digest, and of two tables."""
    rest = {key: value for key, value in record.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True).encode()
    return hashlib.sha256(b"\0".join([text, cells, references])).hexdigest()


def write_verdicts(verdicts: dict[str, list[Verdict]], folder: Path) -> None:
    """verdicts.csv."""
    table = _csv(verdicts_table(verdicts))
    write_whole(folder / "verdicts.csv", lambda p: p.write_bytes(table))


def read_table(path: Path, numbers: list[str]) -> pd.DataFrame:
    """A CSV file whose other columns are text as it stands: no id is a number or missing."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    return table.astype(dict.fromkeys(numbers, float))


def _read_cells(folder: Path) -> pd.DataFrame:
    counts = ["n", "replicate", "target", "function"]
    table = read_table(folder / CELLS, [*counts, "beta", "value"]).astype(
        dict.fromkeys(counts, int)
    )
    return table[_VALUE].sort_values(_VALUE[:7], kind="stable")


def changed_files(run: Run, folder: Path) -> list[str]:
    """Where published files are not those of the run read from them, one line each.

    The digest tells whether any byte of cells, references or record was changed; rows of cells must
    be today's, and references those of today's claims.

    Raises
    ------
    CheckpointError
        When the files cannot be read.
    """
    keys = ["target", "function", "n", "beta"]
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        files = [(folder / name).read_bytes() for name in (CELLS, REFERENCES)]
        cells = _read_cells(folder)
        references = read_table(folder / REFERENCES, [*keys, *_NUMBERS])[_REFERENCE]
    except (OSError, EOFError, zlib.error, KeyError, ValueError) as error:
        raise CheckpointError(
            f"cannot read what was published in {folder} ({type(error).__name__}: {error})"
        ) from error
    lines = []
    if record.get("digest") != _digest(record, *files):
        lines.append(f"{CELLS}, {REFERENCES} or {RECORD} is not what the run wrote: bytes changed")
    if not _same_rows(cells, cells_table(run), _VALUE[:7]):
        lines.append(f"{CELLS} has other rows than today's claims")
    today = references_table(run)
    if not _same_rows(references, today, _REFERENCE[:6]):
        return [*lines, f"{REFERENCES} has other rows than today's claims"]
    order = _REFERENCE[:6]
    today = today.astype(dict.fromkeys([*keys, *_NUMBERS], float))
    references, today = (t.sort_values(order, kind="stable") for t in (references, today))
    for column in _NUMBERS:
        old, new = references[column].to_numpy(float), today[column].to_numpy(float)
        wrong = ~np.isclose(old, new, rtol=1e-9, atol=1e-9, equal_nan=True)
        if np.any(wrong):
            lines.append(f"{REFERENCES}: {np.sum(wrong)} entries of {column!r} are not today's")
    return lines


def _same_rows(one: pd.DataFrame, other: pd.DataFrame, names: list[str]) -> bool:
    """Whether two tables have the same rows in these columns, in any order."""
    floats = {name: float for name in names if name not in ("claim", "check")}
    one, other = (t[names].astype(floats).sort_values(names) for t in (one, other))
    return one.reset_index(drop=True).equals(other.reset_index(drop=True))


def read_run(path: Path, folder: Path) -> Run:
    """A run from its published files, with today's claims.

    Raises
    ------
    CheckpointError
        When files are missing, damaged, or hold other cells than the study has today.
    """
    study, name = load_study(path), path.stem
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        preset = record["configuration"]["preset"]
        table = _read_cells(folder)
        rows = dict(iter(table.groupby(["claim", "check", "n", "beta", "replicate"], sort=False)))
        results = {}
        for claim in study.claims:
            for cell in cells_of(name, claim, claim.schedules[preset]):
                found = rows[cell.claim, cell.check, cell.n, cell.beta, cell.replicate]
                values = found["value"].to_numpy().reshape(claim.limit.shape)
                status = str(found["status"].iloc[0])
                results[cell] = Result(values, 0.0, status)
    except (OSError, EOFError, zlib.error, KeyError, ValueError, TypeError) as error:
        raise CheckpointError(
            f"{folder} holds no results of {name} as it is today ({type(error).__name__}: "
            f"{error}); run it, or go on with an interrupted run, with the same --preset and "
            f"--output: python -m convergence run {path}"
        ) from error
    return Run(name, study, preset, study_level(study.claims, preset), results, record)
