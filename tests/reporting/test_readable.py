"""LaTeX statements as text, and statements that would break tables."""

import re
from dataclasses import replace

import pytest

from convergence.reporting import ledger
from convergence.reporting.readable import readable
from convergence.reporting.tables import LEDGER, _latex, _markdown, latex_table, markdown_table
from convergence.running import load_study, study_files

from .test_tables import ROW


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (r"$S^1$, von Mises: $\Phi = -\hbar\log\rho$", "S¹, von Mises: Φ = -ħ log ρ"),
        (r"$\sum\rho_k\mathcal{C}_k f/\sum\rho_k$", "∑ρₖ𝒞ₖ f/∑ρₖ"),
        (r"$\gamma = \frac{3}{2}$: $\beta^{\gamma - 1}$", "γ = 3/2: β^(γ - 1)"),
        (r"$\partial_n f\, e^{-s^2}$", "∂ₙ f e^(-s²)"),
        (r"$\dot S = 4\hbar c^2$", "Ṡ = 4ħc²"),
        (r"$\rho = q/\sqrt{\det\mathcal{G}}$", "ρ = q/√(det 𝒢)"),
        (
            r"$\langle f, \mathcal{C}f\rangle_\pi \to \hbar\int \vert df\vert^2 d\pi + 1$",
            "⟨f, 𝒞f⟩_π → ħ∫|df|² dπ + 1",
        ),
        (r"$-\frac{\hbar}{2}(f_1'' + f_2'')$", "-ħ/2 (f₁'' + f₂'')"),
        (r"$\frac{a + b}{cd}$, $\sqrt{\pi\beta}$", "(a + b)/(cd), √(πβ)"),
        (r"$\pi - \bar{A}1 \geq 0$, $e^{-(d^\rightarrow)}$", "π - Ā1 ≥ 0, e^(-(d^→))"),
        (r"$\lambda \to \{0, \frac{9}{4}\}$", "λ → {0, 9/4}"),
        (r"$\unknown x + \mathrm{vol}$ costs $5", "unknown x + vol costs 5"),
        ("plain text", "plain text"),
    ],
)
def test_statements_are_readable(statement, text):
    assert readable(statement) == text


def test_every_statement_of_the_suite_is_readable():
    """No backslash, dollar or brace of LaTeX is left, and no command is dropped with its name."""
    for path in study_files().values():
        for claim in load_study(path).claims:
            text = readable(claim.statement)
            assert not re.search(r"[\\$]|[_^]\{", text), text
            assert ("det" in claim.statement) == ("det" in text)


EVIL = "a | b\n<script> <!-- claims: end --> [/b] *c* `d` $|x| < 1$ 5$"


def test_a_statement_stays_within_its_cell_of_a_markdown_table():
    cell = _markdown(EVIL)
    assert cell == (
        "a &#124; b &lt;script&gt; &lt;!-- claims: end --&gt; &#91;/b&#93; &#42;c&#42; "
        r"&#96;d&#96; $\vert x\vert  \lt  1$ 5&#36;"
    )
    table = markdown_table([replace(ROW, statement=EVIL)])
    assert len(table.splitlines()) == 3
    assert len({line.count("|") for line in table.splitlines()}) == 1
    before, after = f"a\n{LEDGER[0]}\n", f"{LEDGER[1]}\nb\n"
    text = ledger(before + after, {EVIL: table})
    assert text.count(LEDGER[0]) == text.count(LEDGER[1]) == 1
    assert ledger(text, {"A study": "| x |\n"}) == ledger(before + after, {"A study": "| x |\n"})


@pytest.mark.parametrize(
    ("statement", "latex"),
    [
        (r"S4 & 100 % of \input{x}", r"S4 \& 100\,\% of \textbackslash{}input\{x\}"),
        ("a_b ~ c^d {e} 5$", r"a\_b \textasciitilde{} c\textasciicircum{}d \{e\} 5\$"),
        (r"$\include{y}$", r"\$\textbackslash{}include\{y\}\$"),
        ("$^^5cinput{x}$", r"\$\textasciicircum{}\textasciicircum{}5cinput\{x\}\$"),
        (r"$a \\ b$", r"\$a \textbackslash{}\textbackslash{} b\$"),
        ("$a}b{$", r"\$a\}b\{\$"),
        (r"$x % y$, $a & \& b$", r"$x \% y$, $a \& \& b$"),
        (r"$\frac{1}{2} < \|f\|$", r"$\frac{1}{2} < \|f\|$"),
        ("-0.285(24)", "$-$0.285(24)"),
    ],
)
def test_latex_takes_nothing_but_formulas_as_it_stands(statement, latex):
    assert _latex(statement) == latex
    assert latex in latex_table(statement, [ROW])


def test_statements_of_the_suite_are_set_as_written():
    """What escapes is for strangers: our own formulas reach both tables unchanged."""
    for path in study_files().values():
        for claim in load_study(path).claims:
            line = " ".join(claim.statement.split())
            assert _latex(line) == line
            assert re.sub(r"\\[lg]t  ?", "", _markdown(line)) == re.sub("[<>] ?", "", line)
