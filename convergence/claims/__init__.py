"""Where the two wings meet: builders that pair an estimate with its references."""

from .bridges import bridge_claim
from .causal import CausalProblem, causal_claim
from .currents import CurrentProblem, current_claim
from .density import DensityProblem, density_claim
from .generator import GeneratorProblem, generator_claim
from .identity import identity_claim
from .killing import KillingProblem, killing_claim
from .magnetic import MagneticProblem, magnetic_claim
from .metric import MetricProblem, metric_claim
from .rotation import RotationProblem, rotation_claim
from .schedules import PRESETS

__all__ = [
    "PRESETS",
    "CausalProblem",
    "CurrentProblem",
    "DensityProblem",
    "GeneratorProblem",
    "KillingProblem",
    "MagneticProblem",
    "MetricProblem",
    "RotationProblem",
    "bridge_claim",
    "causal_claim",
    "current_claim",
    "density_claim",
    "generator_claim",
    "identity_claim",
    "killing_claim",
    "magnetic_claim",
    "metric_claim",
    "rotation_claim",
]
