"""The density of several steps of the walk, between two points outside the sample."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp, softmax

from ..errors import InvalidInputError
from ..scores import GaussianScore
from .markov import MarkovOperator


def walk_density(
    operator: MarkovOperator,
    features: np.ndarray,
    score: GaussianScore,
    steps: Sequence[int],
    x: np.ndarray,
    y: np.ndarray,
) -> np.ndarray:
    """The density of P^m(x, dy) against the law ν of the sample, for several numbers of steps m.

    The first step goes from x to the sample, the last from the sample to y,

        p_m(x, y) = Σ_ij P(x, v_i) (P^{m-2})_ij N K(v_j, y) h(y) / Σ_l K(v_j, v_l) h(v_l).

    Parameters
    ----------
    operator : MarkovOperator
        P, made of the next two by `MarkovOperator.of_sample`.
    features : ndarray, shape (N, D)
    score : Distance, Mixture or IndefiniteHead
    steps : increasing sequence of int, each at least 2
    x, y : ndarray, shape (D,)

    Returns
    -------
    ndarray, one number for each m

    Raises
    ------
    InvalidInputError
        For numbers of steps that do not increase.
    """
    if min(steps) < 2 or any(b <= a for a, b in pairwise(steps)):
        raise InvalidInputError(f"numbers of steps must increase from at least 2 on, not {steps}")
    beta = operator.beta
    parts, (first, *_) = score.parts(features, beta), operator.components_
    share = 1.0 if first.share is None else first.share
    log_rows = operator.log_degrees[:, 0] + parts[0].log_weight - np.log(share)

    def log_kernel(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """log K(u, v) h(v) of queries with one key, or of one query with keys."""
        places = score.keys(keys)
        found = [part.log_kernel(places) for part in score.parts(queries, beta)]
        log_weights = score.log_weights(np.atleast_2d(keys))
        return logsumexp(found, axis=0) + (0.0 if log_weights is None else log_weights)

    law = softmax(log_kernel(x[None], features))
    last = len(features) * np.exp(log_kernel(features, y[None]) - log_rows)
    densities, done = [], 2
    for m in steps:
        for _ in range(m - done):
            law = operator.T @ law
        done = m
        densities.append(law @ last)
    return np.array(densities)
