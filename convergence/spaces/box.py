"""Boxes of coordinates, periodic or bounded: spectral quadrature and exact sampling."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy import optimize, stats

from ..errors import InvalidInputError, QuadratureError, SamplerError, require_flag

# nodes of the finest tensor rule, and of the grid on which a maximum is looked for
MOST_NODES = 4_000_000
# Gauss-Legendre nodes of one coordinate: for more, a dense eigenproblem takes minutes to hours
MOST_GAUSS = 2048
GRID = 40_000
# proposals drawn at once
BATCH = 16_384
# batches without a single point before a density counts as too narrow
MOST_EMPTY = 1000


@dataclass(frozen=True)
class Coordinate:
    """A coordinate with its range.

    Parameters
    ----------
    name : str
        As it stands in expressions; not x0, x1, ..., which are the ambient coordinates.
    low, high : float
    periodic : bool
        Whether low and high are the same point.

    Raises
    ------
    InvalidInputError
    """

    name: str
    low: float
    high: float
    periodic: bool = False

    def __post_init__(self) -> None:
        require_flag("periodic", self.periodic)
        if not self.name.isidentifier() or re.fullmatch(r"x\d+", self.name):
            raise InvalidInputError(
                f"{self.name!r} cannot name a coordinate: an identifier other than x0, x1, ... "
                "(the ambient coordinates) is needed"
            )
        numbers = all(isinstance(end, Real) and np.isfinite(end) for end in (self.low, self.high))
        if not (numbers and self.low < self.high):
            raise InvalidInputError(
                f"coordinate {self.name} needs finite numbers low < high, not {self.low!r}, "
                f"{self.high!r}"
            )

    @property
    def length(self) -> float:
        """high - low."""
        return self.high - self.low

    def difference(self, y: np.ndarray, x: float) -> np.ndarray:
        """y - x; where periodic sin(y - x) for an angle, which is y - x up to third order."""
        if not self.periodic:
            return np.asarray(y) - x
        scale = 2 * np.pi / self.length
        return np.sin(scale * (np.asarray(y) - x)) / scale

    def rule(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Nodes and weights: trapezoid where periodic, else Gauss-Legendre."""
        if self.periodic:
            return self.low + self.length * np.arange(n) / n, np.full(n, self.length / n)
        nodes, weights = leggauss(n)
        return self.low + self.length * (nodes + 1) / 2, weights * self.length / 2


def angle(name: str) -> Coordinate:
    """A periodic coordinate from 0 to 2π."""
    return Coordinate(name, 0.0, 2 * np.pi, periodic=True)


