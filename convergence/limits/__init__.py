"""The truth: limit generators, exact N = ∞ expectations and sampling constants.

Nothing here imports the estimators (`kernels`, `operators`), nor they this: a reference must not
share code with what it judges.
"""

from . import gaussians, spheres  # noqa: F401  (register their step laws)
from .law import effective_degree, expectation, sampling_constants, step_law
from .normalised import log_weight
from .potentials import bridge_potentials, log_mass, sinkhorn_potential
from .profile import Profile, profile_of, revolution
from .witten import diffusion, drift, generator

__all__ = [
    "Profile",
    "bridge_potentials",
    "diffusion",
    "drift",
    "effective_degree",
    "expectation",
    "generator",
    "log_mass",
    "log_weight",
    "profile_of",
    "revolution",
    "sampling_constants",
    "sinkhorn_potential",
    "step_law",
]
