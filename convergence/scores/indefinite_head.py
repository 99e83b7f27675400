"""One indefinite head on Fourier features of the circle, with a remote bond at the critical gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import real_array
from ..errors import InvalidInputError, require_positive, require_real
from .distance import Part


@dataclass(frozen=True)
class IndefiniteHead:
    """The kernel exp(β s(y - x)) of a single head whose score has a second maximum at π.

        s(δ) = b₂ cos 2δ + (c + g/2) cos δ - c cos 3δ,     g = log(4β/λ)/β

    It is bilinear in the features (cos kθ, sin kθ), k = 1, 2, 3, with a negative coefficient where
    c > 0. The gap s(0) - s(π) is g, so that the far maximum has a relative mass of order λ/(4β):
    the critical one. At β = ∞ the curvatures there are κ₀ = 4b₂ - 8c and κ_π = 4b₂ + 8c.

    Parameters
    ----------
    second : float
        b₂ > 0.
    third : float
        c, |c| < b₂/2, so that both curvatures are positive.
    rate : float
        λ/ħ > 0.

    References
    ----------
    Candanedo, Attention Geometry, arXiv:2604.09560.
    """

    second: float
    third: float
    rate: float

    def __post_init__(self) -> None:
        require_positive("second", self.second)
        require_positive("a jump rate", self.rate)
        if not abs(require_real("third", self.third)) < self.second / 2:
            raise InvalidInputError(
                f"|third| must be under second/2 = {self.second / 2:g}, not {self.third!r}: else "
                "the score has no maximum at 0 or at π"
            )

    @property
    def images(self) -> tuple[Callable[[np.ndarray], np.ndarray], ...]:
        """The map x → -x to the far maximum."""
        return (np.negative,)

    @property
    def curvatures(self) -> tuple[float, float]:
        """κ₀ and κ_π."""
        return 4 * self.second - 8 * self.third, 4 * self.second + 8 * self.third

    def coefficients(self, beta: float) -> np.ndarray:
        """Those of cos δ, cos 2δ and cos 3δ in s."""
        gap = np.log(4 * beta / self.rate) / beta
        return np.array([self.third + gap / 2, self.second, -self.third])

    def fourier_features(self, points: np.ndarray) -> np.ndarray:
        """(cos kθ, sin kθ), k = 1, 2, 3, of points (..., 2) on the unit circle; shape (..., 6)."""
        points = real_array("points", points)
        off = points.shape[-1:] != (2,) or np.abs(np.linalg.norm(points, axis=-1) - 1) > 1e-9
        if np.any(off):
            raise InvalidInputError("an indefinite head needs points on the unit circle")
        theta = np.arctan2(points[..., 1], points[..., 0])[..., None] * np.arange(1, 4)
        return np.stack([np.cos(theta), np.sin(theta)], axis=-1).reshape(*points.shape[:-1], 6)

    def keys(self, points: np.ndarray) -> np.ndarray:
        """The Fourier features φ(y), all of length sqrt 3."""
        return self.fourier_features(points)

    def log_weights(self, features: np.ndarray, points: np.ndarray | None = None) -> None:
        """None: every key has the same weight."""
        return

    def parts(self, features: np.ndarray, beta: float) -> list[Part]:
        """exp(β Σ_k s_k φ_k(x)·φ_k(y)) as one Gaussian kernel exp(-β'|u - φ(y)|²), 2β'u = βsφ."""
        scale = np.repeat(self.coefficients(beta), 2)
        own, places = beta * float(np.max(np.abs(scale))) / 2, self.fourier_features(features)
        queries = beta * scale / (2 * own) * places
        # K(x, x) = 1, whatever the size of the exponents
        return [Part(queries, own, own * np.sum((queries - places) ** 2, axis=-1))]
