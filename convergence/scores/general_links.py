"""Links of any form: an antisymmetric a(x, y) beside the distance."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from ..arrays import real_array
from ..errors import InvalidInputError, require_real
from ..spaces.expressions import parse, symbol
from .distance import squared_distances

PairFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]
_PROBES = 16  # queries and keys of a block, spread over it, whose pairs are looked at both ways
# of a(x, y) + a(y, x): both ways round ε times the terms that cancel in a, which may be 1e6 times
# larger than 1 + |a|; what is no link is off in its leading digits
_ROUNDING = 1e-9
# central differences of a form: rounding ε/step and remainder step² a'''/6 are 1e-11 each for
# terms of order one, so that links a hundred times as fast and large still pass
_STEP, _SLOPE = 1e-5, 1e-5


@dataclass(frozen=True, repr=False)
class GeneralLink:
    """The kernel K(x, y) = exp(-β|x - y|² + a(x, y)) with a(y, x) = -a(x, y), row-normalised.

    The link adds the drift -2ħ⟨c, df⟩ of the one-form c = ∂_y a at y = x. A bilinear a is
    `Distance(link=M)`, which the fused sums know; every other one is summed pair by pair. A call
    (queries, keys, β) gives the scores, so that an instance can be summed by
    `convergence.kernels.score_sums` and be a `convergence.operators.ScoreOperator`.

    Parameters
    ----------
    link : str or callable
        An expression in the ambient coordinates x0, x1, ... of the query and y0, y1, ... of the
        key; or a function (x (a, D), y (b, D)) → a (a, b).
    form : callable, optional
        Of a function: points (..., D) → c = ∂_y a at y = x, in the ambient space, (..., D). Every
        use compares it with central differences of the function at a few of its points. That of
        an expression is derived.

    Raises
    ------
    InvalidInputError
        When an expression is not antisymmetric. A call raises it where a function is not, at the
        pairs looked at: those of 16 queries and 16 keys, spread over every block.

    Examples
    --------
    >>> GeneralLink("(x0*y1 - x1*y0)*(x0 + y0)").one_form(np.array([0.6, 0.8]))
    array([-0.96,  0.72])
    >>> GeneralLink("y0**3 - x0**3").exact_weight
    x0**3
    """

    link: str | PairFunction
    form: Callable[[np.ndarray], np.ndarray] | None = None

    def __post_init__(self) -> None:
        if callable(self.link):
            if self.form is None:
                raise InvalidInputError("a link given as a function needs form=..., its one-form")
            return
        if self.form is not None:
            raise InvalidInputError("the one-form of an expression is derived: leave form out")
        forward, x, y = _parsed(self.link)
        back = forward.subs(dict(zip(x + y, y + x, strict=True)), simultaneous=True)
        if (forward + back).equals(0) is False:
            raise InvalidInputError(
                f"the link {self.link!r} is not antisymmetric: a(y, x) must be -a(x, y)"
            )

    def __repr__(self) -> str:
        name = self.link.__qualname__ if callable(self.link) else self.link
        return f"GeneralLink({name!r})"

    def values(self, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """a of every pair, in double precision.

        Parameters
        ----------
        queries, keys : ndarray, shapes (n_queries, D) and (n_keys, D)

        Returns
        -------
        ndarray, shape (n_queries, n_keys)

        Raises
        ------
        InvalidInputError
            When a is not finite at any pair, or a(y, x) is not -a(x, y) at those looked at.
        """
        queries, keys = real_array("queries", queries), real_array("keys", keys)
        found = self._pairs(queries, keys)
        if not np.all(np.isfinite(found)):
            raise InvalidInputError(f"{self!r} is not finite at some pairs of points")
        few, others = _spread(len(queries), _PROBES), _spread(len(keys), _PROBES)
        forward, back = found[np.ix_(few, others)], self._pairs(keys[others], queries[few]).T
        if not np.all(np.abs(forward + back) <= _ROUNDING * (1 + np.abs(forward))):  # NaN too
            raise InvalidInputError(
                f"{self!r} is not antisymmetric at some pairs of points: a(y, x) must be -a(x, y)"
            )
        return found

    def _pairs(self, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
        shape = len(queries), len(keys)
        if callable(self.link):
            found = real_array("the link", self.link(queries, keys), finite=False)
            if found.shape != shape:
                raise InvalidInputError(f"{self!r} gave shape {found.shape} for {shape} pairs")
            return found
        function, dim = _compiled(self.link)
        self._need(dim, queries.shape[1])
        x, y = queries.T[:dim, :, None], keys.T[:dim, None, :]
        with np.errstate(all="ignore"):  # what is not finite is refused by `values`
            found = real_array("the link", function(*x, *y), finite=False)
        return np.broadcast_to(found, shape)

    def _need(self, dim: int, given: int) -> None:
        if given < dim:
            raise InvalidInputError(f"{self!r} needs points of dimension {dim}, not {given}")

    def __call__(self, queries: Any, keys: Any, beta: float) -> Any:
        """s of every pair, shape (len(queries), len(keys))."""
        queries, keys = real_array("queries", queries), real_array("keys", keys)
        return self.values(queries, keys) - beta * squared_distances(queries, keys)

    def one_form(self, features: np.ndarray) -> np.ndarray:
        """c = ∂_y a at y = x, as ambient vectors.

        Parameters
        ----------
        features : ndarray, shape (..., D)

        Returns
        -------
        ndarray, shape (..., D)

        Raises
        ------
        InvalidInputError
            When the form of a function is not its slope at the points looked at.
        """
        features = real_array("features", features)
        if callable(self.link):
            return self._checked_form(features)
        found = np.zeros(features.shape)
        slopes, dim = _compiled_one_form(self.link)
        self._need(dim, features.shape[-1])
        for a, slope in enumerate(slopes(*np.moveaxis(features, -1, 0)[:dim])):
            found[..., a] = slope
        return found

    def _checked_form(self, features: np.ndarray) -> np.ndarray:
        """The form of a function, held against its differences at a few points."""
        assert self.form is not None
        found = real_array("the form of a link", self.form(features))
        if found.shape != features.shape:
            raise InvalidInputError(
                f"the form of {self!r} gave shape {found.shape} for points {features.shape}"
            )
        dim = features.shape[-1]
        points, slopes = features.reshape(-1, dim), found.reshape(-1, dim)
        for i in _spread(len(points), 4):
            x, step = points[i : i + 1], _STEP * (1 + np.max(np.abs(points[i])))
            with np.errstate(all="ignore"):  # a function may be known on the space alone
                ahead, back = (self._pairs(x, x + h * np.eye(dim))[0] for h in (step, -step))
                error = np.abs((ahead - back) / (2 * step) - slopes[i])
            if np.any(error > _SLOPE * (1 + np.max(np.abs(slopes[i])))):
                raise InvalidInputError(
                    f"the form of {self!r} is not ∂_y a at y = x, which differences of the link "
                    f"show at x = {points[i]}"
                )
        return found

    def scaled(self, factor: float) -> GeneralLink:
        """The link factor · a.

        Parameters
        ----------
        factor : float

        Returns
        -------
        GeneralLink
        """
        factor = require_real("factor", factor)
        link, form = self.link, self.form
        if not callable(link):
            return GeneralLink(f"{factor!r}*({link})")
        assert form is not None
        return GeneralLink(lambda x, y: factor * link(x, y), lambda x: factor * form(x))

    @property
    def exact_weight(self) -> sympy.Expr | None:
        """w of an exact link a = w(y) - w(x), in x0, x1, ...; None where none was found.

        The walk is then the Doob transform with h = e^w, and carries no current. A link is exact
        where all ∂²a/∂x_i∂y_j vanish in the ambient space. w has no constant term, and is real
        wherever the link is, as far as drawn points show; of a function nothing is known.

        Returns
        -------
        sympy.Expr or None
        """
        if callable(self.link):
            return None
        expression, x, y = _parsed(self.link)
        if not all(expression.diff(a, b).equals(0) for a in x for b in y):
            return None
        # a(x*, y) up to a constant, at the origin or wherever it is finite
        for place in (0, 1, sympy.Rational(1, 2)):
            there = expression.subs(dict.fromkeys(x, place)).subs(dict(zip(y, x, strict=True)))
            weight = sympy.expand(there).as_independent(*x, as_Add=True)[1]
            improper = (sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I)
            if not weight.has(*improper) and self._has_weight(weight, x):
                return weight
        return None

    def _has_weight(self, weight: sympy.Expr, x: tuple[sympy.Symbol, ...]) -> bool:
        """Whether a = w(y) - w(x), both real, at drawn points where a is."""
        points = np.random.default_rng(0).normal(scale=3.0, size=(40, len(x)))
        with np.errstate(all="ignore"):
            a = self._pairs(points, points)
            w = sympy.lambdify(x, weight, ["scipy", "numpy"])(*points.T) + np.zeros(len(points))
            error = np.abs(w - w[:, None] - a)
        known = np.isfinite(a)
        return bool(np.all(error[known] <= _ROUNDING * (1 + np.abs(a[known]))))  # false for NaN


def _spread(count: int, most: int) -> np.ndarray:
    """At most so many indices, evenly over a count, both ends among them."""
    return np.linspace(0, count - 1, min(count, most)).round().astype(int)


@lru_cache(maxsize=256)
def _parsed(text: str) -> tuple[sympy.Expr, tuple[sympy.Symbol, ...], tuple[sympy.Symbol, ...]]:
    """The expression and the symbols x and y, as many as the largest index in it asks for."""
    dim = 1 + max((int(k) for k in re.findall(r"\b[xy](\d+)\b", text)), default=-1)
    x, y = (tuple(symbol(f"{name}{k}") for k in range(dim)) for name in "xy")
    return parse(text, {str(s): s for s in x + y}, "the link"), x, y


@lru_cache(maxsize=256)
def _compiled(text: str) -> tuple[Callable[..., np.ndarray], int]:
    """a as a function of the coordinates x, then y; and how many of each."""
    expression, x, y = _parsed(text)
    return sympy.lambdify(x + y, expression, ["scipy", "numpy"], cse=True), len(x)


@lru_cache(maxsize=256)
def _compiled_one_form(text: str) -> tuple[Callable[..., list[np.ndarray]], int]:
    """c as a function of the coordinates x; and how many."""
    expression, x, y = _parsed(text)
    there = dict(zip(y, x, strict=True))
    slopes = [expression.diff(b).subs(there) for b in y]
    return sympy.lambdify(x, slopes, ["scipy", "numpy"], cse=True), len(x)
