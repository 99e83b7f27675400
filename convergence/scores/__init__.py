"""What is exponentiated and how it is normalised, as plain data."""

from .distance import Distance

__all__ = ["Distance"]
