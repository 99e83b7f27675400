"""Everything that is made from a run: verdicts, tables, figure; and the ledger of all runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import CheckpointError
from ..running import (
    CELLS,
    Run,
    changed_files,
    code_version,
    find_study,
    load_study,
    read_run,
    read_table,
    results_folder,
    study_files,
    verdicts_table,
    write_cells,
    write_text,
    write_verdicts,
)
from ..verification import Verdict
from .figure import write_figures
from .summary import Summary, summarise
from .tables import latex_table, markdown_table


def publish(run: Run, path: Path, folder: Path) -> list[Summary]:
    """Write a run's cells, then report what was written: the same figures as from disk later."""
    write_cells(run, folder)
    return write_report(read_run(path, folder), folder)


def write_report(run: Run, folder: Path) -> list[Summary]:
    """verdicts.csv, table.tex, table.md and the figures of a run."""
    verdicts = run.verdicts()
    write_verdicts(verdicts, folder)
    summaries = summarise(run, verdicts)
    write_text(folder / "table.tex", latex_table(run.study.title, summaries))
    write_text(folder / "table.md", markdown_table(summaries))
    write_figures(run, folder)
    return summaries


def published(output: Path, preset: str = "standard") -> dict[str, Path]:
    """The project's studies that have results at a preset, by name."""
    return {
        name: path
        for name, path in study_files().items()
        if (results_folder(output, name, preset) / CELLS).is_file()
    }


def ledger_sections(output: Path) -> dict[str, str]:
    """Title and Markdown table of every published study, for the README."""
    return {
        load_study(path).title: (results_folder(output, name, "standard") / "table.md").read_text(
            encoding="utf-8"
        )
        for name, path in published(output).items()
    }


def read_published(name: str, output: Path, preset: str) -> tuple[Run, Path]:
    """A published run and its folder."""
    path = find_study(name)
    folder = results_folder(output, path.stem, preset)
    return read_run(path, folder), folder


def audit(run: Run, folder: Path) -> list[str]:
    """Where published cells, verdicts and table differ from today's judgement of the cells.

    Returns
    -------
    list of str
        One line a difference.

    Raises
    ------
    CheckpointError
        When the published files cannot be read.
    """
    verdicts = run.verdicts()
    summaries = summarise(run, verdicts)
    lines = changed_files(run, folder) + _changed_verdicts(verdicts, folder)
    tables = {
        "table.md": markdown_table(summaries),
        "table.tex": latex_table(run.study.title, summaries),
    }
    for name, today in tables.items():
        table = folder / name
        try:
            same = table.read_text(encoding="utf-8") == today
        except (OSError, ValueError):
            same = False
        if not same:
            lines.append(
                f"{table} is missing or not today's; renew it: python -m convergence report"
            )
    return lines


def other_code(run: Run, path: Path) -> str:
    """A line where a published run was made by other code than today's, else nothing.

    No fault by itself: today's judgement of its cells may well be the same.
    """
    published, today = str(run.provenance.get("code")), code_version(path)
    if published == today:
        return ""
    return (
        f"note: {run.name} was measured by other code or libraries ({published[:12]}) than today's "
        f"({today[:12]})"
    )


_KEY = ["claim", "check", "quantity", "function"]
_FIGURES = ["measured", "predicted", "low", "high", "p_value", "level", "sees"]
_OF_ORDER_ONE = ("measured", "predicted", "low", "high")


def _changed_verdicts(verdicts: dict[str, list[Verdict]], folder: Path) -> list[str]:
    """Decisions whose outcome, reason or any number is not today's."""
    path = folder / "verdicts.csv"
    try:
        old = read_table(path, _FIGURES)[[*_KEY, "outcome", *_FIGURES, "reason"]]
    except (OSError, ValueError, KeyError) as error:
        raise CheckpointError(
            f"cannot read {path}: {error}; renew it: python -m convergence report"
        ) from error
    new = verdicts_table(verdicts)[old.columns]
    both = old.merge(new, on=_KEY, how="outer", suffixes=("_old", "_new"))
    both["noise"] = np.select(
        [both["check"] == "bias", both["check"].isin(["sampling", "joint"])], [1e-10, 1e-9], 0.0
    )
    changed = ~(both["outcome_old"] == both["outcome_new"])
    for figure in _FIGURES:
        before, after = (both[f"{figure}_{age}"].astype(float) for age in ("old", "new"))
        changed |= ~_close(before, after, both["noise"] * (figure in _OF_ORDER_ONE))
    # what a deterministic decision says of its rounding is no one's to repeat
    rounding = (both["check"] == "bias") | (both["quantity"] == "exponent")
    changed |= ~rounding & (both["reason_old"] != both["reason_new"])
    lines = [
        f"{row.claim}, {row.check}, {row.quantity} {row.function}: "
        f"published {_shown(row.outcome_old, row.measured_old)}, "
        f"now {_shown(row.outcome_new, row.measured_new)}"
        for row in both[changed].itertuples()
    ]
    if len(old) != len(new):
        lines.append(f"{path} has {len(old)} decisions, today's judgement {len(new)}")
    return lines


def _close(before: pd.Series, after: pd.Series, noise: pd.Series) -> pd.Series:
    """Equal up to a millionth, and up to what rounding of references leaves of a difference.

    Published numbers hold 12 digits. Probabilities and levels, and residuals of identities, which
    are rounding themselves, are small numbers of their own.
    """
    distance = np.abs(before - after)
    size = np.maximum(np.abs(before), np.abs(after))
    return (before == after) | (before.isna() & after.isna()) | (distance <= noise + 1e-6 * size)


def _shown(outcome: Any, measured: Any) -> str:
    """A decision in words; one that stands on the other side only is absent."""
    return f"{outcome} ({measured:.6g})" if isinstance(outcome, str) else "absent"
