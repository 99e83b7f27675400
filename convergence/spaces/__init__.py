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
from .torus import FlatTorus

__all__ = [
    "Chart",
    "ChartFunction",
    "Circle",
    "ClosedCurve",
    "Coordinate",
    "Ellipse",
    "Ellipsoid",
    "FlatTorus",
    "Gaussian",
    "GraphSurface",
    "Polynomial",
    "SmoothFunction",
    "Space",
    "Sphere",
    "SwissRoll",
    "TanhTorus",
    "TorusOfRevolution",
    "angle",
]
