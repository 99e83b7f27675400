"""SymPy expressions in named coordinates: parsed with care, compiled for arrays of points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TypeAlias

import numpy as np
import sympy
from sympy.core.function import AppliedUndef

from ..arrays import real_array
from ..errors import InvalidInputError

Expression: TypeAlias = str | sympy.Expr
Compiled: TypeAlias = Callable[[np.ndarray], np.ndarray]


def symbol(name: str) -> sympy.Symbol:
    """The real symbol of a coordinate."""
    return sympy.Symbol(name, real=True)


def improper(expression: sympy.Expr) -> bool:
    """Whether NaN or an infinity stands in it."""
    return expression.has(sympy.nan, sympy.oo, -sympy.oo, sympy.zoo)


def parse(expression: Expression, known: Mapping[str, sympy.Expr], what: str) -> sympy.Expr:
    """The expression with every known name put in, and floats kept to the last bit.

    Parameters
    ----------
    expression : str or SymPy expression
    known : mapping from name to expression
        The only names that may occur.
    what : str
        For the error message, for example ``"the embedding"``.

    Raises
    ------
    InvalidInputError
        When it cannot be read, or contains other names.
    """
    try:
        parsed = sympy.sympify(expression, locals=dict(known))
    except (sympy.SympifyError, SyntaxError, TypeError, AttributeError) as error:
        raise InvalidInputError(f"{what}: {expression!r} is no expression ({error})") from error
    if not isinstance(parsed, sympy.Expr) or improper(parsed):
        raise InvalidInputError(f"{what}: {expression!r} is no expression")
    own = {s: known[s.name] for s in parsed.free_symbols if getattr(s, "name", "") in known}
    left = parsed.free_symbols - set(own) - set().union(*(e.free_symbols for e in known.values()))
    unknown = sorted(str(s) for s in left | parsed.atoms(AppliedUndef))
    if unknown:
        raise InvalidInputError(
            f"{what}: {expression!r} contains {', '.join(unknown)}; "
            f"only {', '.join(known)} and functions of SymPy may occur"
        )
    # symbols of the same name count as the same, whatever was assumed of them
    parsed = parsed.subs(own, simultaneous=True)
    exact = {number: sympy.Float(number, 20) for number in parsed.atoms(sympy.Float)}
    return parsed.xreplace(exact)


def compiled(names: Sequence[str], expressions: Sequence[sympy.Expr]) -> Compiled:
    """The function from points (..., d) to the values (..., number of expressions)."""
    function = sympy.lambdify([symbol(n) for n in names], expressions, ["scipy", "numpy"], cse=True)

    def evaluate(x: np.ndarray) -> np.ndarray:
        x = real_array("points", x, finite=False)
        if x.shape[-1:] != (len(names),):
            raise InvalidInputError(
                f"points need {len(names)} coordinates ({', '.join(names)}), not shape {x.shape}"
            )
        found = np.empty((len(expressions), *x.shape[:-1]))
        with np.errstate(all="ignore"):  # the caller judges what is not finite
            for i, column in enumerate(function(*np.moveaxis(x, -1, 0))):
                if np.iscomplexobj(column):
                    raise InvalidInputError(f"{expressions[i]} is complex: give a real expression")
                found[i] = column
        return np.moveaxis(found, 0, -1)

    return evaluate


class PlainData:
    """A frozen dataclass that is pickled without what it has computed and cached."""

    def __getstate__(self) -> dict:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore


@dataclass(frozen=True)
class ChartFunction(PlainData):
    """A test function of a chart's coordinates, with exact coordinate derivatives.

    Made by `Chart.function`; points are rows of coordinates.

    Parameters
    ----------
    names : tuple of str
        The coordinates.
    expression : sympy.Expr
        In the symbols of the coordinates.
    label : str
        LaTeX, without dollar signs.
    """

    names: tuple[str, ...]
    expression: sympy.Expr
    label: str

    @cached_property
    def _values(self) -> Compiled:
        return compiled(self.names, [self.expression])

    @cached_property
    def _slopes(self) -> list[sympy.Expr]:
        return [self.expression.diff(symbol(name)) for name in self.names]

    @cached_property
    def _gradient(self) -> Compiled:
        return compiled(self.names, self._slopes)

    @cached_property
    def _hessian(self) -> Compiled:
        second = [slope.diff(symbol(name)) for slope in self._slopes for name in self.names]
        return compiled(self.names, second)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """f at points of shape (..., d)."""
        return self._values(x)[..., 0]

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """The coordinate derivatives ∂_a f, shape (..., d)."""
        return self._gradient(x)

    def hessian(self, x: np.ndarray) -> np.ndarray:
        """The second coordinate derivatives ∂_a ∂_b f, shape (..., d, d)."""
        d = len(self.names)
        return self._hessian(x).reshape(*np.shape(x)[:-1], d, d)
