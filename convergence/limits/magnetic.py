"""The magnetic operator on the uniform circle: a phase e^{ia} on every pair of P."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy import special

from ..errors import InvalidInputError, require_positive, require_real
from .bessel import harmonic_defect


def magnetic_expectation(flux: float, k: int, beta: float, hbar: float = 1.0) -> float:
    """4ħβ (1 - μ_k), μ_k the eigenvalue of P ⊙ exp(i a₀ sin(y - x)) on e^{ikθ}, N = ∞.

    With R = sqrt(4β² - a₀²),

        μ_k = I_k(R)/I_0(2β) ((2β - a₀)/(2β + a₀))^{k/2},

    formed as the exponential of a small logarithm, free of cancellation.

    Parameters
    ----------
    flux : float
        a₀, |a₀| < 2β.
    k : int
    beta, hbar : float

    Raises
    ------
    InvalidInputError

    References
    ----------
    Singer and Wu, Vector diffusion maps and the connection Laplacian, 2012.
    """
    require_positive("hbar", hbar)
    r = 2 * require_positive("beta", beta)
    require_real("the wave number k", k)
    if not abs(require_real("flux", flux)) < r:
        raise InvalidInputError(
            f"the flux must lie between -2β and 2β, not {flux} at beta = {beta:g}"
        )
    below = -(flux**2) / (np.sqrt(r**2 - flux**2) + r)  # R - 2β
    # log I_0(R)/I_0(2β) is the integral of I_1/I_0 from 2β to R
    nodes, weights = leggauss(20)
    slope = 1 - harmonic_defect(1, 1, r + below * (1 + nodes) / 2)
    logarithm = 0.5 * below * float(slope @ weights)
    logarithm += float(np.log1p(-harmonic_defect(abs(k), 1, r + below)))
    logarithm += 0.5 * k * (special.log1p(-flux / r) - special.log1p(flux / r))
    return float(-4 * hbar * beta * np.expm1(logarithm))


def magnetic_limit(flux: float, k: int, hbar: float = 1.0) -> float:
    """ħ (k + a₀)², the eigenvalue of -ħ(∂ + i a₀)² on e^{ikθ}."""
    wave = require_real("the wave number k", k) + require_real("flux", flux)
    return require_positive("hbar", hbar) * wave**2
