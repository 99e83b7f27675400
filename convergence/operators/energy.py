"""Dirichlet energy of a mixture, part by part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import softmax

from ..errors import InvalidInputError
from .markov import MarkovOperator


def dirichlet_parts(operator: MarkovOperator, values: np.ndarray, hbar: float = 1.0) -> np.ndarray:
    """The energy ⟨f, 𝒞f⟩_π of a function on the sample, split into the parts of a symmetric kernel.

    With K = Σ_m K^m, as `MarkovOperator.of_sample` makes it of a `Mixture`, and
    π_i ∝ h_i Σ_j K_ij h_j,

        E_m = 2ħβ Σ_ij h_i K^m_ij h_j (f_j - f_i)² / Σ_ij h_i K_ij h_j,

    and Σ_m E_m = ⟨f, 𝒞f⟩_π where K is symmetric. O(N) memory.

    Parameters
    ----------
    operator : MarkovOperator
        Of a sample; its first component is the local kernel.
    values : ndarray, shape (N,)
        f at the sample.
    hbar : float

    Returns
    -------
    ndarray, shape (parts,)
        The local energy first, then one a jump.

    Raises
    ------
    InvalidInputError
        Where the local kernel has a link, so that it is not symmetric. Whether the jumps are is for
        the caller to know.

    References
    ----------
    Beurling and Deny, Dirichlet spaces, 1959.
    """
    local, *_ = operator.components_
    if not np.array_equal(operator.on_host(local.queries), operator.on_host(local.keys)):
        raise InvalidInputError("an energy needs a symmetric kernel, which a link does not leave")
    own = 0.0 if local.log_weights is None else operator.on_host(local.log_weights)
    shares = [1.0 if c.share is None else operator.on_host(c.share) for c in operator.components_]
    law = softmax(own + operator.log_degrees[:, 0] - np.log(shares[0]))
    energies = []
    for component, share in zip(operator.components_, shares, strict=True):
        alone = MarkovOperator(
            [replace(component, share=None)],
            operator.beta,
            self_loops=operator.self_loops,
            reach=False,  # some rows have no key where a jump goes, and no share in it
        )
        energies.append(law @ (share * alone.carre_du_champ(values, values, hbar)))
    return np.array(energies)
