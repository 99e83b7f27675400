"""Figures, LaTeX and Markdown tables, the claims ledger."""

from .report import (
    compare_verdicts,
    ledger_sections,
    published,
    read_published,
    write_report,
)
from .summary import Summary, summarise
from .tables import ledger, write_ledger

__all__ = [
    "Summary",
    "compare_verdicts",
    "ledger",
    "ledger_sections",
    "published",
    "read_published",
    "summarise",
    "write_ledger",
    "write_report",
]
