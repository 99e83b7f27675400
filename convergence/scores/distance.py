"""The distance kernel, plain, with a weight on its keys, or directed by a link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import real_array
from ..errors import InvalidInputError
from .links import Matrix, matrix_of
from .normalisations import RANDOM_WALK, KeyPotential, Normalisation, Sinkhorn


class Part(NamedTuple):
    """One Gaussian kernel exp(g(x) - β|u - y|²) of a score, for some queries x.

    Attributes
    ----------
    queries : ndarray, shape (..., D)
        u.
    beta : float
    log_weight : ndarray, shape (...), or float
        g.
    """

    queries: np.ndarray
    beta: float
    log_weight: np.ndarray | float = 0.0

    def log_kernel(self, keys: np.ndarray) -> np.ndarray:
        """g(x) - β|u - y|² for keys that broadcast with the queries, shape (...)."""
        return self.log_weight - self.beta * np.sum((self.queries - keys) ** 2, axis=-1)


def squared_distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """|x_i - y_j|² of every pair, differences formed first; shape (len(x), len(y))."""
    total = np.zeros((len(x), len(y)))
    for a in range(x.shape[1]):
        difference = x[:, a][:, None] - y[:, a][None, :]
        total += difference * difference
    return total


@dataclass(frozen=True)
class Distance:
    """The kernel K(x, y) = exp(-β|x - y|² + xᵀMy) h(y), row-normalised.

    The random walk (α = 0) has h = 1; a log-linear Doob weight has h(y) = exp(a·y) in the ambient
    coordinates; a normalisation multiplies h by its own weight. Every row-normalised kernel is an
    instance of the one primitive exp(-β|u_i - v_j|² + c_j); a score says which queries u, keys v
    and log-weights c are meant. A bilinear link xᵀMy moves the queries: up to terms without y it is

        -β|x - y|² + xᵀMy = -β|u - y|²,   u = x + Mᵀx/(2β).

    On a sphere of radius R, exp(β xᵀBy) of a whole bilinear head is the link M = β(B - 2I). A
    normalisation is that of the kernel without the link.

    Parameters
    ----------
    doob : tuple of float, optional
        The vector a of the log-linear Doob weight; empty for none.
    normalisation : Normalisation, optional
        The random walk by default.
    link : matrix, optional
        M in the ambient coordinates, square; empty for none. Antisymmetric for a proper link
        (see `harmonic_link`, `killing_link`); a symmetric part acts like a Doob weight
        exp(½ yᵀMy) in the limit.

    References
    ----------
    Candanedo, Attention Geometry, arXiv:2604.09560.
    """

    doob: tuple[float, ...] = ()
    normalisation: Normalisation = RANDOM_WALK
    link: Matrix = ()

    def __post_init__(self) -> None:
        real_array("the Doob vector", self.doob, finite=False)
        if len(self.link):
            object.__setattr__(self, "link", matrix_of(self.link))
        if self.link and isinstance(self.normalisation, Sinkhorn):
            raise InvalidInputError(
                "Sinkhorn's scaling is that of a symmetric kernel, which a link is not: give one "
                "or the other"
            )
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
        slope = real_array("the Doob vector", self.doob)
        if slope.shape != (ambient_dim,):
            raise InvalidInputError(f"the Doob vector needs {ambient_dim} numbers, not {self.doob}")
        return slope

    def one_form(self, features: np.ndarray) -> np.ndarray:
        """c = Mᵀx, the gradient of the link xᵀMy in y at y = x; shape (..., D)."""
        if not self.link:
            return np.zeros(np.shape(features))
        if len(self.link) != np.shape(features)[-1]:
            raise InvalidInputError(
                f"the link needs {np.shape(features)[-1]} rows and columns, not {len(self.link)}"
            )
        return real_array("features", features, finite=False) @ np.asarray(self.link)

    def queries(self, points: np.ndarray, beta: float) -> np.ndarray:
        """u = x + Mᵀx/(2β)."""
        return points + self.one_form(points) / (2 * beta) if self.link else points

    def parts(self, features: np.ndarray, beta: float) -> list[Part]:
        """The one Gaussian kernel that it is, up to terms without y."""
        return [Part(self.queries(features, beta), beta)]

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
