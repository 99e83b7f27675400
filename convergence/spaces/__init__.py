"""Points and exact geometry: sampling, density, volume, evaluation targets, test functions."""

from .circle import Circle
from .gaussian import Gaussian
from .polynomials import Polynomial
from .space import SmoothFunction, Space
from .sphere import Sphere
from .torus import FlatTorus

__all__ = ["Circle", "FlatTorus", "Gaussian", "Polynomial", "SmoothFunction", "Space", "Sphere"]
