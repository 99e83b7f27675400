"""Cells, seeds, executors, checkpoints, provenance and results on disk."""

from .cells import Cell, Result
from .results import read_run, results_folder, verdicts_table, write_results, write_whole
from .run import Run, plan, run_study
from .study import Study, find_study, load_study, study_files

__all__ = [
    "Cell",
    "Result",
    "Run",
    "Study",
    "find_study",
    "load_study",
    "plan",
    "read_run",
    "results_folder",
    "run_study",
    "study_files",
    "verdicts_table",
    "write_results",
    "write_whole",
]
