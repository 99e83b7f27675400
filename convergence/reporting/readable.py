"""Statements in LaTeX as one line of plain text."""

from __future__ import annotations

import re
from functools import cache

_RAISED = dict(zip("0123456789+-=()nik", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵏ", strict=True))
_LOWERED = dict(zip("0123456789+-=()ijkmnptx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ᵢⱼₖₘₙₚₜₓ", strict=True))
_FRACTIONS = {("1", "2"): "½", ("1", "3"): "⅓", ("1", "4"): "¼", ("3", "4"): "¾"}
_BRACED = r"\{((?:[^{}]|\{[^{}]*\})*)\}"


def readable(statement: str) -> str:
    """A statement with LaTeX between dollars as Unicode text.

    Powers and indices are small letters where Unicode has them and (…) else; fractions a/b.

    Parameters
    ----------
    statement : str

    Returns
    -------
    str
    """
    parts = statement.split("$")
    parts[1::2] = [_formula(part) for part in parts[1::2]]
    return " ".join("".join(parts).split())


def _formula(tex: str) -> str:
    tex = re.sub(rf"\\[dt]?frac{_BRACED}{_BRACED}", _fraction, tex)
    for mark, letters in (("^", _RAISED), ("_", _LOWERED)):
        pattern = rf"{re.escape(mark)}(?:{_BRACED}|([0-9A-Za-z]))"
        tex = re.sub(pattern, lambda m, k=mark, z=letters: _shifted(m, k, z), tex)  # type: ignore[misc]
    tex = re.sub(r"(?<=[\w)])\\(log|exp|sin|cos|tan|erf)\b", r" \\\1", tex)
    tex = re.sub(r"\\(log|exp|sin|cos|tan|erf)\b *(?=[A-Za-z\\])", r"\\\1{} ", tex)
    tex = re.sub(
        r"(\\(?!dot|bar|hat)[A-Za-z]+) +(?=\S)", r"\1{} ", tex
    )  # a macro eats the space behind it
    return _converter().latex_to_text(tex)


def _fraction(match: re.Match[str]) -> str:
    above, below = match.groups()
    if (above, below) in _FRACTIONS:
        return _FRACTIONS[above, below]
    return f"{_grouped(above)}/{_grouped(below)}"


def _grouped(tex: str) -> str:
    """In brackets where it is a sum or product of several things."""
    return tex if re.fullmatch(r"\\?[A-Za-z0-9]+(\([A-Za-z]+\))?", tex) else f"({tex})"


def _shifted(match: re.Match[str], mark: str, letters: dict[str, str]) -> str:
    inside = match[1] if match[1] is not None else match[2]
    compact = inside.replace(" ", "")
    if compact and all(letter in letters for letter in compact):
        return "{}" + "".join(letters[letter] for letter in compact)  # ends a macro's name
    single = re.fullmatch(r"\\?[A-Za-z]+|[0-9]+", inside)
    return f"{mark}{{{inside}}}" if single else f"{mark}({inside})"


@cache
def _converter():  # type: ignore[no-untyped-def]
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(math_mode="text")
