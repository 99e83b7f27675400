"""The distance kernel, plain or with a Doob weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidInputError


@dataclass(frozen=True)
class Distance:
    """The kernel K(x, y) = exp(-β|x - y|²) h(y), row-normalised.

    The random walk (α = 0) has h = 1; a log-linear Doob weight has h(y) = exp(a·y) in the ambient
    coordinates. Every row-normalised kernel is an instance of the one primitive
    exp(-β|u_i - v_j|² + c_j); a score says which queries u, keys v and log-weights c are meant.

    Parameters
    ----------
    doob : tuple of float, optional
        The vector a of the log-linear Doob weight; empty for the random walk.
    """

    doob: tuple[float, ...] = ()

    def slope(self, ambient_dim: int) -> np.ndarray:
        """The vector a = ∇ log h, shape (D,)."""
        if not self.doob:
            return np.zeros(ambient_dim)
        if len(self.doob) != ambient_dim or not np.all(np.isfinite(self.doob)):
            raise InvalidInputError(
                f"the Doob vector needs {ambient_dim} finite numbers, not {self.doob}"
            )
        return np.asarray(self.doob, dtype=float)

    def queries(self, points: np.ndarray, beta: float) -> np.ndarray:
        """u = x."""
        return points

    def keys(self, points: np.ndarray) -> np.ndarray:
        """v = y."""
        return points

    def log_weights(self, points: np.ndarray) -> np.ndarray | None:
        """c = log h(y) = a·y, or None where h = 1."""
        return points @ self.slope(points.shape[1]) if self.doob else None
