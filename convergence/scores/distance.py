"""The distance kernel, plain or with a weight on its keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidInputError
from .normalisations import RANDOM_WALK, KeyPotential, Normalisation, Sinkhorn


@dataclass(frozen=True)
class Distance:
    """The kernel K(x, y) = exp(-β|x - y|²) h(y), row-normalised.

    The random walk (α = 0) has h = 1; a log-linear Doob weight has h(y) = exp(a·y) in the ambient
    coordinates; a normalisation multiplies h by its own weight. Every row-normalised kernel is an
    instance of the one primitive exp(-β|u_i - v_j|² + c_j); a score says which queries u, keys v
    and log-weights c are meant.

    Parameters
    ----------
    doob : tuple of float, optional
        The vector a of the log-linear Doob weight; empty for none.
    normalisation : Normalisation, optional
        The random walk by default.
    """

    doob: tuple[float, ...] = ()
    normalisation: Normalisation = RANDOM_WALK

    def __post_init__(self) -> None:
        if self.doob and isinstance(self.normalisation, Sinkhorn):
            raise InvalidInputError(
                "Sinkhorn's scaling fixes the weights of the keys and would undo a Doob weight: "
                "give one or the other"
            )

    @property
    def reuses_sample(self) -> bool:
        """Whether the weights of the keys are themselves estimated from the sample."""
        return not (
            self.normalisation == RANDOM_WALK or isinstance(self.normalisation, KeyPotential)
        )

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

    def doob_log_weights(self, points: np.ndarray) -> np.ndarray | None:
        """a·y, or None where there is no Doob weight."""
        return points @ self.slope(points.shape[1]) if self.doob else None

    def log_weights(
        self, features: np.ndarray, points: np.ndarray | None = None
    ) -> np.ndarray | None:
        """c = log h(y) = a·y (+ ψ(y)), or None where h = 1.

        Parameters
        ----------
        features : ndarray, shape (n, D)
            Where the Doob weight is evaluated.
        points : ndarray, optional
            Where ψ is: on a chart its coordinates (n, d); the features by default.

        Raises
        ------
        InvalidInputError
            When the weights depend on the whole sample.
        """
        if self.reuses_sample:
            raise InvalidInputError(
                f"the weights of {self.normalisation} depend on the whole sample: pass "
                "log_weights=operators.sample_log_weights(points, score, beta, self_loops=...)"
            )
        weights = self.doob_log_weights(features)
        if isinstance(self.normalisation, KeyPotential):
            psi = self.normalisation.log_weight(features if points is None else points)
            return psi if weights is None else weights + psi
        return weights
