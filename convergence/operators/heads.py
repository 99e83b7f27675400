"""Attention heads as Markov operators."""

from __future__ import annotations

import numpy as np

from ..errors import require_flag, require_positive
from ..scores import CausalScore, Head, ProductScore
from .markov import Component, MarkovOperator
from .scored import ScoreOperator

# of β|u|² + β|v|²: below it their rounding moves log P by less than 1e-14, as products would
_LARGEST_KERNEL = 32.0


def head_operator(
    head: Head, beta: float = 0.5, *, causal: bool = False, self_loops: bool = True
) -> MarkovOperator:
    """Softmax of the scores of a head, row by row, as a Markov operator in O(N) memory.

    Scores are formed as products, with the rounding of |a_i||b'_j| in their `Head.centred` factors,
    through the block engine. Where `Head.kernel_size` is at most 32, so that nothing is lost, and
    always for DMAP, whose score is a distance, the fused sums take their place.

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
    require_positive("beta", beta)
    distances = head.member == "DMAP"
    if require_flag("causal", causal):
        position = np.arange(len(head.queries), dtype=float)[:, None]
        a, b, c = head.centred
        queries, keys = (np.hstack([factor, position]) for factor in (a, b))
        weights = None if distances else c
        return ScoreOperator(
            CausalScore(distances), queries, keys, beta, weights, self_loops=self_loops
        )
    if distances or head.kernel_size <= _LARGEST_KERNEL:
        return MarkovOperator(
            [Component(*head.kernel(beta))], beta, self_loops=self_loops, reach=False
        )
    a, b, c = head.centred
    return ScoreOperator(ProductScore(), a, b, beta, c, self_loops=self_loops)
