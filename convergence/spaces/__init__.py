"""Points and exact geometry: sampling, density, volume, evaluation targets, test functions."""

from .box import Coordinate, angle
from .chart import Chart
from .circle import Circle
from .expressions import ChartFunction
from .gaussian import Gaussian
from .manifolds import (
    ClosedCurve,
    Ellipse,
    Ellipsoid,
    GraphSurface,
    SwissRoll,
    TanhTorus,
    TorusOfRevolution,
)
from .polynomials import Polynomial
from .space import SmoothFunction, Space
from .sphere import Sphere
from .strata import Flat, Ray, Ring, StrataFunction, StratifiedSpace, Stratum
from .stratified import (
    Cone,
    CrossingLines,
    Disc,
    HalfLine,
    Interval,
    LineThroughPlane,
    OpenBook,
    StarGraph,
    TouchingSpheres,
)
from .torus import FlatTorus

__all__ = [
    "Chart",
    "ChartFunction",
    "Circle",
    "ClosedCurve",
    "Cone",
    "Coordinate",
    "CrossingLines",
    "Disc",
    "Ellipse",
    "Ellipsoid",
    "Flat",
    "FlatTorus",
    "Gaussian",
    "GraphSurface",
    "HalfLine",
    "Interval",
    "LineThroughPlane",
    "OpenBook",
    "Polynomial",
    "Ray",
    "Ring",
    "SmoothFunction",
    "Space",
    "Sphere",
    "StarGraph",
    "StrataFunction",
    "StratifiedSpace",
    "Stratum",
    "SwissRoll",
    "TanhTorus",
    "TorusOfRevolution",
    "TouchingSpheres",
    "angle",
]
