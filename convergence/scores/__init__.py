"""What is exponentiated and how it is normalised, as plain data."""

from .causal import Causal
from .conventions import CONVENTIONS, beta_from
from .distance import Distance
from .general_links import GeneralLink
from .heads import MEMBERS, CausalScore, Head
from .links import harmonic_link, killing_link
from .normalisations import (
    RANDOM_WALK,
    CoifmanLafon,
    KeyPotential,
    Normalisation,
    Sinkhorn,
    TargetMeasure,
)
from .per_point_metric import PerPointMetric

Score = Distance | PerPointMetric | Causal | GeneralLink

__all__ = [
    "CONVENTIONS",
    "MEMBERS",
    "RANDOM_WALK",
    "Causal",
    "CausalScore",
    "CoifmanLafon",
    "Distance",
    "GeneralLink",
    "Head",
    "KeyPotential",
    "Normalisation",
    "PerPointMetric",
    "Score",
    "Sinkhorn",
    "TargetMeasure",
    "beta_from",
    "harmonic_link",
    "killing_link",
]
