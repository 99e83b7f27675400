"""The truth: limit generators, exact N = ∞ expectations and sampling constants.

Nothing here imports the estimators (`kernels`, `operators`), nor they this: a reference must not
share code with what it judges.
"""

from . import gaussians, quadrature, spheres  # noqa: F401  (register their step laws)
from .law import (
    StepLaw,
    effective_degree,
    expectation,
    expectation_of,
    sampling_constants,
    sampling_constants_of,
    step_law,
)
from .quadrature import QuadratureLaw
from .witten import diffusion, drift, generator

__all__ = [
    "QuadratureLaw",
    "StepLaw",
    "diffusion",
    "drift",
    "effective_degree",
    "expectation",
    "expectation_of",
    "generator",
    "sampling_constants",
    "sampling_constants_of",
    "step_law",
]
