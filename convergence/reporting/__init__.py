"""Figures, LaTeX and Markdown tables, the claims ledger."""

from .report import (
    audit,
    ledger_sections,
    other_code,
    publish,
    published,
    read_published,
    write_report,
)
from .summary import Summary, summarise
from .tables import LEDGER, ledger, write_ledger

__all__ = [
    "LEDGER",
    "Summary",
    "audit",
    "ledger",
    "ledger_sections",
    "other_code",
    "publish",
    "published",
    "read_published",
    "summarise",
    "write_ledger",
    "write_report",
]
