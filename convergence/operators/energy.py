"""Dirichlet energy of a mixture, part by part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import softmax

from ..errors import InvalidInputError
from ..scores import Mixture
from .markov import MarkovOperator


def dirichlet_parts(
    features: np.ndarray,
    values: np.ndarray,
    score: Mixture,
    beta: float,
    hbar: float = 1.0,
    *,
    self_loops: bool,
) -> np.ndarray:
    """The energy ⟨f, 𝒞f⟩_π of a function on a sample, split into the parts of a symmetric kernel.

    With K = Σ_m K^m and π_i ∝ h_i Σ_j K_ij h_j,

        E_m = 2ħβ Σ_ij h_i K^m_ij h_j (f_j - f_i)² / Σ_ij h_i K_ij h_j,

    and Σ_m E_m = ⟨f, 𝒞f⟩_π where K is symmetric. O(N) memory.

    Parameters
    ----------
    features : ndarray, shape (N, D)
    values : ndarray, shape (N,)
        f at the sample.
    score : Mixture
        Without a link.
    beta, hbar : float
    self_loops : bool
        Whether the pairs (i, i) count in the mass.

    Returns
    -------
    ndarray, shape (parts,)
        The local energy first, then one a jump.
    """
    if score.local.link:
        raise InvalidInputError("an energy needs a symmetric kernel, which a link does not leave")
    operator = MarkovOperator.of_sample(features, score, beta, self_loops=self_loops)
    local, *_ = operator.components_
    log_weights = score.log_weights(features)
    own = 0.0 if log_weights is None else log_weights
    assert local.share is not None
    law = softmax(own + operator.log_degrees[:, 0] - np.log(local.share))
    energies = []
    for component in operator.components_:
        assert component.share is not None
        alone = MarkovOperator([replace(component, share=None)], beta, self_loops=self_loops)
        energies.append(law @ (component.share * alone.carre_du_champ(values, values, hbar)))
    return np.array(energies)
