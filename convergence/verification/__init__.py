"""Claims, the four checks and their verdicts. Knows arrays only."""

from .claim import Batch, Claim, Fault, Sampler, Schedule, Setting
from .faults import detectable_error
from .joint import predicted_rmse
from .verdict import Outcome, Verdict, overall
from .verify import FALSE_ALARM_RATE, study_level, verify

__all__ = [
    "FALSE_ALARM_RATE",
    "Batch",
    "Claim",
    "Fault",
    "Outcome",
    "Sampler",
    "Schedule",
    "Setting",
    "Verdict",
    "detectable_error",
    "overall",
    "predicted_rmse",
    "study_level",
    "verify",
]
