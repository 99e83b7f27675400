"""Numbers to matching digits, tables, and the README's ledger."""

import numpy as np
import pytest

from convergence.errors import StudyError
from convergence.reporting import ledger
from convergence.reporting.rounding import percent, with_uncertainty
from convergence.reporting.summary import Summary
from convergence.reporting.tables import latex_table, markdown_table, write_ledger
from convergence.verification import Outcome

ROW = Summary(
    id="circle", statement=r"$S^1$", largest_n=1000, order="1.00000(53)", slope="-0.285(24)",
    predicted_slope="-0.2854", mean="0.039(45)", variance="1.032(66)", deviation="5.3 %",
    residual="-", faults="5/5", sees="2.1 %", sees_parts="-", outcome=Outcome.PASS,
    checks={"bias": Outcome.PASS},
)  # fmt: skip


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (-0.28571, 0.0031, "-0.2857(31)"),
        (1.0, 0.00053, "1.00000(53)"),
        (12.3456, 0.996, "12.3(10)"),
        (12.3456, 0.0996, "12.35(10)"),
        (3141.59, 27.0, "3142(27)"),
        (0.5, 0.0, "0.5"),
        (np.nan, 1.0, "-"),
    ],
)
def test_uncertainties(value, error, text):
    assert with_uncertainty(value, error) == text


def test_percent():
    for value, text in (
        (0.0213, "2.1"),
        (0.05, "5"),
        (0.999, "100"),
        (1.29, "130"),
        (1e-6, "0.0001"),
    ):
        assert percent(value) == f"{text} %"
    assert percent(0.0) == "0 %"
    assert percent(np.nan) == "-"


def test_markdown_and_latex():
    table = markdown_table([ROW])
    head, rule, row = table.splitlines()
    assert head.count("|") == rule.count("|") == row.count("|") == 11
    assert "5/5" in row
    latex = latex_table("A study", [ROW])
    for part in (r"\toprule", r"\midrule", r"\bottomrule", "$-$0.285(24)", r"5.3\,\%", "$S^1$"):
        assert part in latex
    assert latex.count("&") == 2 * 9
    assert r"\caption{S4 \& co: 100\% mine." in latex_table("S4 & co: 100% mine", [ROW])


def test_ledger(tmp_path):
    text = "a\n<!-- claims: begin -->\nold\n<!-- claims: end -->\nb\n"
    new = ledger(text, {"A study": "| x |\n"})
    assert new == "a\n<!-- claims: begin -->\n\n**A study**\n\n| x |\n\n<!-- claims: end -->\nb\n"
    assert ledger(new, {"A study": "| x |\n"}) == new
    readme = tmp_path / "README.md"
    readme.write_text(text)
    write_ledger(readme, {"A study": "| x |\n"})
    assert readme.read_text() == new
    with pytest.raises(StudyError, match="claims: begin"):
        ledger("nothing", {})
