"""Where the two wings meet: builders that pair an estimate with its references."""

from .generator import GeneratorProblem, generator_claim
from .schedules import PRESETS

__all__ = ["PRESETS", "GeneratorProblem", "generator_claim"]
