"""Stratified spaces: charts of any dimensions in one R^D, and the set where they meet or end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..arrays import real_array
from ..errors import InvalidInputError, require_positive, require_whole
from .chart import Chart
from .expressions import ChartFunction, Expression, PlainData
from .space import require_draw


class SingularSet(Protocol):
    """A set of R^D that says how far points are from it."""

    def distance(self, features: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Flat:
    """An affine subspace of R^D: a point, or the lines, planes, ... through it.

    Parameters
    ----------
    point : tuple of float
    directions : tuple of tuples, optional
        Orthonormal.
    """

    point: tuple[float, ...]
    directions: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        point, directions = (
            real_array("point", self.point),
            real_array("directions", self.directions),
        )
        if point.ndim != 1 or (directions.size and directions.shape[1:] != point.shape):
            raise InvalidInputError(
                f"a flat is a point and directions in one R^D, not {self.point} and "
                f"{self.directions}"
            )

    def distance(self, features: np.ndarray) -> np.ndarray:
        """|x - nearest point|, shape (...)."""
        away = features - np.asarray(self.point)
        for direction in np.asarray(self.directions):
            away = away - (away @ direction)[..., None] * direction
        return np.linalg.norm(away, axis=-1)


@dataclass(frozen=True)
class Ring:
    """A circle in R^D, in the plane of the axes `first` and `second` through its centre.

    Parameters
    ----------
    centre : tuple of float
    radius : float
    first, second : int
        Ambient axes.
    """

    centre: tuple[float, ...]
    radius: float
    first: int = 0
    second: int = 1

    def __post_init__(self) -> None:
        real_array("a centre", self.centre)
        require_positive("the radius", self.radius)
        for axis in (self.first, self.second):
            require_whole("an axis", axis)

    def distance(self, features: np.ndarray) -> np.ndarray:
        """|x - nearest point|, shape (...)."""
        away = features - np.asarray(self.centre)
        across = np.hypot(away[..., self.first], away[..., self.second]) - self.radius
        others = np.delete(away, [self.first, self.second], axis=-1)
        return np.hypot(across, np.linalg.norm(others, axis=-1))


@dataclass(frozen=True)
class Stratum(PlainData):
    """A chart and its share of the sample.

    Parameters
    ----------
    chart : Chart
        With the density within the stratum.
    mass : float
        Relative to that of the other strata.
    """

    chart: Chart
    mass: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.chart, Chart):
            raise InvalidInputError(f"a stratum is a Chart with a mass, not {self.chart!r}")
        require_positive("mass", self.mass)


@dataclass(frozen=True)
class Ray:
    """A straight way into a stratum: from a point of its chart, along a direction of unit speed.

    Parameters
    ----------
    stratum : int
    start, direction : tuple of float
        In the coordinates of that chart.
    """

    stratum: int
    start: tuple[float, ...]
    direction: tuple[float, ...]

    def __post_init__(self) -> None:
        require_whole("the stratum of a ray", self.stratum)
        start, direction = real_array("start", self.start), real_array("direction", self.direction)
        if start.ndim != 1 or start.shape != direction.shape:
            raise InvalidInputError(
                f"a ray has a start and a direction in the coordinates of one chart, not "
                f"{self.start} and {self.direction}"
            )


@dataclass(frozen=True)
class StrataFunction(PlainData):
    """A test function of a stratified space: one function a stratum.

    Parameters
    ----------
    pieces : tuple of ChartFunction
    label : str
        LaTeX, without dollar signs.
    """

    pieces: tuple[ChartFunction, ...]
    label: str

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """f at points (..., 1 + d), shape (...)."""
        return by_stratum(points, [(len(piece.names), piece) for piece in self.pieces])

    def slope(self, ray: Ray) -> float:
        """The derivative along a ray, at its start."""
        gradient = self.pieces[ray.stratum].gradient(np.asarray(ray.start))
        return float(gradient @ np.asarray(ray.direction))


def by_stratum(
    points: np.ndarray,
    pieces: Sequence[tuple[int, Callable[[np.ndarray], np.ndarray]]],
    shape: tuple[int, ...] = (),
) -> np.ndarray:
    """What each stratum's own function gives at its points.

    Parameters
    ----------
    points : ndarray, shape (..., 1 + d)
    pieces : sequence of (number of coordinates, function of rows of coordinates)
    shape : tuple of int
        Of one value.

    Raises
    ------
    InvalidInputError
        When a first column is no stratum.
    """
    points = real_array("points", points, finite=False)
    found = np.empty(points.shape[:-1] + shape)
    seen = 0
    for k, (dim, piece) in enumerate(pieces):
        own = points[..., 0] == k
        count = int(np.count_nonzero(own))
        if count:
            found[own] = piece(points[own][:, 1 : 1 + dim])
        seen += count
    if seen < points[..., 0].size:
        raise InvalidInputError(
            f"the first column of points is their stratum, a whole number below {len(pieces)}"
        )
    return found


@dataclass(frozen=True)
class StratifiedSpace(PlainData):
    """A union of strata in one R^D, each with its own dimension, chart, density and mass.

    Points are rows (..., 1 + d), d the largest dimension: the stratum's number, then its chart's
    coordinates, then zeros. The kernel acts on `features(points)`. A sample draws every point's
    stratum by the masses, so that it is independent and identically distributed.

    Parameters
    ----------
    strata : sequence of Stratum
    singular : sequence of Flat, Ring, or anything with a `distance`
        Where strata meet or end.

    Raises
    ------
    InvalidInputError

    Examples
    --------
    >>> from convergence.spaces import Chart, Coordinate, Flat, StratifiedSpace, Stratum
    >>> wall = Chart((Coordinate("u", -1, 1), Coordinate("v", -1, 1)), ("u", "v", "0"))
    >>> rod = Chart((Coordinate("t", 0, 1),), ("0", "0", "t"))
    >>> standing = StratifiedSpace((Stratum(wall, 4), Stratum(rod)), (Flat((0, 0, 0)),))
    >>> standing.dims, standing.masses
    ((2, 1), (0.8, 0.2))
    """

    strata: Sequence[Stratum]
    singular: Sequence[SingularSet]

    def __post_init__(self) -> None:
        for name in ("strata", "singular"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len({s.chart.ambient_dim for s in self.strata}) != 1:
            raise InvalidInputError(
                "the strata of a space lie in one R^D, and there is at least one"
            )
        if not self.singular:
            raise InvalidInputError(
                "a stratified space says where its strata meet or end; without such a set take a "
                "Chart"
            )

    def __str__(self) -> str:
        return f"{type(self).__name__} of {len(self.strata)} strata in R^{self.ambient_dim}"

    def located(self, points: np.ndarray) -> np.ndarray:
        """Points as an array of float64, where each lies on the stratum that it names.

        Raises
        ------
        InvalidInputError
        """
        found = real_array("points", points, finite=False)  # NaN lies outside
        if found.shape[-1:] != (1 + self.dim,):
            raise InvalidInputError(
                f"points of {self} are rows of a stratum and {self.dim} coordinates, not an array "
                f"of shape {found.shape}"
            )
        self.local_dim(found)  # refuses what is no stratum
        for k, chart in enumerate(self.charts):
            chart.refuse_outside(found[found[..., 0] == k][:, 1 : 1 + chart.dim])
        return found

    @property
    def charts(self) -> tuple[Chart, ...]:
        return tuple(stratum.chart for stratum in self.strata)

    @property
    def dims(self) -> tuple[int, ...]:
        """Dimension of every stratum."""
        return tuple(chart.dim for chart in self.charts)

    @property
    def dim(self) -> int:
        """The largest dimension."""
        return max(self.dims)

    @property
    def ambient_dim(self) -> int:
        return self.charts[0].ambient_dim

    @cached_property
    def masses(self) -> tuple[float, ...]:
        """The strata's shares of the sample."""
        total = sum(stratum.mass for stratum in self.strata)
        return tuple(stratum.mass / total for stratum in self.strata)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """n independent points, rows (n, 1 + d)."""
        require_draw(n, rng)
        strata = rng.choice(len(self.strata), size=n, p=self.masses)
        points = np.zeros((n, 1 + self.dim))
        points[:, 0] = strata
        for k, chart in enumerate(self.charts):
            own = strata == k
            points[own, 1 : 1 + chart.dim] = chart.sample(int(np.count_nonzero(own)), rng)
        return points

    def points(self, stratum: int, coordinates: np.ndarray) -> np.ndarray:
        """Points of one stratum from its chart's coordinates (..., dim)."""
        coordinates = real_array("coordinates", coordinates)
        found = np.zeros((*coordinates.shape[:-1], 1 + self.dim))
        found[..., 0] = stratum
        found[..., 1 : 1 + coordinates.shape[-1]] = coordinates
        return found

    def along(self, ray: Ray, distances: np.ndarray) -> np.ndarray:
        """Points at distances (...) from the start of a ray."""
        steps = real_array("distances", distances)[..., None] * np.asarray(ray.direction)
        return self.points(ray.stratum, np.asarray(ray.start) + steps)

    def _by_stratum(self, points: np.ndarray, method: str, *shape: int) -> np.ndarray:
        pieces = [(chart.dim, getattr(chart, method)) for chart in self.charts]
        return by_stratum(points, pieces, shape)

    def features(self, points: np.ndarray) -> np.ndarray:
        """What the kernel acts on: the embedded points, shape (..., D)."""
        return self._by_stratum(points, "features", self.ambient_dim)

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """log ρ against the volume of the point's own stratum, its mass included, shape (...)."""
        shares = [(0, lambda x, mass=mass: np.full(len(x), np.log(mass))) for mass in self.masses]
        return self._by_stratum(points, "log_density") + by_stratum(points, shares)

    def local_dim(self, points: np.ndarray) -> np.ndarray:
        """The dimension of the point's own stratum, shape (...)."""
        dims = [(0, lambda x, dim=dim: np.full(len(x), dim)) for dim in self.dims]
        return by_stratum(points, dims).astype(int)

    def singular_distance(self, points: np.ndarray) -> np.ndarray:
        """Distance in R^D to where strata meet or end, exact; shape (...)."""
        features = self.features(points)
        return np.min([part.distance(features) for part in self.singular], axis=0)

    def function(self, *expressions: Expression, label: str = "") -> StrataFunction:
        """A test function: one expression for all strata, or one for each.

        In the coordinates of the charts and in x0, x1, ... (features).
        """
        if len(expressions) not in (1, len(self.strata)):
            raise InvalidInputError(
                f"one expression for all {len(self.strata)} strata or one for each is needed, not "
                f"{len(expressions)}"
            )
        given = expressions * len(self.strata) if len(expressions) == 1 else expressions
        pieces = tuple(c.function(e) for c, e in zip(self.charts, given, strict=True))
        distinct = list(dict.fromkeys(piece.label for piece in pieces))
        return StrataFunction(pieces, label or r",\ ".join(distinct))
