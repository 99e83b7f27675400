"""Claims, the four checks and their verdicts. Knows arrays only."""

from .claim import Batch, Claim, Fault, Reference, Sampler, Schedule, Setting
from .joint import predicted_rmse
from .verdict import Outcome, Verdict, overall
from .verify import FALSE_ALARM_RATE, study_level, verify

__all__ = [
    "FALSE_ALARM_RATE",
    "Batch",
    "Claim",
    "Fault",
    "Outcome",
    "Reference",
    "Sampler",
    "Schedule",
    "Setting",
    "Verdict",
    "overall",
    "predicted_rmse",
    "study_level",
    "verify",
]
