"""The truth: limit generators, exact N = ∞ expectations and sampling constants.

Nothing here imports the estimators (`kernels`, `operators`), nor they this: a reference must not
share code with what it judges.
"""

from . import (  # noqa: F401  (register what they know)
    circular,
    gaussians,
    general_links,
    per_point_metric,
    quadrature,
    spheres,
)
from .causal import CausalLaw, causal_limit, causal_scale
from .energy import energy_expectation, energy_limit
from .galerkin import FourierGalerkin
from .heat_kernel import CircularWalk
from .killing import killing_eigenvalue
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
from .layers import Layer, crossing_generator, layer, strata_generator, tangent_share
from .magnetic import magnetic_expectation, magnetic_limit
from .mixtures import MixtureLaw, jump_rate
from .normalised import log_weight
from .potentials import bridge_potentials, log_mass, sinkhorn_potential
from .profile import Profile, profile_of, revolution
from .quadrature import QuadratureLaw
from .quantum_graph import GraphChain, QuantumGraph
from .ring_chain import RingChain
from .rotation import gaussian_circulation, gaussian_stationary
from .strata import StratifiedLaw
from .tilted_ring import TiltedRing
from .witten import drift, generator, jump_part

__all__ = [
    "CausalLaw",
    "CircularWalk",
    "FourierGalerkin",
    "GraphChain",
    "Layer",
    "MixtureLaw",
    "Profile",
    "QuadratureLaw",
    "QuantumGraph",
    "RingChain",
    "StepLaw",
    "StratifiedLaw",
    "TiltedRing",
    "bridge_potentials",
    "causal_limit",
    "causal_scale",
    "crossing_generator",
    "drift",
    "effective_degree",
    "energy_expectation",
    "energy_limit",
    "expectation",
    "expectation_of",
    "gaussian_circulation",
    "gaussian_stationary",
    "generator",
    "jump_part",
    "jump_rate",
    "killing_eigenvalue",
    "layer",
    "log_mass",
    "log_weight",
    "magnetic_expectation",
    "magnetic_limit",
    "profile_of",
    "revolution",
    "sampling_constants",
    "sampling_constants_of",
    "score_law",
    "sinkhorn_potential",
    "step_law",
    "strata_generator",
    "tangent_share",
]
