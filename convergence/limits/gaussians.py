"""Closed forms on R^n with Gaussian density.

With ν = N(0, Σ) and K h = exp(-β|x-y|² + a·y), the law proportional to (K h)^p dν is N(m, C) with

    C = (2pβ I + Σ⁻¹)⁻¹,   m - x = C (p a - Σ⁻¹ x),

and the mean of a polynomial is the finite sum E f = Σ_k (½ C:∇∇)^k f(m) / k!.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from ..scores import Distance
from ..spaces import Gaussian, Polynomial, SmoothFunction
from .law import PolynomialLaw, as_polynomial, step_law


class GaussianLaw(PolynomialLaw):
    """The step law on R^n with density N(0, Σ)."""

    def __init__(self, space: Gaussian, score: Distance) -> None:
        self.space = space
        self.slope = score.slope(space.dim)

    def _law(self, x: np.ndarray, beta: float, power: int) -> tuple[np.ndarray, ...]:
        """C, the force b = p a - Σ⁻¹ x and the mean step m - x = C b."""
        precision = self.space.precision
        covariance = np.linalg.inv(2 * power * beta * np.eye(self.space.dim) + precision)
        force = power * self.slope - x @ precision
        return covariance, force, force @ covariance

    def log_mass(self, x: np.ndarray, beta: float, power: int) -> np.ndarray:
        """½ log(|C|/|Σ|) + ½ xᵀΣ⁻¹x + x·b + ½ b·(m - x), the β|x|² terms cancelled by hand."""
        x = np.asarray(x, dtype=float)
        covariance, force, step = self._law(x, beta, power)
        determinants = np.linalg.slogdet(covariance)[1] - np.linalg.slogdet(self.space.sigma)[1]
        quadratic = 0.5 * np.einsum("...a,ab,...b->...", x, self.space.precision, x)
        return 0.5 * determinants + quadratic + np.sum(x * force + 0.5 * step * force, axis=-1)

    def mean_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        covariance, _, step = self._law(x, beta, power)
        polynomial = as_polynomial(f)
        total = polynomial.increment(x, step)
        for k in range(1, polynomial.poly.total_degree() // 2 + 1):
            total = total + _contraction(polynomial, covariance, x + step, k) / factorial(k)
        return total


def _contraction(f: Polynomial, covariance: np.ndarray, x: np.ndarray, k: int) -> np.ndarray:
    """(½ C:∇∇)^k f(x)."""
    if k == 0 or f.poly.is_zero:
        return f(x)
    total = np.zeros(x.shape[:-1])
    for a, slope in enumerate(f.partials):
        for b, curvature in enumerate(slope.partials):
            total += 0.5 * covariance[a, b] * _contraction(curvature, covariance, x, k - 1)
    return total


@step_law.register
def _(space: Gaussian, score: Distance) -> GaussianLaw:
    return GaussianLaw(space, score)
