"""Per-point metrics G(x): scores that measure every pair with the metric at its own points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from ..arrays import real_array
from ..errors import InvalidInputError, require_flag
from ..spaces.expressions import improper

Expressions = tuple[tuple[str, ...], ...]
"""A matrix of SymPy expressions in the coordinates u0, u1, ..., as text."""


def metric_coordinates(dim: int) -> tuple[sympy.Symbol, ...]:
    """The symbols u0, u1, ... of the coordinates in which a metric is given."""
    return sympy.symbols(f"u:{dim}", real=True)


@dataclass(frozen=True)
class PerPointMetric:
    """The kernel K(x, y) = exp(s) of Riemannian attention, row-normalised.

    With the difference of coordinates δ = y - x and a metric G that varies from point to point,

        one-sided     s(x, y) = -β δᵀ G(x) δ
        symmetrised   s(x, y) = -β δᵀ ½(G(x) + G(y)) δ

    The two have different limits (see `convergence.limits.generator`). A call (queries, keys, β)
    gives the scores, so that an instance can be summed by `convergence.kernels.score_sums`. They
    are no Gram matrix q·k of vectors as short as the points.

    Parameters
    ----------
    metric : tuple of tuples of str
        The entries of G, shape (d, d): SymPy expressions in the coordinates u0, u1, ..., for
        example ``(("3/2 + sin(u0)/2",),)``.
    factor : tuple of tuples of str
        Instead of `metric`: the entries of U(x), shape (d, r), of G = I + U Uᵀ. Scores are then
        |δ|² + |Uᵀδ|², and G is never formed.
    symmetrised : bool
    periodic : bool
        True: points (..., 2d) lie on a circle or a flat torus, coordinates are their d angles and
        δ is wrapped to [-π, π]. False: points (..., d) are the coordinates themselves.

    Raises
    ------
    InvalidInputError
        When not exactly one of `metric` and `factor` is given, its shape does not fit, G is not
        symmetric, or an entry is no expression in the coordinates. A call raises it for points
        of a wrong dimension and for a metric that is not positive there.

    References
    ----------
    Candanedo, Attention Geometry, arXiv:2604.09560.
    """

    metric: Expressions = ()
    factor: Expressions = ()
    symmetrised: bool = False
    periodic: bool = True

    def __post_init__(self) -> None:
        require_flag("symmetrised", self.symmetrised)
        require_flag("periodic", self.periodic)
        if bool(self.metric) == bool(self.factor):
            raise InvalidInputError("a per-point metric needs either metric=... or factor=...")
        columns = self.dim if self.metric else len(self.factor[0])
        if not columns or any(len(row) != columns for row in self.metric or self.factor):
            raise InvalidInputError(
                "metric must be a square matrix of expressions (d, d) and factor a matrix (d, r)"
            )
        difference = self.matrix - self.matrix.T
        if self.metric and not difference.applyfunc(sympy.simplify).is_zero_matrix:
            raise InvalidInputError("the metric must be a symmetric matrix")

    @property
    def dim(self) -> int:
        """The number d of coordinates."""
        return len(self.metric or self.factor)

    @property
    def matrix(self) -> sympy.ImmutableMatrix:
        """G as a SymPy matrix (d, d) in the symbols of `metric_coordinates`."""
        given = symbolic(self.metric or self.factor)
        return given if self.metric else sympy.eye(self.dim).as_immutable() + given * given.T

    @property
    def inverse(self) -> Expressions:
        """The entries of G⁻¹; for G = I + U Uᵀ by Woodbury, I - U (I + UᵀU)⁻¹ Uᵀ."""
        given = symbolic(self.metric or self.factor)
        if self.metric:
            inverse = given.inv()
        else:
            small = sympy.eye(given.shape[1]) + given.T * given
            inverse = sympy.eye(self.dim) - given * small.inv() * given.T
        return tuple(tuple(str(entry) for entry in row) for row in inverse.tolist())

    def coordinates(self, points: Any) -> Any:
        """The coordinates (n, d) of points (n, 2d) on circles, or of points (n, d)."""
        points = real_array("points", points)
        needed = (2 if self.periodic else 1) * self.dim
        if points.ndim != 2 or points.shape[1] != needed:
            raise InvalidInputError(
                f"a per-point metric in {self.dim} {'angles' if self.periodic else 'coordinates'} "
                f"needs points of shape (n, {needed}), not {points.shape}"
            )
        return np.arctan2(points[:, 1::2], points[:, ::2]) if self.periodic else points

    def __call__(self, queries: Any, keys: Any, beta: float) -> Any:
        """s of every pair, shape (len(queries), len(keys))."""
        x, y = self.coordinates(queries), self.coordinates(keys)
        differences = []
        for a in range(self.dim):
            delta = y[:, a][None, :] - x[:, a][:, None]
            if self.periodic:
                delta -= 2 * np.pi * np.rint(delta / (2 * np.pi))
            differences.append(delta)
        square = self._square(self._entries(x)[:, :, :, None], differences)
        if self.symmetrised:
            square = 0.5 * (square + self._square(self._entries(y)[:, :, None, :], differences))
        if self.factor:
            square = sum((delta * delta for delta in differences), square)
        if not np.min(square, initial=0.0) >= 0:  # NaN too
            raise InvalidInputError(
                "the metric is not positive, or not finite, at some points: choose expressions "
                "for a positive definite G on the whole space"
            )
        return -beta * square

    def _entries(self, coordinates: Any) -> Any:
        """The entries of G or U at points, shape (d, columns, n)."""
        expressions = self.metric or self.factor
        entries = _compiled(expressions)(*coordinates.T)
        found = np.stack([np.broadcast_to(e, coordinates.shape[:1]) for e in entries])
        found = real_array("entries of the metric", found, finite=False)
        return found.reshape(len(expressions), len(expressions[0]), -1)

    def _square(self, entries: Any, differences: list[Any]) -> Any:
        """δᵀGδ, or |Uᵀδ|²."""
        total = 0.0
        for b in range(entries.shape[1]):
            column = sum(delta * row[b] for delta, row in zip(differences, entries, strict=True))
            total = total + column * (differences[b] if self.metric else column)
        return total


@lru_cache(maxsize=256)
def symbolic(expressions: Expressions) -> sympy.ImmutableMatrix:
    """Expressions as a SymPy matrix; one row a coordinate.

    Raises
    ------
    InvalidInputError
    """
    symbols = metric_coordinates(len(expressions))
    names = {str(symbol): symbol for symbol in symbols}
    entries = []
    for text in (entry for row in expressions for entry in row):
        try:
            entry = sympy.sympify(text, locals=names)
            known = isinstance(entry, sympy.Expr) and entry.free_symbols <= set(symbols)
            known = known and not improper(entry)
        except (sympy.SympifyError, TypeError, AttributeError):
            known = False
        if not known:
            raise InvalidInputError(
                f"{text!r} is no expression in the coordinates {', '.join(names)}"
            )
        entries.append(entry)
    return sympy.ImmutableMatrix(len(expressions), len(expressions[0]), entries)


@lru_cache(maxsize=256)
def _compiled(expressions: Expressions) -> Callable[..., list[Any]]:
    """A function of coordinate arrays that gives the entries, row by row."""
    symbols = metric_coordinates(len(expressions))
    return sympy.lambdify(symbols, list(symbolic(expressions)), "numpy", cse=True)
