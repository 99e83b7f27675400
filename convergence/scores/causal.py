"""The causal mask: keys at or before the query's position only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidInputError, require_flag, require_whole
from .distance import squared_distances


@dataclass(frozen=True)
class Causal:
    """The kernel K(x, y) = exp(-β|x - y|²) where y's position is at most x's, else 0.

    A call (queries, keys, β) gives the scores, minus infinity for pairs that the mask removes, so
    that an instance can be summed by `convergence.kernels.score_sums`.

    Parameters
    ----------
    axis : int
        The ambient coordinate that is the position.
    reversed : bool
        Whether the future is kept instead of the past.
    """

    axis: int = 0
    reversed: bool = False

    def __post_init__(self) -> None:
        require_whole("axis", self.axis)
        require_flag("reversed", self.reversed)

    def __call__(self, queries: Any, keys: Any, beta: float) -> Any:
        """s of every pair, shape (len(queries), len(keys))."""
        if not 0 <= self.axis < queries.shape[1]:
            raise InvalidInputError(
                f"the position is coordinate {self.axis} of points with {queries.shape[1]}"
            )
        ahead = keys[:, self.axis][None, :] - queries[:, self.axis][:, None]
        if self.reversed:
            ahead = -ahead
        return np.where(ahead <= 0, -beta * squared_distances(queries, keys), -np.inf)
