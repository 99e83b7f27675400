"""Ready-made charts. A new one takes its coordinates, its embedding and, if wanted, a density."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidInputError, require_positive
from .box import Coordinate, angle
from .chart import Chart
from .expressions import Expression


class Ellipse(Chart):
    """The ellipse (a cos u, b sin u)."""

    def __init__(
        self, a: float, b: float, log_density: Expression = "0", against: str = "volume"
    ) -> None:
        a, b = require_positive("a", a), require_positive("b", b)
        super().__init__((angle("u"),), (f"{a}*cos(u)", f"{b}*sin(u)"), log_density, against)


class Ellipsoid(Chart):
    """The ellipsoid with semi-axes a, b, c: colatitude u from 0 to π, longitude v.

    At the poles u = 0 and π the coordinates are degenerate: keep targets away from there.
    """

    def __init__(
        self,
        a: float,
        b: float,
        c: float,
        log_density: Expression = "0",
        against: str = "volume",
    ) -> None:
        a, b, c = (require_positive(k, v) for k, v in (("a", a), ("b", b), ("c", c)))
        embedding = (f"{a}*sin(u)*cos(v)", f"{b}*sin(u)*sin(v)", f"{c}*cos(u)")
        coordinates = (Coordinate("u", 0.0, np.pi), angle("v"))
        super().__init__(coordinates, embedding, log_density, against)


class TorusOfRevolution(Chart):
    """The torus ((R + r cos v) cos u, (R + r cos v) sin u, r sin v), v the angle of the tube.

    Uniform by area unless told otherwise: then E cos v = r/(2R).
    """

    def __init__(
        self,
        R: float = 2.0,
        r: float = 1.0,
        log_density: Expression = "0",
        against: str = "volume",
    ) -> None:
        R, r = require_positive("R", R), require_positive("r", r)
        if r >= R:
            raise InvalidInputError(f"the tube's radius r = {r} must be smaller than R = {R}")
        ring = f"({R} + {r}*cos(v))"
        embedding = (f"{ring}*cos(u)", f"{ring}*sin(u)", f"{r}*sin(v)")
        super().__init__((angle("u"), angle("v")), embedding, log_density, against)


class SwissRoll(Chart):
    """The rolled sheet (u cos u, h, u sin u) with metric (1 + u²)du² + dh², uniform by area."""

    def __init__(
        self, height: float = 10.0, log_density: Expression = "0", against: str = "volume"
    ) -> None:
        coordinates = (
            Coordinate("u", 1.5 * np.pi, 4.5 * np.pi),
            Coordinate("h", 0.0, require_positive("height", height)),
        )
        super().__init__(coordinates, ("u*cos(u)", "h", "u*sin(u)"), log_density, against)


class GraphSurface(Chart):
    """The graph (u, v, height(u, v)) over the square from -half_width to half_width."""

    def __init__(
        self,
        height: Expression,
        half_width: float = 2.0,
        log_density: Expression = "0",
        against: str = "volume",
    ) -> None:
        end = require_positive("half_width", half_width)
        coordinates = (Coordinate("u", -end, end), Coordinate("v", -end, end))
        super().__init__(coordinates, ("u", "v", height), log_density, against)


class ClosedCurve(Chart):
    """The closed curve of unit speed and length 1 in R^4 with frequencies 1 and 3.

    X(t) = (cos 2πt, sin 2πt, ⅔ cos 6πt, ⅔ sin 6πt) / (2π sqrt 5), 0 ≤ t ≤ 1.
    """

    def __init__(self, log_density: Expression = "0", against: str = "volume") -> None:
        waves = ("cos(2*pi*t)", "sin(2*pi*t)", "2*cos(6*pi*t)/3", "2*sin(6*pi*t)/3")
        embedding = tuple(f"{wave}/(2*pi*sqrt(5))" for wave in waves)
        super().__init__((Coordinate("t", 0.0, 1.0, True),), embedding, log_density, against)


# weights of the network of `TanhTorus`: from (cos u, sin u, cos v, sin v) to six hidden
# units with their offsets, and from these to five features; drawn once and rounded, the best
# conditioned of a few thousand
_HIDDEN = (
    (-0.25, -0.14, -0.11, 0.29),
    (0.04, 0.24, -0.05, -0.4),
    (-0.27, 0.27, 0.51, 0.15),
    (0.62, -0.12, 0.09, -0.01),
    (0.02, 0.2, 0.62, -0.31),
    (0.33, 0.28, 0.0, 0.33),
)
_OFFSETS = (0.06, 0.11, 0.11, -0.04, 0.28, 0.49)
_OUTPUT = (
    (0.23, -0.8, -0.07, 0.34, 0.19, -0.22),
    (0.23, -0.55, -0.16, -0.48, -0.61, -0.64),
    (0.21, 0.9, 0.12, 0.17, -0.95, 0.78),
    (-0.03, -0.2, 0.93, -0.72, -0.36, 1.5),
    (0.92, 0.19, 0.02, 0.75, 0.5, -0.3),
)


class TanhTorus(Chart):
    """A flat torus seen through a small fixed tanh network: stands in for a learned feature map.

    F = A tanh(B w + c) with w = (cos u, sin u, cos v, sin v), six hidden units, five features.
    """

    def __init__(self, log_density: Expression = "0", against: str = "volume") -> None:
        waves = ("cos(u)", "sin(u)", "cos(v)", "sin(v)")
        hidden = [
            f"tanh({_weighted(row, waves)} + ({c}))"
            for row, c in zip(_HIDDEN, _OFFSETS, strict=True)
        ]
        embedding = tuple(_weighted(row, hidden) for row in _OUTPUT)
        super().__init__((angle("u"), angle("v")), embedding, log_density, against)


def _weighted(weights: tuple[float, ...], terms: tuple[str, ...] | list[str]) -> str:
    return " + ".join(f"({w})*{term}" for w, term in zip(weights, terms, strict=True))
