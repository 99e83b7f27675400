"""Ready-made stratified spaces. A new one lists its strata and where they meet or end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import real_array
from ..errors import InvalidInputError, require_positive, require_real
from .box import Coordinate, angle
from .chart import Chart
from .expressions import Expression
from .strata import Flat, Ray, Ring, StratifiedSpace, Stratum


class Interval(StratifiedSpace):
    """The interval from `low` to `high` with both its ends.

    Parameters
    ----------
    low, high : float
    log_density : expression in t
        Up to a constant.
    """

    def __init__(self, low: float = 0.0, high: float = 1.0, log_density: Expression = "0") -> None:
        chart = Chart((Coordinate("t", low, high),), ("t",), log_density)
        super().__init__((Stratum(chart),), (Flat((low,)), Flat((high,))))

    @property
    def rays(self) -> tuple[Ray, ...]:
        """The way inwards from the lower end."""
        return (Ray(0, (self.charts[0].coordinates[0].low,), (1.0,)),)


class HalfLine(StratifiedSpace):
    """The half-line t ≥ 0 with a density that has all but vanished at `length`: Gaussian, say.

    Parameters
    ----------
    log_density : expression in t
        Up to a constant.
    length : float
        Where the chart is cut off.
    """

    def __init__(self, log_density: Expression = "-t**2/2", length: float = 8.0) -> None:
        chart = Chart((Coordinate("t", 0.0, length),), ("t",), log_density)
        super().__init__((Stratum(chart),), (Flat((0.0,)),))

    @property
    def rays(self) -> tuple[Ray, ...]:
        """The way inwards from the end."""
        return (Ray(0, (0.0,), (1.0,)),)


class Disc(StratifiedSpace):
    """The disc with its boundary circle, in polar coordinates r and u.

    Parameters
    ----------
    radius : float
    log_density : expression in r and u
        Up to a constant.
    """

    def __init__(self, radius: float = 1.0, log_density: Expression = "0") -> None:
        radius = require_positive("radius", radius)
        chart = Chart(
            (Coordinate("r", 0.0, radius), angle("u")), ("r*cos(u)", "r*sin(u)"), log_density
        )
        super().__init__((Stratum(chart),), (Ring((0.0, 0.0), radius),))

    def rays_at(self, u: float) -> tuple[Ray, ...]:
        """The way inwards from the boundary point at angle u."""
        return (Ray(0, (self.charts[0].coordinates[0].high, u), (-1.0, 0.0)),)


class CrossingLines(StratifiedSpace):
    """Two segments from -half_length to half_length that cross at 0 under an angle.

    Parameters
    ----------
    crossing_angle : float
        ω, in (0, π).
    half_length : float
    log_densities : pair of expressions in t
    masses : pair of float

    Raises
    ------
    InvalidInputError
        When the angle is not in (0, π), or densities or masses are not two.
    """

    def __init__(
        self,
        crossing_angle: float,
        half_length: float = 1.0,
        log_densities: tuple[Expression, Expression] = ("0", "0"),
        masses: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        if not 0 < require_real("crossing_angle", crossing_angle) < np.pi:
            raise InvalidInputError(f"lines cross under an angle in (0, π), not {crossing_angle}")
        if len(log_densities) != 2 or len(masses) != 2:
            raise InvalidInputError("two lines have two densities and two masses")
        directions = ((1.0, 0.0), (float(np.cos(crossing_angle)), float(np.sin(crossing_angle))))
        coordinate = (Coordinate("t", -half_length, half_length),)
        strata = tuple(
            Stratum(Chart(coordinate, (f"{c!r}*t", f"{s!r}*t"), density), mass)
            for (c, s), density, mass in zip(directions, log_densities, masses, strict=True)
        )
        ends = [
            Flat((end * c, end * s)) for c, s in directions for end in (-half_length, half_length)
        ]
        super().__init__(strata, (Flat((0.0, 0.0)), *ends))

    @property
    def rays(self) -> tuple[Ray, ...]:
        """Both ways along the first line, then along the second."""
        return tuple(Ray(k, (0.0,), (sign,)) for k in (0, 1) for sign in (1.0, -1.0))


class StarGraph(StratifiedSpace):
    """Straight edges from one vertex at the origin, uniform by length.

    Parameters
    ----------
    lengths : sequence of float
    directions : sequence of vectors in R^D, optional
        Of any length; by default evenly spread in the plane.

    Raises
    ------
    InvalidInputError
        When there are no edges, not as many directions, or a direction is zero or not finite.
    """

    def __init__(
        self, lengths: Sequence[float], directions: Sequence[Sequence[float]] | None = None
    ) -> None:
        real_array("lengths", lengths)
        turns = 2 * np.pi * np.arange(len(lengths)) / len(lengths)
        given = (
            np.stack([np.cos(turns), np.sin(turns)], axis=1) if directions is None else directions
        )
        vectors = real_array("directions", given, finite=False)
        if vectors.ndim != 2 or len(vectors) != len(lengths) or not len(vectors):
            raise InvalidInputError(f"{len(lengths)} edges need as many directions, not {given!r}")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(norms) & (norms > 0)):
            raise InvalidInputError("an edge's direction is finite and not zero")
        units = vectors / norms
        strata = tuple(
            Stratum(Chart((Coordinate("t", 0.0, end),), tuple(f"{c!r}*t" for c in unit)), end)
            for end, unit in zip(lengths, units.tolist(), strict=True)
        )
        ends = [
            Flat(tuple(end * np.asarray(u))) for end, u in zip(lengths, units.tolist(), strict=True)
        ]
        super().__init__(strata, (Flat((0.0,) * units.shape[1]), *ends))

    @property
    def lengths(self) -> tuple[float, ...]:
        return tuple(chart.coordinates[0].high for chart in self.charts)

    @property
    def rays(self) -> tuple[Ray, ...]:
        """The edges, outwards from the vertex."""
        return tuple(Ray(k, (0.0,), (1.0,)) for k in range(len(self.strata)))


class LineThroughPlane(StratifiedSpace):
    """A disc of radius 1 in polar coordinates r, u, and a segment t across it at its centre.

    Parameters
    ----------
    line_share : float
        The line's share of the sample.
    half_length : float
    """

    def __init__(self, line_share: float = 0.3, half_length: float = 1.0) -> None:
        if not 0 < require_real("line_share", line_share) < 1:
            raise InvalidInputError(
                f"the line has a share of the sample in (0, 1), not {line_share}"
            )
        require_positive("half_length", half_length)
        disc = Chart((Coordinate("r", 0.0, 1.0), angle("u")), ("r*cos(u)", "r*sin(u)", "0"))
        line = Chart((Coordinate("t", -half_length, half_length),), ("0", "0", "t"))
        ends = [Flat((0.0, 0.0, end)) for end in (-half_length, half_length)]
        super().__init__(
            (Stratum(disc, 1 - line_share), Stratum(line, line_share)),
            (Flat((0.0, 0.0, 0.0)), Ring((0.0, 0.0, 0.0), 1.0), *ends),
        )

    def plane_ray(self, u: float) -> Ray:
        """Out along the plane from the meeting point, at angle u."""
        return Ray(0, (0.0, u), (1.0, 0.0))

    @property
    def line_ray(self) -> Ray:
        """Up the line from the meeting point."""
        return Ray(1, (0.0,), (1.0,))


class TouchingSpheres(StratifiedSpace):
    """Two unit spheres that touch at the origin, uniform: colatitude u from there, longitude v.

    At distance r from the touching point the sheets lie r² apart, so that they see each other up
    to r of order β^-1/4.
    """

    def __init__(self) -> None:
        box = (Coordinate("u", 0.0, np.pi), angle("v"))
        strata = tuple(
            Stratum(Chart(box, ("sin(u)*cos(v)", "sin(u)*sin(v)", f"{side}*(1 - cos(u))")))
            for side in (1, -1)
        )
        super().__init__(strata, (Flat((0.0, 0.0, 0.0)),))

    def ray(self, stratum: int, v: float) -> Ray:
        """Out along one sphere from the touching point, at longitude v."""
        return Ray(stratum, (0.0, v), (1.0, 0.0))


class Cone(StratifiedSpace):
    """The cone over a circle, r from the apex and u around; at unit distance it has `radius`.

    Parameters
    ----------
    radius : float
        sin of the half-angle, in (0, 1): the cone's total angle is 2π·radius.

    Raises
    ------
    InvalidInputError
        When the radius is not in (0, 1).
    """

    def __init__(self, radius: float) -> None:
        if not 0 < require_real("radius", radius) < 1:
            raise InvalidInputError(f"a cone's circle has a radius in (0, 1), not {radius}")
        height = float(np.sqrt(1 - radius**2))
        chart = Chart(
            (Coordinate("r", 0.0, 1.0), angle("u")),
            (f"{radius!r}*r*cos(u)", f"{radius!r}*r*sin(u)", f"{height!r}*r"),
        )
        super().__init__(
            (Stratum(chart),), (Flat((0.0, 0.0, 0.0)), Ring((0.0, 0.0, height), radius))
        )


class OpenBook(StratifiedSpace):
    """Pages a by h, each 1 by 1, that share the spine a = 0 along the third axis.

    Parameters
    ----------
    angles : sequence of float
        Of the pages around the spine.

    Raises
    ------
    InvalidInputError
        When there are none, or one is not finite.
    """

    def __init__(self, angles: Sequence[float]) -> None:
        if real_array("angles", angles).ndim != 1 or not len(angles):
            raise InvalidInputError(f"pages have finite angles, at least one, not {angles!r}")
        box = (Coordinate("a", 0.0, 1.0), Coordinate("h", 0.0, 1.0))
        units = [(float(np.cos(w)), float(np.sin(w)), 0.0) for w in angles]
        strata = tuple(Stratum(Chart(box, (f"{c!r}*a", f"{s!r}*a", "h"))) for c, s, _ in units)
        up = (0.0, 0.0, 1.0)
        edges = [Flat(unit, (up,)) for unit in units]
        edges += [Flat((0.0, 0.0, end), (unit,)) for end in (0.0, 1.0) for unit in units]
        super().__init__(strata, (Flat((0.0, 0.0, 0.0), (up,)), *edges))

    def rays_at(self, h: float) -> tuple[Ray, ...]:
        """Outwards along every page, from the spine at height h."""
        return tuple(Ray(k, (0.0, h), (1.0, 0.0)) for k in range(len(self.strata)))
