"""Euclidean space with a Gaussian density."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy
from numpy.polynomial import hermite_e
from scipy import linalg, stats

from ..arrays import real_array
from ..errors import InvalidInputError
from .polynomials import Polynomial, coordinates
from .space import Space, require_draw


@dataclass(frozen=True)
class Gaussian(Space):
    """R^n with density N(0, Σ).

    Parameters
    ----------
    covariance : tuple of tuples of float
        Σ, symmetric and positive definite; ``((1.7,),)`` on the line.

    Raises
    ------
    InvalidInputError
        When Σ is not square, symmetric and positive definite.
    """

    covariance: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        sigma = real_array("the covariance", self.covariance)
        if sigma.ndim != 2 or sigma.shape[0] != sigma.shape[1] or not np.allclose(sigma, sigma.T):
            raise InvalidInputError("the covariance must be a square, symmetric matrix")
        try:
            linalg.cholesky(sigma)
        except (linalg.LinAlgError, ValueError) as error:
            raise InvalidInputError("the covariance must be positive definite") from error

    @cached_property
    def sigma(self) -> np.ndarray:
        """Σ as an array (n, n)."""
        return np.asarray(self.covariance, dtype=float)

    @cached_property
    def precision(self) -> np.ndarray:
        """Σ⁻¹ as an array (n, n)."""
        return linalg.inv(self.sigma)

    @property
    def dim(self) -> int:
        return len(self.covariance)

    @property
    def ambient_dim(self) -> int:
        return self.dim

    @property
    def volume(self) -> float:
        return np.inf

    def log_kernel_volume(self, beta: float) -> float:
        return self.dim / 2 * float(np.log(np.pi / beta))

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        require_draw(n, rng)
        return rng.multivariate_normal(np.zeros(self.dim), self.sigma, n, method="cholesky")

    def log_density(self, x: np.ndarray) -> np.ndarray:
        x = real_array("points", x, finite=False)
        return np.asarray(stats.multivariate_normal(cov=self.sigma).logpdf(x)).reshape(
            np.shape(x)[:-1]
        )

    def log_density_gradient(self, x: np.ndarray) -> np.ndarray:
        return -real_array("points", x, finite=False) @ self.precision

    def projector(self, x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(np.eye(self.dim), (*np.shape(x), self.dim))

    def mean_curvature(self, x: np.ndarray) -> np.ndarray:
        return np.zeros(np.shape(x))

    def candidates(self) -> np.ndarray:
        """Points within 1.5 standard deviations (Mahalanobis), evenly spread."""
        cube = 2 * stats.qmc.Halton(self.dim, scramble=False).random(2049)[1:] - 1
        ball = 1.5 * cube[np.linalg.norm(cube, axis=1) <= 1]
        return ball @ linalg.cholesky(self.sigma)

    def hermite(self, k: int, axis: int = 0) -> Polynomial:
        """The Hermite polynomial sᵏ Heₖ(x/s) of one coordinate, s² = σ²/2.

        The random walk's limit has the stationary density ρ², a Gaussian of half the sampling
        variance σ², so these (not the Hermite polynomials of ρ) are its eigenfunctions on the
        line, with eigenvalues 2ħk/σ².
        """
        x = coordinates(self.dim)[axis]
        variance = sympy.Rational(repr(float(self.sigma[axis, axis]))) / 2
        coefficients = hermite_e.herme2poly([0] * k + [1])
        terms = [
            round(c) * x**power * variance ** ((k - power) // 2)
            for power, c in enumerate(coefficients)
            if c
        ]
        name = rf"\mathrm{{He}}_{{{k}}}" + (f"(x_{{{axis}}})" if self.dim > 1 else "")
        return Polynomial.from_sympy(sympy.Add(*terms), self.dim, name)
