"""What is exponentiated and how it is normalised, as plain data."""

from .causal import Causal
from .conventions import CONVENTIONS, beta_from
from .distance import Distance, Part
from .general_links import GeneralLink
from .heads import MEMBERS, CausalScore, Head, ProductScore
from .indefinite_head import IndefiniteHead
from .links import harmonic_link, killing_link
from .mixtures import Jump, Mixture
from .normalisations import (
    RANDOM_WALK,
    CoifmanLafon,
    KeyPotential,
    Normalisation,
    Sinkhorn,
    TargetMeasure,
)
from .per_point_metric import PerPointMetric

GaussianScore = Distance | Mixture | IndefiniteHead
"""Sums of Gaussian kernels, for the fused primitive."""

Score = GaussianScore | PerPointMetric | Causal | GeneralLink

__all__ = [
    "CONVENTIONS",
    "MEMBERS",
    "RANDOM_WALK",
    "Causal",
    "CausalScore",
    "CoifmanLafon",
    "Distance",
    "GaussianScore",
    "GeneralLink",
    "Head",
    "IndefiniteHead",
    "Jump",
    "KeyPotential",
    "Mixture",
    "Normalisation",
    "Part",
    "PerPointMetric",
    "ProductScore",
    "Score",
    "Sinkhorn",
    "TargetMeasure",
    "beta_from",
    "harmonic_link",
    "killing_link",
]
