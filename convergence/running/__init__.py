"""Cells, seeds, executors, checkpoints, provenance and results on disk."""

from .cells import Cell, Result
from .results import (
    changed_cells,
    read_run,
    results_folder,
    verdicts_table,
    write_cells,
    write_verdicts,
    write_whole,
)
from .run import Run, plan, run_study
from .study import Study, find_study, load_study, study_files

__all__ = [
    "Cell",
    "Result",
    "Run",
    "Study",
    "changed_cells",
    "find_study",
    "load_study",
    "plan",
    "read_run",
    "results_folder",
    "run_study",
    "study_files",
    "verdicts_table",
    "write_cells",
    "write_verdicts",
    "write_whole",
]
