"""Attention heads as Markov operators."""

from __future__ import annotations

import numpy as np

from ..scores import CausalScore, Head
from .markov import Component, MarkovOperator
from .scored import ScoreOperator


def head_operator(
    head: Head, beta: float = 0.5, *, causal: bool = False, self_loops: bool = True
) -> MarkovOperator:
    """Softmax of the scores of a head, row by row, as a Markov operator in O(N) memory.

    Parameters
    ----------
    head : Head
    beta : float
        Of the primitive; P is the same for every β, the generator 4ħβ(I - P) is not.
    causal : bool
        Whether a token sees only itself and those before it, through the block engine.
    self_loops : bool
        Whether a token sees itself.

    Returns
    -------
    MarkovOperator

    Raises
    ------
    InvalidInputError
    NoMassError
        On use, when a token sees nothing, as the first one of a causal head without self-loops.
    """
    if not causal:
        return MarkovOperator([Component(*head.kernel(beta))], beta, self_loops=self_loops)
    position = np.arange(len(head.queries), dtype=float)[:, None]
    queries, keys = (np.hstack([factor, position]) for factor in head.factors)
    return ScoreOperator(CausalScore(), queries, keys, beta, head.offsets, self_loops=self_loops)
