"""The spectrum of a rotation of the uniform sphere S²: complex, and known to rounding."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import sph_harm_y

from ..errors import (
    InvalidInputError,
    NoReferenceError,
    require_positive,
    require_real,
)
from .bessel import harmonic_defect

# harmonics of one m, and nodes of Gauss-Legendre in cos θ, doubled until two sizes agree. In
# units of the gaps the coupling is ω²/β: 24 harmonics hold 1e-11 to ω² ≈ 30β, 48 to ω² ≈ 120β
_SIZES = ((24, 80), (48, 160), (96, 320))
_AGREEMENT = 1e-11  # of λ/4ħβ = 1 - P; rounding is 1e-13


def killing_eigenvalue(
    degree: int, order: int, omega: float, beta: float | None = None, hbar: float = 1.0
) -> complex:
    """The eigenvalue of 𝒞_β with link (ω×x)·y that belongs to the harmonic Y_ℓm around ω.

    P Y_ℓm(x) = A_ℓ(|z|) Y_ℓm(z/|z|) with z = 2βx + ω×x. A rotation by atan(ω/2β) takes the
    phase e^{im atan(ω/2β)} out, and what is left couples the degrees of one m, since
    |z|² = 4β² + ω² sin²θ: a small real matrix, integrated in cos θ. Of its eigenvalues, by
    increasing real part, ℓ - |m| lie below that of ℓ. The limit is

        ħℓ(ℓ+1) - 2iħ mω.

    Beside the gaps of that spectrum the coupling grows like ω²/β, and the number of harmonics with
    it: their number is doubled until two sizes agree to 1e-11 of 4ħβ.

    Parameters
    ----------
    degree, order : int
        ℓ ≥ |m| and m.
    omega : float
        ω, around the axis of the harmonics; either sign.
    beta : float, optional
        The limit β → ∞ without it.
    hbar : float

    Returns
    -------
    complex

    Raises
    ------
    InvalidInputError
    NoReferenceError
        When the rotation is so fast that the largest two sizes disagree.

    References
    ----------
    Watson, A Treatise on the Theory of Bessel Functions, section 11.4 (Funk-Hecke).
    """
    require_positive("hbar", hbar)
    smallest = _SIZES[0][0]
    whole = isinstance(degree, Integral) and isinstance(order, Integral)
    if not whole or not 0 <= abs(order) <= degree < smallest / 2:
        raise InvalidInputError(
            f"harmonics need |m| ≤ ℓ < {smallest // 2}, not ℓ = {degree}, m = {order}"
        )
    require_real("omega", omega)
    if beta is None:
        return hbar * complex(degree * (degree + 1), -2 * order * omega)
    r = 2 * require_positive("beta", beta)
    lost = complex(np.nan)  # agrees with nothing
    for size in _SIZES:
        coarser, lost = lost, _lost(degree, abs(order), omega, r, *size)
        if abs(lost - coarser) <= _AGREEMENT:
            # 1 - e^{iφ}(1 - lost)
            phase = np.arctan2(omega, r) * order
            return complex(4 * hbar * beta * (lost * np.exp(1j * phase) - np.expm1(1j * phase)))
    raise NoReferenceError(
        f"{_SIZES[-1][0]} harmonics do not hold a rotation as fast as omega = {omega:g} at "
        f"beta = {beta:g}; take a larger beta"
    )


def _lost(degree: int, m: int, omega: float, r: float, harmonics: int, nodes: int) -> complex:
    """The eigenvalue of I - P without its turn, from so many harmonics and nodes."""
    degrees = np.arange(m, m + harmonics)
    cosine, weights = leggauss(nodes)
    length = np.sqrt(r**2 + omega**2 * (1 - cosine**2))
    before, after = (
        sph_harm_y(degrees[:, None], m, np.arccos(c), 0.0).real
        for c in (cosine, r * cosine / length)
    )
    defects = np.stack([harmonic_defect(int(ell), 2, length) for ell in degrees])
    # I - P: small differences first
    loss = 2 * np.pi * (before * weights) @ (before - after + defects * after).T
    found = np.linalg.eigvals(loss)
    return complex(found[np.argsort(found.real)][degree - m])
