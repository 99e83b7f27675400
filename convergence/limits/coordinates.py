"""Coordinates in which a per-point metric is given: angles, or the Euclidean ones."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidInputError, NoReferenceError
from ..scores import PerPointMetric
from ..spaces import Circle, FlatTorus, Gaussian, SmoothFunction, Space


class Coordinates:
    """The coordinates u of a space, and derivatives of functions with respect to them.

    Every coordinate line is a circle (circles and flat tori, u the angles) or straight (Gaussian
    spaces, u = x): with E_a = ∂x/∂u_a and C_a = ∂²x/∂u_a²,

        x(u + δ) - x(u) = Σ_a sin(δ_a) E_a + 2 sin²(δ_a/2) C_a      or Σ_a δ_a E_a

    and mixed second derivatives of x are zero.

    Raises
    ------
    NoReferenceError
        When the space has no such coordinates, or the score's are others.
    """

    def __init__(self, space: Space, score: PerPointMetric) -> None:
        self.space = space
        self.periodic = isinstance(space, Circle | FlatTorus)
        if not isinstance(space, Circle | FlatTorus | Gaussian):
            raise NoReferenceError(
                f"no coordinates for a per-point metric are known on {type(space).__name__}: take "
                "a Circle, a FlatTorus or a Gaussian space"
            )
        if score.periodic != self.periodic or score.dim != space.dim:
            raise NoReferenceError(
                f"on {type(space).__name__} a per-point metric needs dimension {space.dim} and "
                f"periodic={self.periodic}, not {score.dim} and {score.periodic}"
            )
        circles = space.circles if isinstance(space, FlatTorus) else (space,)
        self._radii = [circle.radius for circle in circles if isinstance(circle, Circle)]

    @property
    def span(self) -> float:
        """The largest |δ_a|."""
        return np.pi if self.periodic else np.inf

    def of(self, x: np.ndarray) -> np.ndarray:
        """u(x), shape (..., d)."""
        if not self.periodic:
            return x
        lengths = np.hypot(x[..., ::2], x[..., 1::2])
        if x.shape[-1] != 2 * len(self._radii) or np.any(np.abs(lengths / self._radii - 1) > 1e-9):
            raise InvalidInputError(f"some points do not lie on {self.space}")
        return np.arctan2(x[..., 1::2], x[..., ::2])

    def frame(self, x: np.ndarray) -> np.ndarray:
        """E, shape (..., d, D)."""
        if not self.periodic:
            return np.broadcast_to(np.eye(self.space.dim), (*x.shape, x.shape[-1]))
        turned = -self.curvature(x)
        turned[..., ::2], turned[..., 1::2] = -turned[..., 1::2], turned[..., ::2].copy()
        return turned

    def curvature(self, x: np.ndarray) -> np.ndarray:
        """C, shape (..., d, D)."""
        if not self.periodic:
            return np.zeros((*x.shape, x.shape[-1]))
        own = np.repeat(np.eye(self.space.dim), 2, axis=1)  # which coordinates of x turn with u_a
        return -own * x[..., None, :]

    def step(self, x: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """x(u + δ) - x(u) without cancellation; x (..., D), δ (..., M, d), result (..., M, D)."""
        if not self.periodic:
            return delta
        return np.sin(delta) @ self.frame(x) + 2 * np.sin(delta / 2) ** 2 @ self.curvature(x)

    def gradient(self, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
        """∂_a f, shape (..., d)."""
        return np.einsum("...ai,...i->...a", self.frame(x), f.gradient(x))

    def hessian(self, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
        """∂_a ∂_b f, shape (..., d, d)."""
        frame = self.frame(x)
        bent = np.einsum("...ai,...i->...a", self.curvature(x), f.gradient(x))
        straight = np.einsum("...ai,...ij,...bj->...ab", frame, f.hessian(x), frame)
        return straight + bent[..., None] * np.eye(self.space.dim)

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """log q, the density against du, shape (...)."""
        return self.space.log_density(x) + float(np.sum(np.log(self._radii)))

    def log_density_gradient(self, x: np.ndarray) -> np.ndarray:
        """∂_a log q, shape (..., d)."""
        return np.einsum("...ai,...i->...a", self.frame(x), self.space.log_density_gradient(x))
