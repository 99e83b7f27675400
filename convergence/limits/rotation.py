"""The steady state on Gaussian spaces with rotation: Lyapunov equations."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..errors import NoReferenceError, require_positive
from ..scores import Distance
from ..spaces import Gaussian
from .law import refuse_normalisation


def gaussian_stationary(
    space: Gaussian, score: Distance, beta: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the stationary law on R^n with density N(0, Σ) and link xᵀMy.

    At finite β a step is y | x ~ N(Gx + Ca, C) with C = (2βI + Σ⁻¹)⁻¹ and G = C(2βI + Mᵀ), so

        S = G S Gᵀ + C   (discrete Lyapunov),   μ = G μ + C a.

    The limit -ħΔ + 2ħ(Kx - a)·∇, K = Σ⁻¹ - Mᵀ, has whatever ħ

        K S + S Kᵀ = I   (continuous Lyapunov),   K μ = a.

    Without a link S = Σ/2: the stationary density is ρ².

    Parameters
    ----------
    space : Gaussian
    score : Distance
        With the random-walk normalisation.
    beta : float, optional
        Inverse squared bandwidth; the limit β → ∞ without it.

    Returns
    -------
    mean, covariance : ndarray, shapes (n,) and (n, n)

    Raises
    ------
    NoReferenceError
        When a symmetric part of the link drives the walk to infinity, so that no law is
        stationary; and for another normalisation.

    References
    ----------
    Risken, The Fokker-Planck Equation, section 6.5.
    """
    slope, pull, step = _drift(space, score, beta)
    n = space.dim
    if step is None:
        _refuse_escape(np.min(np.linalg.eigvals(pull).real) > 0)
        return np.linalg.solve(pull, slope), linalg.solve_continuous_lyapunov(pull, np.eye(n))
    map_of_mean = np.eye(n) - step @ pull  # G
    _refuse_escape(np.max(np.abs(np.linalg.eigvals(map_of_mean))) < 1)
    mean = np.linalg.solve(step @ pull, step @ slope)
    return mean, linalg.solve_discrete_lyapunov(map_of_mean, step)


def gaussian_circulation(
    space: Gaussian, score: Distance, beta: float | None = None, hbar: float = 1.0
) -> np.ndarray:
    """J_ab = 4ħβ E[x_a y_b - x_b y_a] of one stationary step x → y: twice the area it sweeps.

    From E[x yᵀ] = S Gᵀ + μμᵀ and I - G = CK,

        J = 4ħβ (C K S - S Kᵀ C),   in the limit   J = 2ħ (K S - S Kᵀ),

    zero where nothing circulates. The entropy production is ½ Σ_ab (M - Mᵀ)_ab J_ab, since of
    log(A_ij/A_ji) all but xᵀ(M - Mᵀ)y telescopes.

    Parameters
    ----------
    space, score, beta
        As in `gaussian_stationary`.
    hbar : float

    Returns
    -------
    ndarray, shape (n, n)
        Antisymmetric; per unit time.
    """
    require_positive("hbar", hbar)
    covariance = gaussian_stationary(space, score, beta)[1]
    _, pull, step = _drift(space, score, beta)
    if beta is None or step is None:
        return 2 * hbar * (pull @ covariance - covariance @ pull.T)
    turned = step @ pull @ covariance
    return 4 * hbar * beta * (turned - turned.T)


def _drift(
    space: Gaussian, score: Distance, beta: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """a, K and at finite β the covariance C of a step."""
    refuse_normalisation(space, score)
    n = space.dim
    pull = space.precision - score.one_form(np.eye(n)).T
    if beta is None:
        return score.slope(n), pull, None
    inverse = 2 * require_positive("beta", beta) * np.eye(n) + space.precision
    return score.slope(n), pull, np.linalg.inv(inverse)


def _refuse_escape(stable: bool) -> None:
    if not stable:
        raise NoReferenceError(
            "the link drives the walk to infinity and no law is stationary: make its symmetric "
            "part smaller than the inverse covariance"
        )