def tensor(axes: Sequence[np.ndarray]) -> np.ndarray:
    """All combinations of one entry an axis, shape (product of lengths, number of axes)."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def integral(
    log_integrand: Callable[[np.ndarray], np.ndarray], box: Sequence[Coordinate]
) -> tuple[float, float]:
    """log ∫ exp(g) over the box by a tensor rule, doubled until it settles to 1e-13.

    Returns
    -------
    logarithm, change : float
        The value, and the relative change of the last doubling.

    Raises
    ------
    QuadratureError
        When it does not settle to 1e-12, for example because g is not smooth; when g is NaN or
        +inf somewhere, or -inf everywhere.
    """
    n, previous, change = 16, np.nan, np.inf
    most = np.inf if all(coordinate.periodic for coordinate in box) else MOST_GAUSS
    names = ", ".join(c.name for c in box)
    while not change <= 1e-13 and n ** len(box) <= MOST_NODES and n <= most:
        rules = [coordinate.rule(n) for coordinate in box]
        logs = log_integrand(tensor([nodes for nodes, _ in rules]))
        weights = np.prod(tensor([weights for _, weights in rules]), axis=1)
        top = np.max(logs)
        if not np.isfinite(top):
            what = "vanishes everywhere" if top == -np.inf else "is not finite somewhere"
            raise QuadratureError(
                f"the integrand over {names} {what}: give a finite embedding with a regular "
                "metric, and a finite density"
            )
        value = float(top + np.log(np.sum(weights * np.exp(logs - top))))
        change, previous = abs(value - previous), value
        if np.isnan(change):
            change = np.inf
        n *= 2
    if not change <= 1e-12:
        raise QuadratureError(
            f"the integral over {names} settles to {change:.1e} only, "
            "1e-12 is needed: give a smooth density and embedding, periodic where declared so"
        )
    return previous, change


def low_discrepancy(box: Sequence[Coordinate], n: int, margin: float = 0.0) -> np.ndarray:
    """n Halton points of the box, bounded coordinates keeping a margin (a share of the length)."""
    points = stats.qmc.Halton(len(box), scramble=False).random(n + 1)[1:]
    for a, coordinate in enumerate(box):
        inset = 0.0 if coordinate.periodic else margin
        points[:, a] = coordinate.low + coordinate.length * (inset + (1 - 2 * inset) * points[:, a])
    return points


def maximum(function: Callable[[np.ndarray], np.ndarray], box: Sequence[Coordinate]) -> float:
    """The largest value on the box: a dense grid, then local ascent from its five best nodes."""
    count = max(4, round(GRID ** (1 / len(box))))
    axes = [np.linspace(c.low, c.high, count) for c in box]
    grid = tensor(axes)
    values = function(grid)
    best = float(np.max(values))
    if not np.isfinite(best):
        return best  # for the caller to refuse: there is nothing to ascend
    low, high = (np.array([getattr(c, end) for c in box]) for end in ("low", "high"))
    steps = (high - low) / (count - 1)

    def ascent(node: np.ndarray) -> float:
        """The maximum within one grid step of a node, in units of steps."""
        bounds = np.maximum((low - node) / steps, -1), np.minimum((high - node) / steps, 1)

        def below(shift: np.ndarray) -> float:
            return -float(function(node + shift * steps))

        return -float(
            optimize.minimize(below, np.zeros(len(box)), bounds=optimize.Bounds(*bounds)).fun
        )

    ascents = [ascent(node) for node in grid[np.argsort(values)[-5:]]]
    return max([best, *(value for value in ascents if np.isfinite(value))])


def rejection_sample(
    log_density: Callable[[np.ndarray], np.ndarray],
    log_bound: float,
    box: Sequence[Coordinate],
    n: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """n independent points with density ∝ exp(log_density) on the box: exact, by rejection.

    Raises
    ------
    SamplerError
        When a proposed point has a density above the bound, so that the law would be wrong; when
        the bound is not finite, or no proposal is ever taken.
    """
    if not isinstance(n, Integral) or n < 0:
        raise InvalidInputError(f"the number of points must be a whole number, not {n!r}")
    if not np.isfinite(log_bound):
        raise SamplerError(
            f"the density's maximum is exp({log_bound:g}): give a density and a metric that are "
            "finite everywhere and do not vanish everywhere"
        )
    low, length = (np.array([getattr(c, key) for c in box]) for key in ("low", "length"))
    found, count = [], 0
    while count < n:
        if not count and len(found) == MOST_EMPTY:
            raise SamplerError(
                f"none of {MOST_EMPTY * BATCH:,} proposals was taken: the density is too narrow "
                "for its box; take a smaller range of the coordinates"
            )
        proposals = low + length * rng.random((BATCH, len(box)))
        logs = log_density(proposals)
        if np.max(logs) > log_bound:
            raise SamplerError(
                f"the density is exp({np.max(logs) - log_bound:.2g}) times its supposed maximum at "
                f"{proposals[np.argmax(logs)]}: it has a narrow peak or a pole; smooth it"
            )
        accepted = proposals[rng.standard_exponential(BATCH) > log_bound - logs]
        found.append(accepted)
        count += len(accepted)
    return np.concatenate(found)[:n] if found else np.empty((0, len(box)))
