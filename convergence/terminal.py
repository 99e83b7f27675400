"""Text for terminals that cannot show every character: ASCII instead of an error."""

from __future__ import annotations

import codecs
import sys
import unicodedata

# what Unicode's own decompositions do not give
_ASCII = {
    "ħ": "hbar ", "∂": "d", "Δ": "Laplace ", "∇": "grad ", "∞": "inf", "→": "->", "←": "<-",
    "≤": "<=", "≥": ">=", "≠": "!=", "∝": "~", "∫": "int ", "∑": "sum ", "√": "sqrt ", "⟨": "<",
    "⟩": ">", "·": ".", "×": "x", "±": "+-", "⊥": "_|_", "⊙": "o", "∈": "in", "✓": "+", "✗": "x",
    "━": "=", "╸": "-", "╺": "-", "’": "'", "”": "''", "“": '"', "–": "-", "—": "-", "…": "...",
    "⁻": "^-", "₋": "_-", "‖": "||", "∏": "prod ", "⊗": "(x)",
}  # fmt: skip


def _spelled(letter: str) -> str:
    """A Greek letter's name, with its own first letter."""
    name = unicodedata.name(letter).split()[-1].replace("LAMDA", "LAMBDA").lower()
    return name.capitalize() if letter.isupper() else name


_GREEK = {
    chr(code): _spelled(chr(code)) + " "
    for code in range(0x391, 0x3CA)
    if unicodedata.name(chr(code), "").startswith("GREEK")
}


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(map(_ascii, text)), error.end


def _ascii(character: str) -> str:
    if character in _ASCII:
        return _ASCII[character]
    kind = unicodedata.decomposition(character)
    base = unicodedata.normalize("NFKD", character).replace("\u2044", "/")
    plain = "".join(_GREEK.get(c, _ASCII.get(c, c)) for c in base)
    plain = plain.encode("ascii", "ignore").decode() or "?"
    return {"<super>": "^", "<sub>": "_"}.get(kind.split(" ")[0], "") + plain


def show_anything() -> None:
    """Let standard output and error write what their encoding lacks in ASCII."""
    codecs.register_error("plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="plain")
