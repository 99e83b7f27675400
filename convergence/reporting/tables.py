"""LaTeX (booktabs) and Markdown tables of a study, and the claims ledger in a README."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from ..errors import StudyError
from ..running import write_text
from .summary import Summary

LEDGER = ("<!-- claims: begin -->", "<!-- claims: end -->")

_COLUMNS = {
    "order": "order in $1/\\beta$",
    "slope": "slope",
    "predicted_slope": "predicted",
    "mean": "mean",
    "variance": "variance",
    "deviation": "off curve",
    "residual": "residual",
    "faults": "faults",
    "sees": "sees",
    "sees_parts": "of parts",
    "outcome": "verdict",
}


def _frame(summaries: list[Summary]) -> pd.DataFrame:
    rows = [
        {"claim": s.statement, **{title: str(getattr(s, key)) for key, title in _COLUMNS.items()}}
        for s in summaries
    ]
    frame = pd.DataFrame(rows)
    return frame.loc[:, (frame != "-").any()]  # without what no claim of the study has


CAPTION = (
    "Order: of the bias in $1/\\beta$. Slope: of the error in $N$ along $\\beta(N)$, beside that "
    "of the predicted curve. Mean and variance: of the standardised errors. Off curve: largest "
    "relative distance of the measured error from the parameter-free prediction. Residual: "
    "largest of an exact identity. Faults: wrong references rejected. Sees: smallest relative "
    "error of the operator rejected with probability 0.99, by its fitted factor; of parts: the "
    "same of the drift, or of the curvature's part of $\\Delta$, alone, all functions together. Of "
    "several test functions the one that fits worst, or sees least, is shown; brackets hold one "
    "standard error in units of the last digits."
)


def latex_table(title: str, summaries: list[Summary]) -> str:
    """A booktabs table environment."""
    frame = _frame(summaries)
    body = "\n".join(
        "    " + " & ".join(_latex(cell) for cell in row) + r" \\"
        for row in frame.itertuples(index=False)
    )
    head = " & ".join(frame.columns)
    return (
        "% needs \\usepackage{booktabs}\n"
        "\\begin{table*}\n  \\centering\\footnotesize\n"
        f"  \\caption{{{_latex(title)}. {CAPTION}}}\n"
        f"  \\begin{{tabular}}{{@{{}}l{'r' * (len(frame.columns) - 2)}l@{{}}}}\n    \\toprule\n"
        f"    {head} \\\\\n    \\midrule\n{body}\n    \\bottomrule\n"
        "  \\end{tabular}\n\\end{table*}\n"
    )


_TEXT_TO_LATEX = str.maketrans(
    {
        **{character: rf"\{character}" for character in "&%#_{}$"},
        "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    }
)  # fmt: skip
_TEXT_TO_MARKDOWN = str.maketrans(
    {**{c: f"&#{ord(c)};" for c in "|$\\*`[]"}, "<": "&lt;", ">": "&gt;"}
)
# of what mathematics may hold: no command that reads, writes, defines or ends something
_UNSAFE = re.compile(
    r"\\(input|include|write|read|open|close|immediate|def|edef|gdef|xdef|let|futurelet|catcode"
    r"|csname|special|newcommand|renewcommand|usepackage|verb|begin|end|item|par|cr)(?![a-z])"
    r"|\\[a-zA-Z]*input|\^\^|\\\\|\\$"
)


def _parts(cell: str) -> list[tuple[bool, str]]:
    """Text and formulas of one line, as (whether a formula, what); what is none counts as text."""
    pieces = " ".join(cell.split()).split("$")
    if len(pieces) % 2 == 0:  # a dollar without its other one is a dollar
        pieces[-2:] = ["$".join(pieces[-2:])]
    return [
        (True, piece) if k % 2 and _is_safe(piece) else (False, f"${piece}$" if k % 2 else piece)
        for k, piece in enumerate(pieces)
    ]


def _is_safe(formula: str) -> bool:
    """Whether its braces are balanced and it can do nothing but set itself."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", formula):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0 and bool(formula.strip()) and not _UNSAFE.search(formula)


def _latex(cell: str) -> str:
    """A cell for LaTeX, of which mathematics alone is taken as it stands; a leading minus set."""
    found = "".join(
        "$" + re.sub(r"(?<!\\)([&%#])", r"\\\1", part) + "$"
        if is_formula
        else part.translate(_TEXT_TO_LATEX).replace(r" \%", r"\,\%")
        for is_formula, part in _parts(cell)
    )
    return re.sub(r"^-(?=\d)", r"$-$", found)


def _markdown(cell: str) -> str:
    """One cell of a GitHub table: no bar ends it, no tag, comment or link opens in it."""
    return "".join(
        f"${_formula(part)}$" if is_formula else part.translate(_TEXT_TO_MARKDOWN)
        for is_formula, part in _parts(cell)
    )


def _formula(tex: str) -> str:
    for sign, command in ((r"\|", r"\Vert "), ("|", r"\vert "), ("<", r"\lt "), (">", r"\gt ")):
        tex = tex.replace(sign, command)
    return tex


def markdown_table(summaries: list[Summary]) -> str:
    """A GitHub table; mathematics between dollars."""
    frame = _frame(summaries)
    lines = [" | ".join(frame.columns), " | ".join(["---"] * len(frame.columns))]
    lines += [" | ".join(map(_markdown, row)) for row in frame.itertuples(index=False)]
    return "".join(f"| {line} |\n" for line in lines)


def write_ledger(readme: Path, sections: dict[str, str]) -> None:
    """Put the tables of all studies between the README's markers.

    Parameters
    ----------
    readme : Path
    sections : dict
        Title to Markdown table.

    Raises
    ------
    StudyError
        When the README has no markers.
    """
    write_text(readme, ledger(readme.read_text(encoding="utf-8"), sections))


def ledger(text: str, sections: dict[str, str]) -> str:
    """The README's text with today's tables between the markers."""
    begin, end = LEDGER
    if begin not in text or end not in text:
        raise StudyError(f"the README needs a line {begin} and a line {end} for its table")
    tables = "\n".join(f"**{_markdown(title)}**\n\n{table}" for title, table in sections.items())
    before, after = text.split(begin, 1)[0], text.rsplit(end, 1)[1]
    return f"{before}{begin}\n\n{tables}\n{end}{after}"
