"""1 - I_{ν+ℓ}(r)/I_ν(r), the multiplier of a spherical harmonic, without cancellation."""

from __future__ import annotations

import numpy as np
from scipy import special


def harmonic_defect(ell: int, d: int, r: np.ndarray | float) -> np.ndarray:
    """1 - A_ℓ(r), where A_ℓ(r) = I_{ℓ+ν}(r)/I_ν(r) and ν = (d-1)/2.

    A_ℓ is the mean of a degree-ℓ harmonic under the von Mises-Fisher law of concentration r on
    S^d. For small r the ratio is formed directly: its rounding error, a few ε, is then harmless
    beside 1 - A_ℓ ≈ ℓ(ℓ+d-1)/(2r). For large r both Bessel functions are expanded by Hankel,

        I_ν(r) ∝ S_ν(r) = Σ_k (-1)^k a_k(ν) / r^k,   a_k(ν) = Π_{j≤k} (4ν² - (2j-1)²) / (8j),

    and S_ν - S_{ν+ℓ} is formed term by term, which keeps the full relative precision.

    Parameters
    ----------
    ell, d : int
        Degree ℓ ≥ 0 and dimension d ≥ 1 of the sphere.
    r : array_like
        Concentration, ≥ 0.

    Returns
    -------
    ndarray, the shape of r

    References
    ----------
    DLMF 10.40.1.
    """
    r = np.asarray(r, dtype=float)
    if ell == 0:
        return np.zeros(r.shape)
    nu = (d - 1) / 2
    order = nu + ell
    threshold = max(300.0, 8 * order**2)
    large = r > threshold
    near = np.where(large | (r == 0), 1.0, r)
    direct = np.where(r == 0, 1.0, 1 - special.ive(order, near) / special.ive(nu, near))
    return np.where(large, _hankel_defect(nu, order, np.where(large, r, threshold)), direct)


def _hankel_defect(nu: float, order: float, r: np.ndarray) -> np.ndarray:
    """(S_ν - S_order) / S_ν; beyond the threshold 20 terms fall below 1e-17."""
    term_nu = np.ones(r.shape)
    term_order = np.ones(r.shape)
    total = np.ones(r.shape)
    difference = np.zeros(r.shape)
    for j in range(1, 21):
        term_nu = -term_nu * (4 * nu**2 - (2 * j - 1) ** 2) / (8 * j * r)
        term_order = -term_order * (4 * order**2 - (2 * j - 1) ** 2) / (8 * j * r)
        total = total + term_nu
        difference = difference + (term_nu - term_order)
    return difference / total
