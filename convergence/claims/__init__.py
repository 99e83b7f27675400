"""Where the two wings meet: builders that pair an estimate with its references."""

from .bridges import bridge_claim
from .causal import CausalProblem, causal_claim
from .critical import critical_exponent_claim
from .currents import CurrentProblem, current_claim
from .density import DensityProblem, density_claim
from .energy import energy_claim
from .exponents import ExponentProblem, decay_claim, exponent_claim
from .generator import GeneratorProblem, generator_claim
from .identity import identity_claim
from .killing import KillingProblem, killing_claim
from .magnetic import MagneticProblem, magnetic_claim
from .metric import MetricProblem, metric_claim
from .rotation import RotationProblem, rotation_claim
from .schedules import PRESETS
from .sectors import Sector, SectorProblem, sector_claim
from .star_spectrum import SpectrumProblem, SubspaceProblem, spectrum_claim, subspace_claim
from .steady import steady_claim
from .strata import (
    dimension_claim,
    interior_claim,
    layer_claim,
    share_claim,
    strata_claim,
    turned,
)
from .strata_problems import DimensionProblem, StrataProblem
from .varadhan import varadhan_claim

__all__ = [
    "PRESETS",
    "CausalProblem",
    "CurrentProblem",
    "DensityProblem",
    "DimensionProblem",
    "ExponentProblem",
    "GeneratorProblem",
    "KillingProblem",
    "MagneticProblem",
    "MetricProblem",
    "RotationProblem",
    "Sector",
    "SectorProblem",
    "SpectrumProblem",
    "StrataProblem",
    "SubspaceProblem",
    "bridge_claim",
    "causal_claim",
    "critical_exponent_claim",
    "current_claim",
    "decay_claim",
    "density_claim",
    "dimension_claim",
    "energy_claim",
    "exponent_claim",
    "generator_claim",
    "identity_claim",
    "interior_claim",
    "killing_claim",
    "layer_claim",
    "magnetic_claim",
    "metric_claim",
    "rotation_claim",
    "sector_claim",
    "share_claim",
    "spectrum_claim",
    "steady_claim",
    "strata_claim",
    "subspace_claim",
    "turned",
    "varadhan_claim",
]
