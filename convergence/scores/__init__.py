"""What is exponentiated and how it is normalised, as plain data."""

from .distance import Distance
from .per_point_metric import PerPointMetric

Score = Distance | PerPointMetric

__all__ = ["Distance", "PerPointMetric", "Score"]
