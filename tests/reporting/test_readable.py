"""LaTeX statements as text, and statements that would break tables."""

import pytest

from convergence.reporting.readable import readable
from convergence.reporting.tables import _latex, _markdown


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (r"$S^1$, von Mises: $\Phi = -\hbar\log\rho$", "S¹, von Mises: Φ = -ħ log ρ"),
        (r"$\sum\rho_k\mathcal{C}_k f/\sum\rho_k$", "∑ρₖ𝒞ₖ f/∑ρₖ"),
        (r"$\gamma = \frac{3}{2}$: $\beta^{\gamma - 1}$", "γ = 3/2: β^(γ - 1)"),
        (r"$\partial_n f\, e^{-s^2}$", "∂ₙ f e^(-s^2)"),
        (r"$\dot S = 4\hbar c^2$", "Ṡ = 4ħ c²"),
        ("plain text", "plain text"),
    ],
)
def test_statements_are_readable(statement, text):
    assert readable(statement) == text


def test_markup_does_not_reach_the_tables():
    evil = "a | b\n<script> <!-- claims: end --> $|x| < 1$"
    cell = _markdown(evil)
    assert cell == (r"a \| b &lt;script&gt; &lt;!-- claims: end --&gt; $\vert x\vert  \lt  1$")
    assert _latex(r"S4 & 100 % \input{x} $\include{y}$") == (
        r"S4 \& 100\,\% \string\input{x} $\string\include{y}$"
    )
