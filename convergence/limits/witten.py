"""The limit of the distance kernel: the Witten (Einstein) drift-diffusion generator."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ..errors import NoReferenceError, require_positive
from ..scores import CoifmanLafon, Distance, KeyPotential, Normalisation, Sinkhorn, TargetMeasure
from ..spaces import SmoothFunction, Space


@singledispatch
def log_weight_gradient(normalisation: Normalisation, space: Space, x: np.ndarray) -> np.ndarray:
    """The ambient gradient of log h, h the limit of the normalisation's weight, shape (..., D).

    Raises
    ------
    NoReferenceError
        For a normalisation that is not known here.
    """
    raise NoReferenceError(f"no limit is known for the normalisation {normalisation!r}")


@log_weight_gradient.register
def _(normalisation: CoifmanLafon, space: Space, x: np.ndarray) -> np.ndarray:
    return -normalisation.alpha * space.log_density_gradient(x)


@log_weight_gradient.register
def _(normalisation: Sinkhorn, space: Space, x: np.ndarray) -> np.ndarray:
    return -0.5 * space.log_density_gradient(x)


@log_weight_gradient.register
def _(normalisation: TargetMeasure, space: Space, x: np.ndarray) -> np.ndarray:
    return 0.5 * normalisation.log_density.gradient(x) - space.log_density_gradient(x)


@log_weight_gradient.register
def _(normalisation: KeyPotential, space: Space, x: np.ndarray) -> np.ndarray:
    return normalisation.log_weight.gradient(x)


def drift(
    space: Space, score: Distance, f: SmoothFunction, x: np.ndarray, hbar: float = 1.0
) -> np.ndarray:
    """2⟨dΦ, df⟩ with Φ = -ħ log(ρ h), at points x of shape (..., D)."""
    slope = space.log_density_gradient(x) + score.slope(space.ambient_dim)
    potential_slope = -hbar * (slope + log_weight_gradient(score.normalisation, space, x))
    return 2 * np.einsum("...a,...a->...", potential_slope, space.gradient(f, x))


def diffusion(space: Space, f: SmoothFunction, x: np.ndarray, hbar: float = 1.0) -> np.ndarray:
    """-ħ Δf, at points x of shape (..., D)."""
    return -hbar * space.laplacian(f, x)


def generator(
    space: Space, score: Distance, f: SmoothFunction, x: np.ndarray, hbar: float = 1.0
) -> np.ndarray:
    """The limit of 4ħβ(f - P_β f) as β → ∞ (N = ∞).

    𝒞f = -ħ Δf + 2⟨dΦ, df⟩,   Φ = -ħ log(ρ h),

    positive semi-definite in L²(exp(-2Φ/ħ) dV), where ρ is the sampling density against the
    Riemannian volume and h the weight of the keys: the Doob weight times the limit of the
    normalisation's, ρ^-α for Coifman-Lafon, ρ^-½ for Sinkhorn, t^½/ρ for a target t dV.

    Parameters
    ----------
    space : Space
    score : Distance
    f : test function
    x : ndarray, shape (..., D)
    hbar : float
        Diffusion constant ħ > 0.

    Returns
    -------
    ndarray, shape (...)

    References
    ----------
    Coifman and Lafon, Diffusion maps, 2006. Marshall and Coifman, Manifold learning with
    bi-stochastic kernels, 2019. Candanedo, Attention Geometry, arXiv:2604.09560.
    """
    require_positive("hbar", hbar)
    return diffusion(space, f, x, hbar) + drift(space, score, f, x, hbar)
