"""The spectrum of a rotation of the uniform sphere S²: complex, and known to rounding."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import sph_harm_y

from ..errors import InvalidInputError, require_positive
from .bessel import harmonic_defect

# harmonics of one m, and nodes of Gauss-Legendre in cos θ: the rest couples like (ω/2β)²
_HARMONICS, _NODES = 24, 80


def killing_eigenvalue(
    degree: int, order: int, omega: float, beta: float | None = None, hbar: float = 1.0
) -> complex:
    """The eigenvalue of 𝒞_β with link (ω×x)·y that belongs to the harmonic Y_ℓm around ω.

    P Y_ℓm(x) = A_ℓ(|z|) Y_ℓm(z/|z|) with z = 2βx + ω×x. A rotation by atan(|ω|/2β) takes the
    phase e^{im atan(|ω|/2β)} out, and what is left couples the degrees of one m, since
    |z|² = 4β² + |ω|² sin²θ: a small real matrix, integrated in cos θ. The limit is

        ħℓ(ℓ+1) - 2iħ m|ω|.

    Parameters
    ----------
    degree, order : int
        ℓ ≥ |m| and m.
    omega : float
        |ω|; negative for the reversed rotation.
    beta : float, optional
        The limit β → ∞ without it.
    hbar : float

    Raises
    ------
    InvalidInputError

    References
    ----------
    Watson, A Treatise on the Theory of Bessel Functions, section 11.4 (Funk-Hecke).
    """
    require_positive("hbar", hbar)
    if not 0 <= abs(order) <= degree < _HARMONICS / 2:
        raise InvalidInputError(
            f"harmonics need |m| ≤ ℓ < {_HARMONICS // 2}, not ℓ = {degree}, m = {order}"
        )
    if beta is None:
        return hbar * complex(degree * (degree + 1), -2 * order * omega)
    r = 2 * require_positive("beta", beta)
    m = abs(order)
    degrees = range(m, m + _HARMONICS)
    cosine, weights = leggauss(_NODES)
    length = np.sqrt(r**2 + omega**2 * (1 - cosine**2))
    before, after = (
        np.stack([sph_harm_y(ell, m, np.arccos(c), 0.0).real for ell in degrees])
        for c in (cosine, r * cosine / length)
    )
    defects = np.stack([harmonic_defect(ell, 2, length) for ell in degrees])
    # I - P: small differences first
    loss = 2 * np.pi * (before * weights) @ (before - after + defects * after).T
    found = np.linalg.eigvals(loss)
    lost = found[np.argsort(found.real)][degree - m]
    # 1 - e^{iφ}(1 - lost)
    phase = np.arctan2(omega, r) * order
    return complex(4 * hbar * beta * (lost * np.exp(1j * phase) - np.expm1(1j * phase)))
