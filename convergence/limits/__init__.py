"""The truth: limit generators, exact N = ∞ expectations and sampling constants.

Nothing here imports the estimators (`kernels`, `operators`), nor they this: a reference must not
share code with what it judges.
"""

from . import gaussians, per_point_metric, quadrature, spheres  # noqa: F401  (register what they know)
from .law import (
    StepLaw,
    effective_degree,
    expectation,
    expectation_of,
    sampling_constants,
    sampling_constants_of,
    score_law,
    step_law,
)
from .quadrature import QuadratureLaw
from .witten import drift, generator

__all__ = [
    "QuadratureLaw",
    "StepLaw",
    "drift",
    "effective_degree",
    "expectation",
    "expectation_of",
    "generator",
    "sampling_constants",
    "sampling_constants_of",
    "score_law",
    "step_law",
]
