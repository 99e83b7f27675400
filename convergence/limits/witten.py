"""The limit of the distance kernel: the Witten (Einstein) drift-diffusion generator."""

from __future__ import annotations

import numpy as np

from ..errors import require_positive
from ..scores import Distance
from ..spaces import SmoothFunction, Space


def drift(
    space: Space, score: Distance, f: SmoothFunction, x: np.ndarray, hbar: float = 1.0
) -> np.ndarray:
    """2⟨dΦ, df⟩ with Φ = -ħ log(ρ h), at points x (rows of coordinates on a chart)."""
    potential_slope = -hbar * (space.log_density_gradient(x) + score.slope(space.ambient_dim))
    return 2 * np.einsum("...a,...a->...", potential_slope, space.gradient(f, x))


def diffusion(space: Space, f: SmoothFunction, x: np.ndarray, hbar: float = 1.0) -> np.ndarray:
    """-ħ Δf, at points x (rows of coordinates on a chart)."""
    return -hbar * space.laplacian(f, x)


def generator(
    space: Space, score: Distance, f: SmoothFunction, x: np.ndarray, hbar: float = 1.0
) -> np.ndarray:
    """The limit of 4ħβ(f - P_β f) as β → ∞ (N = ∞).

    𝒞f = -ħ Δf + 2⟨dΦ, df⟩,   Φ = -ħ log(ρ h),

    positive semi-definite in L²(exp(-2Φ/ħ) dV), where ρ is the sampling density against the
    Riemannian volume and h the Doob weight.

    Parameters
    ----------
    space : Space
    score : Distance
    f : test function
    x : ndarray
        Points of the space, shape (..., D), or (..., d) on a chart.
    hbar : float
        Diffusion constant ħ > 0.

    Returns
    -------
    ndarray, shape (...)

    References
    ----------
    Coifman and Lafon, Diffusion maps, 2006. Candanedo, Attention Geometry, arXiv:2604.09560.
    """
    require_positive("hbar", hbar)
    return diffusion(space, f, x, hbar) + drift(space, score, f, x, hbar)
