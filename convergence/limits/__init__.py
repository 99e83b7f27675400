"""The truth: limit generators, exact N = ∞ expectations and sampling constants.

Nothing here imports the estimators (`kernels`, `operators`), nor they this: a reference must not
share code with what it judges.
"""

from . import gaussians, per_point_metric, spheres  # noqa: F401  (register what they know)
from .law import effective_degree, expectation, sampling_constants, step_law
from .witten import drift, generator

__all__ = [
    "drift",
    "effective_degree",
    "expectation",
    "generator",
    "sampling_constants",
    "step_law",
]
