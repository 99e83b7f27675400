"""Round spheres with uniform or von Mises-Fisher density."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special, stats

from ..arrays import real_array
from ..errors import InvalidInputError, require_positive, require_real, require_whole
from .space import Space, require_draw

OFF = 1e-9  # of the radius: points farther from the sphere than this lie off it


def log_mean_exponential(d: int, r: np.ndarray | float, *, scaled: bool = False) -> np.ndarray:
    """log of the mean of exp(r e·y) over the uniform unit sphere S^d, e a unit vector.

    The mean is Γ(ν+1) (2/r)^ν I_ν(r) with ν = (d-1)/2, computed with the scaled Bessel function;
    `scaled` leaves out the factor exp(r), without cancellation at large r.
    """
    r = np.asarray(r, dtype=float)
    nu = (d - 1) / 2
    safe = np.where(r > 0, r, 1.0)
    # beyond 1e8, where ive is lost, I_ν is its first two terms to rounding
    near = np.minimum(safe, 1e8)
    far = -0.5 * np.log(2 * np.pi * safe) - (4 * nu**2 - 1) / (8 * safe)
    log_bessel = np.where(safe > near, far, np.log(special.ive(nu, near)))
    log_mean = special.gammaln(nu + 1) + nu * np.log(2 / safe) + log_bessel
    return np.where(r > 0, log_mean if scaled else log_mean + safe, 0.0)


@dataclass(frozen=True)
class Sphere(Space):
    """The sphere S^d of given radius in R^{d+1}, density ρ ∝ exp(κ μ·x/radius).

    Parameters
    ----------
    d : int
        Dimension, at least 1 (`Circle` is S^1 with its angle).
    kappa : float
        Concentration κ ≥ 0; 0 is the uniform density.
    mu : tuple of float, optional
        Mean direction μ, normalised here; needed when κ > 0.
    radius : float
    """

    d: int
    kappa: float = 0.0
    mu: tuple[float, ...] = ()
    radius: float = 1.0

    def __post_init__(self) -> None:
        require_whole("the dimension d of a sphere", self.d, 1)
        if require_real("kappa", self.kappa) < 0:
            raise InvalidInputError(f"kappa must be finite and >= 0, not {self.kappa}")
        require_positive("the radius", self.radius)
        mu = real_array("mu", self.mu)
        if self.kappa > 0 and (mu.shape != (self.d + 1,) or not np.linalg.norm(mu) > 0):
            raise InvalidInputError(
                f"kappa > 0 needs a mean direction mu of {self.d + 1} numbers, not {self.mu}"
            )

    @property
    def dim(self) -> int:
        return self.d

    @property
    def ambient_dim(self) -> int:
        return self.d + 1

    @property
    def volume(self) -> float:
        half = (self.d + 1) / 2
        return float(2 * np.pi**half / special.gamma(half) * self.radius**self.d)

    @cached_property
    def concentration(self) -> np.ndarray:
        """The vector κμ of the density exp(κμ·y), y on the unit sphere; shape (d+1,)."""
        if self.kappa == 0:
            return np.zeros(self.d + 1)
        return self.kappa * np.asarray(self.mu, float) / np.linalg.norm(self.mu)

    def log_kernel_volume(self, beta: float) -> float:
        concentration = 2 * beta * self.radius**2
        return float(np.log(self.volume) + log_mean_exponential(self.d, concentration, scaled=True))

    def refuse_outside(self, x: np.ndarray) -> None:
        if np.any(np.abs(np.linalg.norm(x, axis=-1) / self.radius - 1) > OFF):
            raise InvalidInputError(f"some points do not lie on {self}")

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        require_draw(n, rng)
        if self.kappa == 0:
            unit = stats.uniform_direction(self.d + 1).rvs(n, random_state=rng)
        else:
            law = stats.vonmises_fisher(self.concentration / self.kappa, self.kappa)  # type: ignore
            unit = law.rvs(n, random_state=rng)
        return self.radius * unit.reshape(n, self.d + 1)

    def log_density(self, x: np.ndarray) -> np.ndarray:
        constant = np.log(self.volume) + log_mean_exponential(self.d, self.kappa)
        return real_array("points", x, finite=False) @ self.concentration / self.radius - constant

    def log_density_gradient(self, x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(self.concentration / self.radius, np.shape(x))

    def projector(self, x: np.ndarray) -> np.ndarray:
        unit = real_array("points", x, finite=False) / self.radius
        return np.eye(self.d + 1) - unit[..., :, None] * unit[..., None, :]

    def mean_curvature(self, x: np.ndarray) -> np.ndarray:
        return -self.d / self.radius**2 * real_array("points", x, finite=False)

    def candidates(self) -> np.ndarray:
        cube = stats.qmc.Halton(self.d + 1, scramble=False).random(1025)[1:]
        normal = special.ndtri(cube)
        return self.radius * normal / np.linalg.norm(normal, axis=1, keepdims=True)
