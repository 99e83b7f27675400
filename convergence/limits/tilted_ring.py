"""The steady state of a tilted ring: Stratonovich's formula."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss

from ..arrays import real_array
from ..errors import NoReferenceError, require_positive
from ..scores import Distance
from ..spaces import Circle
from .law import refuse_normalisation

# nodes of the trapezoid rule around the ring, and of Gauss-Legendre from one turn to the next
_AROUND, _TURN = 512, 200


class TiltedRing:
    """The stationary density, current and entropy production of the limit on a circle.

    In the angle θ of a circle of radius R, 𝒞 = (ħ/R²)(-∂² + U'∂) with

        U = -2 log(ρh) - xᵀSx - 2κθ,   κ = R² (M₀₁ - M₁₀)/2,

    S the symmetric part of the link's matrix M and κ what its antisymmetric part, the constant
    one-form κ dθ, adds: U is no function on the circle, U(θ + 2π) = U(θ) - 4πκ. Then

        p(θ) ∝ ∫_θ^{θ+2π} exp(U(φ) - U(θ)) dφ,   j = (ħ/R²)(-p' - U'p),

    with a constant current j, the net probability that passes any point per unit time, and the
    entropy production ∫ (R² j²/ħp) dθ. On the uniform unit circle j = 2ħκ/2π and 4ħκ².

    Parameters
    ----------
    space : Circle
    score : Distance
        With the random-walk normalisation.
    hbar : float

    Raises
    ------
    NoReferenceError
        For another space or normalisation.

    References
    ----------
    Risken, The Fokker-Planck Equation, chapter 11. Stratonovich 1967.
    """

    def __init__(self, space: Circle, score: Distance, hbar: float = 1.0) -> None:
        if not isinstance(space, Circle):
            raise NoReferenceError(f"a tilted ring is a Circle, not {type(space).__name__}")
        refuse_normalisation(space, score)
        self.space, self.score, self.hbar = space, score, require_positive("hbar", hbar)
        link = score.one_form(np.eye(2))  # M
        self._symmetric = (link + link.T) / 2
        self.tilt = float(space.radius**2 * (link[0, 1] - link[1, 0]) / 2)
        """κ: the integral of the one-form once around is 2πκ."""

    def _potential(self, theta: np.ndarray) -> np.ndarray:
        """U(θ), shape of theta."""
        x = self.space.at(theta)
        periodic = self.space.log_density(x) + x @ self.score.slope(2)
        exact = np.einsum("...a,ab,...b->...", x, self._symmetric, x)
        return -2 * (periodic + self.tilt * theta) - exact

    def _unnormalised(self, theta: np.ndarray) -> np.ndarray:
        """∫_θ^{θ+2π} exp(U(φ) - U(θ) - shift) dφ, shift the larger of 0 and -4πκ."""
        nodes, weights = leggauss(_TURN)
        phi = theta[..., None] + np.pi * (1 + nodes)
        exponents = self._potential(phi) - self._potential(theta)[..., None]
        return np.pi * np.exp(exponents - max(0.0, -4 * np.pi * self.tilt)) @ weights

    @cached_property
    def _around(self) -> np.ndarray:
        """The unnormalised density at equal angles."""
        return self._unnormalised(2 * np.pi * np.arange(_AROUND) / _AROUND)

    @cached_property
    def _mass(self) -> float:
        return float(2 * np.pi * np.mean(self._around))

    def density(self, theta: np.ndarray | float) -> np.ndarray:
        """The stationary density per unit angle, shape of theta; over R it is per unit length."""
        return self._unnormalised(real_array("theta", theta)) / self._mass

    @cached_property
    def current(self) -> float:
        """j, counted in the direction of increasing angles."""
        turn = -4 * np.pi * self.tilt  # U(θ + 2π) - U(θ)
        flow = -np.expm1(turn) if turn <= 0 else np.expm1(-turn)
        return float(self.hbar / self.space.radius**2 * flow / self._mass)

    @cached_property
    def entropy_production(self) -> float:
        """Per unit time."""
        inverse = 2 * np.pi * np.mean(self._mass / self._around)
        return float(self.space.radius**2 * self.current**2 * inverse / self.hbar)
