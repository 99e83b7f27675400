"""Closed forms on R^n with Gaussian density.

With ν = N(0, Σ) and K h = exp(-β|x-y|² + xᵀMy + a·y + ½ yᵀWy), the law proportional to (K h)^p dν
is N(m, C) with

    C = (2pβ I + Σ⁻¹ - pW)⁻¹,   m - x = C (p(a + Mᵀx) - (Σ⁻¹ - pW) x),

and the mean of a polynomial is the finite sum E f = Σ_k (½ C:∇∇)^k f(m) / k!. The weight of a
normalisation is Gaussian too, with the eigenvectors of Σ. For an eigenvalue 1/s of Σ, W has

    Coifman-Lafon:   α / (1/s + 1/(2β))                    from q_β = N(0, Σ + I/(2β)),
    Sinkhorn:        ½[(4β+s) - sqrt((4β+s)² - 8βs)]       the fixed point of w = 2βs'/(2β+s'),
                                                           s' = s - w.
"""

from __future__ import annotations

from functools import singledispatch
from math import factorial

import numpy as np

from ..arrays import real_array
from ..errors import NoReferenceError
from ..scores import RANDOM_WALK, CoifmanLafon, Distance, Normalisation, Sinkhorn
from ..spaces import Gaussian, Polynomial, SmoothFunction
from .law import PolynomialLaw, as_polynomial, step_law


class GaussianLaw(PolynomialLaw):
    """The step law on R^n with density N(0, Σ)."""

    def __init__(self, space: Gaussian, score: Distance) -> None:
        self.space = space
        self.score = score
        self.normalisation = score.normalisation
        self.slope = score.slope(space.dim)

    def _law(self, x: np.ndarray, beta: float, power: int) -> tuple[np.ndarray, ...]:
        """C, the force b = p(a + Mᵀx) - (Σ⁻¹ - pW) x and the mean step m - x = C b."""
        precision = self._weighted_precision(beta, power)
        inverse = 2 * power * beta * np.eye(self.space.dim) + precision
        if np.min(np.linalg.eigvalsh(inverse)) <= 0:
            raise NoReferenceError(
                f"the weights of {self.normalisation!r} have infinite mass under the kernel at "
                f"beta = {beta:g}; take a larger beta or a smaller alpha"
            )
        covariance = np.linalg.inv(inverse)
        force = power * (self.slope + self.score.one_form(x)) - x @ precision
        return covariance, force, force @ covariance

    def _weighted_precision(self, beta: float, power: int) -> np.ndarray:
        """Σ⁻¹ - pW, formed as pT - (p-1)Σ⁻¹ with T = Σ⁻¹ - W free of cancellation."""
        if self.normalisation == RANDOM_WALK:
            return self.space.precision
        variances, axes = np.linalg.eigh(self.space.sigma)
        tilted = _tilted_precision(self.normalisation, variances, beta)
        return (axes * (power * tilted - (power - 1) / variances)) @ axes.T

    def log_mass(self, x: np.ndarray, beta: float, power: int) -> np.ndarray:
        """½ log(|C|/|Σ|) + ½ xᵀ(Σ⁻¹-pW)x + x·b + ½ b·(m - x), β|x|² cancelled by hand."""
        x = real_array("points", x, finite=False)
        covariance, force, step = self._law(x, beta, power)
        determinants = np.linalg.slogdet(covariance)[1] - np.linalg.slogdet(self.space.sigma)[1]
        quadratic = 0.5 * np.einsum(
            "...a,ab,...b->...", x, self._weighted_precision(beta, power), x
        )
        return 0.5 * determinants + quadratic + np.sum(x * force + 0.5 * step * force, axis=-1)

    def mean_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        x = real_array("points", x, finite=False)
        covariance, _, step = self._law(x, beta, power)
        polynomial = as_polynomial(f)
        total = polynomial.increment(x, step)
        for k in range(1, polynomial.poly.total_degree() // 2 + 1):
            total = total + _contraction(polynomial, covariance, x + step, k) / factorial(k)
        return total


@singledispatch
def _tilted_precision(
    normalisation: Normalisation, variances: np.ndarray, beta: float
) -> np.ndarray:
    """Eigenvalues of Σ⁻¹ - W, in the order of the eigenvalues of Σ."""
    raise NoReferenceError(
        f"no closed-form expectation is known under a Gaussian density for {normalisation!r}"
    )


@_tilted_precision.register
def _(normalisation: CoifmanLafon, variances, beta) -> np.ndarray:
    alpha, width = normalisation.alpha, 0.5 / beta
    return (1 - alpha) / variances + alpha * width / (variances * (variances + width))


@_tilted_precision.register
def _(normalisation: Sinkhorn, variances, beta) -> np.ndarray:
    if normalisation.log_marginal is not None:
        raise NoReferenceError(
            "under a Gaussian density Sinkhorn's closed form knows the marginal ν only, not a dν"
        )
    s, b = 1 / variances, 4 * beta + 1 / variances
    return s - 4 * beta * s / (b + np.sqrt(b**2 - 8 * beta * s))


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
