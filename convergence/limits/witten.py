"""The limit generator, and that of the distance kernel: Witten (Einstein) and Girsanov drift."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ..errors import NoReferenceError, require_positive
from ..scores import (
    CoifmanLafon,
    Distance,
    KeyPotential,
    Normalisation,
    Score,
    Sinkhorn,
    TargetMeasure,
)
from ..spaces import SmoothFunction, Space


@singledispatch
def log_weight_gradient(normalisation: Normalisation, space: Space, x: np.ndarray) -> np.ndarray:
    """The gradient of log h, h the limit of the normalisation's weight, shape (..., D).

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
    gradient = -0.5 * space.log_density_gradient(x)
    if normalisation.log_marginal is None:
        return gradient
    return gradient + 0.5 * space.gradient(normalisation.log_marginal, x)


@log_weight_gradient.register
def _(normalisation: TargetMeasure, space: Space, x: np.ndarray) -> np.ndarray:
    return 0.5 * space.gradient(normalisation.log_density, x) - space.log_density_gradient(x)


@log_weight_gradient.register
def _(normalisation: KeyPotential, space: Space, x: np.ndarray) -> np.ndarray:
    return space.gradient(normalisation.log_weight, x)


@singledispatch
def second_and_first_order(
    score: Score, space: Space, f: SmoothFunction, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(-Δf, 2⟨dΦ + 𝒜⊥, df⟩/ħ) of the limit, in the metric that the score measures with.

    Raises
    ------
    NoReferenceError
        When no limit is known for this kind of score.
    """
    raise NoReferenceError(f"no limit is known for the score {score!r}")


@second_and_first_order.register
def _(
    score: Distance, space: Space, f: SmoothFunction, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    one_form = -force(score, space, x)
    drift = 2 * np.einsum("...a,...a->...", one_form, space.gradient(f, x))
    return -space.laplacian(f, x), drift


@singledispatch
def jump_part(score: Score, space: Space, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
    """The integral part of the limit over ħ, ∫ j (f(x) - f(y)); zero where there are no jumps."""
    return np.zeros(np.shape(x)[:-1])


def force(score: Distance, space: Space, x: np.ndarray) -> np.ndarray:
    """∇ log(ρh) + c = -(dΦ + 𝒜⊥)/ħ, an extension of it to ambient vectors, shape (..., D)."""
    slope = space.log_density_gradient(x) + score.slope(space.ambient_dim)
    weighted = slope + log_weight_gradient(score.normalisation, space, x)
    return weighted + score.one_form(space.features(x))


def drift(
    space: Space, score: Score, f: SmoothFunction, x: np.ndarray, hbar: float = 1.0
) -> np.ndarray:
    """The first-order part of `generator`: 2⟨dΦ + 𝒜⊥, df⟩ with Φ = -ħ log(ρ h), 𝒜⊥ = -ħ c."""
    require_positive("hbar", hbar)
    return hbar * second_and_first_order(score, space, f, space.located(x))[1]


def generator(
    space: Space, score: Score, f: SmoothFunction, x: np.ndarray, hbar: float = 1.0
) -> np.ndarray:
    """The limit of 4ħβ(f - P_β f) as β → ∞ (N = ∞).

    𝒞f = -ħ Δf + 2⟨dΦ + 𝒜⊥, df⟩ + ∫ j(x, y)(f(x) - f(y)) ρh(y) dV(y) / ρh(x),

    Φ = -ħ log(ρ h),   𝒜⊥ = -ħ c,

    where ρ is the sampling density against the Riemannian volume and h the weight of the keys:
    the Doob weight times the limit of the normalisation's, ρ^-α for Coifman-Lafon, ρ^-½ for
    Sinkhorn, t^½/ρ for a target t dV. The one-form c is that of the score's link, Mᵀx restricted
    to tangent vectors, j the jumps of a `Mixture`; without them 𝒞 is positive semi-definite in
    L²(exp(-2Φ/ħ) dV). A symmetrised per-point metric G has the same limit in the geometry of G; a
    one-sided one has -ħ G^{ab}(∂_a∂_b f + 2 ∂_a log q ∂_b f), q the density against the coordinates
    (see `convergence.limits.per_point_metric`).

    Parameters
    ----------
    space : Space
    score : Distance, GeneralLink, Mixture, IndefiniteHead or PerPointMetric
    f : test function
    x : ndarray
        Points of the space, shape (..., D), or (..., d) on a chart.
    hbar : float
        Diffusion constant ħ > 0.

    Returns
    -------
    ndarray, shape (...)

    Raises
    ------
    InvalidInputError
        For points that do not lie on the space.
    NoReferenceError

    References
    ----------
    Coifman and Lafon, Diffusion maps, 2006. Marshall and Coifman, Manifold learning with
    bi-stochastic kernels, 2019. Candanedo, Attention Geometry, arXiv:2604.09560.
    """
    require_positive("hbar", hbar)
    x = space.located(x)
    second, first = second_and_first_order(score, space, f, x)
    return hbar * (second + first + jump_part(score, space, f, x))
