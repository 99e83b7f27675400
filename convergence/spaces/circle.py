"""The circle with uniform or von Mises density."""

from __future__ import annotations

import numpy as np

from ..arrays import real_array
from ..errors import require_real
from .polynomials import Polynomial, fourier_mode
from .space import require_draw
from .sphere import Sphere


class Circle(Sphere):
    """The circle of given radius in the plane, density ∝ exp(κ cos(θ - mean_angle)) in the angle.

    Parameters
    ----------
    kappa : float
        Concentration κ ≥ 0; 0 is the uniform density.
    mean_angle : float
        Angle of the density's maximum, in radians.
    radius : float
    """

    def __init__(self, kappa: float = 0.0, mean_angle: float = 0.0, radius: float = 1.0) -> None:
        mean_angle = require_real("mean_angle", mean_angle)
        mu = (float(np.cos(mean_angle)), float(np.sin(mean_angle)))
        super().__init__(1, kappa, mu if kappa else (), radius)

    @staticmethod
    def angle(x: np.ndarray) -> np.ndarray:
        """The angle θ in (-π, π] of points (..., 2)."""
        x = real_array("points", x, finite=False)
        return np.arctan2(x[..., 1], x[..., 0])

    def at(self, theta: np.ndarray | float) -> np.ndarray:
        """The points with angle θ, shape (..., 2)."""
        theta = real_array("theta", theta)
        return self.radius * np.stack([np.cos(theta), np.sin(theta)], axis=-1)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        require_draw(n, rng)
        mean = np.arctan2(self.concentration[1], self.concentration[0])
        return self.at(rng.vonmises(mean, self.kappa, n))

    def candidates(self) -> np.ndarray:
        return self.at(2 * np.pi * (np.arange(720) + 0.5) / 720)

    def fourier(self, k: int, phase: float = 0.0) -> Polynomial:
        """The test function cos(kθ + phase)."""
        return fourier_mode(k, phase, radius=self.radius)
