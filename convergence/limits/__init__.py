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
from .normalised import log_weight
from .potentials import bridge_potentials, log_mass, sinkhorn_potential
from .profile import Profile, profile_of, revolution
from .quadrature import QuadratureLaw
from .witten import drift, generator

__all__ = [
    "Profile",
    "QuadratureLaw",
    "StepLaw",
    "bridge_potentials",
    "drift",
    "effective_degree",
    "expectation",
    "expectation_of",
    "generator",
    "log_mass",
    "log_weight",
    "profile_of",
    "revolution",
    "sampling_constants",
    "sampling_constants_of",
    "score_law",
    "sinkhorn_potential",
    "step_law",
]
