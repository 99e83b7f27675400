"""Cells, seeds, executors, checkpoints, provenance and results on disk."""

from .cells import Cell, Result
from .lock import locked
from .provenance import code_version
from .results import (
    CELLS,
    changed_files,
    read_run,
    read_table,
    results_folder,
    verdicts_table,
    write_cells,
    write_text,
    write_verdicts,
    write_whole,
)
from .run import Run, plan, run_study
from .study import Study, find_study, load_study, study_files

__all__ = [
    "CELLS",
    "Cell",
    "Result",
    "Run",
    "Study",
    "changed_files",
    "code_version",
    "find_study",
    "load_study",
    "locked",
    "plan",
    "read_run",
    "read_table",
    "results_folder",
    "run_study",
    "study_files",
    "verdicts_table",
    "write_cells",
    "write_text",
    "write_verdicts",
    "write_whole",
]
