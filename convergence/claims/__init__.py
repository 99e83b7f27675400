"""Where the two wings meet: builders that pair an estimate with its references."""

from .bridges import bridge_claim
from .causal import CausalProblem, causal_claim
from .currents import CurrentProblem, current_claim
from .generator import GeneratorProblem, generator_claim
from .identity import identity_claim
from .moments import DensityProblem, MetricProblem, density_claim, metric_claim
from .schedules import PRESETS

__all__ = [
    "PRESETS",
    "CausalProblem",
    "CurrentProblem",
    "DensityProblem",
    "GeneratorProblem",
    "MetricProblem",
    "bridge_claim",
    "causal_claim",
    "current_claim",
    "density_claim",
    "generator_claim",
    "identity_claim",
    "metric_claim",
]
