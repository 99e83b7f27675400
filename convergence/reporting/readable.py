"""Statements in LaTeX as one line of plain text."""

from __future__ import annotations

import re
import unicodedata

_SYMBOLS = {
    "hbar": "ħ", "ell": "ℓ", "partial": "∂", "nabla": "∇", "infty": "∞",
    "to": "→", "rightarrow": "→", "leftarrow": "←", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥",
    "neq": "≠", "ne": "≠", "lt": "<", "gt": ">", "approx": "≈", "sim": "~", "propto": "∝",
    "in": "∈", "times": "×", "cdot": "·", "odot": "⊙", "otimes": "⊗", "pm": "±", "perp": "⊥",
    "int": "∫", "iint": "∬", "sum": "∑", "prod": "∏", "langle": "⟨", "rangle": "⟩", "vert": "|",
    "Vert": "‖", "ldots": "…", "dots": "…", "quad": " ", "varepsilon": "ε", "varphi": "φ",
    "left": "", "right": "", ",": " ", ";": " ", ":": " ", " ": " ", "!": "", "|": "‖",
}  # fmt: skip
_RELATIONS = set("→←≤≥≠≈∝∈⊙⊗")
_ACCENTS = {"bar": "\u0304", "dot": "\u0307", "hat": "\u0302", "tilde": "\u0303", "vec": "\u20d7"}
_ALPHABETS = {"mathcal": "MATHEMATICAL SCRIPT", "mathbb": "DOUBLE-STRUCK"}
_RAISED = dict(zip("0123456789+-=()nikT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵏᵀ", strict=True))
_LOWERED = dict(zip("0123456789+-=()aeijklmnptx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₗₘₙₚₜₓ", strict=True))
_FRACTIONS = {("1", "2"): "½", ("1", "3"): "⅓", ("1", "4"): "¼", ("3", "4"): "¾"}
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_OPERATORS = set("=+-<>")
_FENCES = {"\\left", "\\right", "\\vert", "\\rangle"}


def readable(statement: str) -> str:
    """A statement with LaTeX between dollars as Unicode text.

    Powers and indices are small letters where Unicode has them and ^(…), _(…) else; fractions are
    a/b. A command that is not known here is shown by its name, so that nothing is lost.

    Parameters
    ----------
    statement : str

    Returns
    -------
    str
    """
    parts = statement.split("$")
    parts[1::2] = [_Formula(part).text() for part in parts[1::2]]
    return " ".join("".join(parts).split())


class _Formula:
    """A formula, read from left to right."""

    def __init__(self, tex: str) -> None:
        tokens = _TOKEN.findall(tex)
        self.tokens: list[str] = []  # the next one last
        for token, behind in zip(tokens[::-1], ["", *tokens[:0:-1]], strict=True):
            # a space after a command ends its name only; before an operator it is meant
            if re.fullmatch(r"\\[A-Za-z]+", token) and behind.isspace():
                after = self.tokens[-2:-1]
                if after and after[0] not in _OPERATORS:
                    self.tokens.pop()
            self.tokens.append(token)

    def text(self, closing: str = "") -> str:
        """What stands before a closing token, or before the end."""
        found = ""
        while self.tokens:
            token = self.tokens.pop()
            if token == closing:
                break
            found += self._one(token, found)
        return found

    def _one(self, token: str, before: str = "") -> str:
        """A token with its arguments."""
        if token == "{":
            return self.text("}")
        if token in ("^", "_"):
            inside = self._argument()
            return _small(inside, token, _RAISED if token == "^" else _LOWERED)
        if not token.startswith("\\"):
            return token
        return self._command(token[1:], before)

    def _argument(self) -> str:
        """The next token or group; spaces before it do not count."""
        while self.tokens and self.tokens[-1] == " ":
            self.tokens.pop()
        return self._one(self.tokens.pop()) if self.tokens else ""

    def _command(self, name: str, before: str) -> str:
        if name in ("frac", "dfrac", "tfrac"):
            above, below = self._argument(), self._argument()
            if (above, below) in _FRACTIONS:
                return _FRACTIONS[above, below]
            apart = " " if self._letter_ahead() or self.tokens[-1:] == ["("] else ""
            return f"{_grouped(above)}/{_grouped(below)}{apart}"
        if name == "sqrt":
            return f"√{_grouped(self._argument())}"
        if name in _ACCENTS:
            return unicodedata.normalize("NFC", self._argument() + _ACCENTS[name])
        if name in _ALPHABETS:
            return "".join(_letter(c, _ALPHABETS[name]) for c in self._argument())
        if name in ("mathrm", "mathbf", "text", "operatorname"):
            return self._named(self._argument(), before)
        if name in _SYMBOLS:
            symbol = _SYMBOLS[name]
            return f" {symbol} " if symbol in _RELATIONS else symbol
        greek = _greek(name)
        if greek or not name.isalpha():
            return greek or name
        return self._named(name, before)

    def _named(self, name: str, before: str) -> str:
        """A name like log, apart from letters before and behind it."""
        start = " " if before[-1:].isalnum() or before[-1:] in set(")⟩|") else ""
        return f"{start}{name}{' ' if self._letter_ahead() else ''}"

    def _letter_ahead(self) -> bool:
        ahead = self.tokens[-1] if self.tokens else ""
        command = ahead.startswith("\\") and ahead[1:].isalpha() and ahead not in _FENCES
        return command or ahead.isalnum()


def _greek(name: str) -> str:
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    spelled = "LAMDA" if name.lower() == "lambda" else name.upper()
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {spelled}")
    except KeyError:
        return ""


def _letter(letter: str, alphabet: str) -> str:
    """A letter of another alphabet; some of Unicode's have names of their own."""
    for kind in (alphabet, alphabet.removeprefix("MATHEMATICAL "), f"MATHEMATICAL {alphabet}"):
        try:
            return unicodedata.lookup(f"{kind} CAPITAL {letter}")
        except KeyError:
            continue
    return letter


def _small(inside: str, mark: str, letters: dict[str, str]) -> str:
    """Above or below the line; a ′ or * stands as it is."""
    compact = inside.replace(" ", "")
    if compact and all(letter in letters for letter in compact):
        return "".join(letters[letter] for letter in compact)
    return mark + (compact if len(compact) == 1 else f"({inside.strip()})")


def _grouped(text: str) -> str:
    """In brackets where it is a sum or product of several things."""
    single = r"\d+|\w[₀-₉ₐ-ₜ]*|\w\(\w+\)"
    return text if re.fullmatch(single, text) else f"({text})"
