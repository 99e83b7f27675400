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
    refuse_normalisation(space, score)
    n, slope = space.dim, score.slope(space.dim)
    transposed = score.one_form(np.eye(n)).T  # Mᵀ
    pull = space.precision - transposed
    if beta is None:
        _refuse_escape(np.min(np.linalg.eigvals(pull).real) > 0)
        return np.linalg.solve(pull, slope), linalg.solve_continuous_lyapunov(pull, np.eye(n))
    step = np.linalg.inv(2 * require_positive("beta", beta) * np.eye(n) + space.precision)
    map_of_mean = step @ (2 * beta * np.eye(n) + transposed)
    _refuse_escape(np.max(np.abs(np.linalg.eigvals(map_of_mean))) < 1)
    # I - G = C K without cancellation
    mean = np.linalg.solve(step @ pull, step @ slope)
    return mean, linalg.solve_discrete_lyapunov(map_of_mean, step)


def _refuse_escape(stable: bool) -> None:
    if not stable:
        raise NoReferenceError(
            "the link drives the walk to infinity and no law is stationary: make its symmetric "
            "part smaller than the inverse covariance"
        )
