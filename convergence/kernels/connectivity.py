"""Which points a Gaussian kernel joins: connected components over the pairs it can see.

A pair (i, j) is seen when K_ij is at least exp(-37) of row i's mass: anything less cannot change
a float64 sum. Components are taken without regard to direction.
"""

from __future__ import annotations

import numpy as np

from .compiled import compiled
from .cpu import CUT, _gap
from .compiled import compiled
from .tiles import LOG2_E, key_tiles


def kernel_components(
    points: np.ndarray, beta: float, log_weights: np.ndarray | None, log_mass: np.ndarray
) -> np.ndarray:
    """Label of the component of every point, 0, 1, ... in order of first appearance.

    Parameters
    ----------
    points : ndarray, shape (n, D)
        Queries and keys at once.
    beta : float
    log_weights : ndarray, shape (n,), or None
    log_mass : ndarray, shape (n,)
        The row masses, from `gaussian_sums`.

    Returns
    -------
    ndarray of int, shape (n,)
    """
    reference = 0.0 if log_weights is None else float(np.max(log_weights))
    tiles = key_tiles(points, log_weights, reference)
    least = (np.asarray(log_mass, dtype=float)[tiles.order] - reference) * LOG2_E - CUT
    parent = np.arange(len(points))
    _join_seen(tiles, beta * LOG2_E, least, parent)
    roots = np.empty(len(points), dtype=np.int64)
    roots[tiles.order] = parent
    _, first, inverse = np.unique(roots, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


@compiled()
def _root(parent, i):
    """Representative of i's component, halving the path to it."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@compiled()
def _join_seen(tiles, beta, least, parent):
    """Join every row (in tile order) with the keys it sees; parent becomes the roots."""
    n, size = tiles.order.shape[0], tiles.leaf_size
    stack = np.empty(tiles.child.shape[0], np.int64)
    left = n  # components so far
    for leaf in range(tiles.child.shape[0]):
        if tiles.child[leaf] >= 0 or left == 1:
            continue
        start = tiles.first_leaf[leaf] * size
        stop = min(start + size, n)
        lowest = np.min(least[start:stop])
        stack[0], depth = 0, 1
        while depth > 0 and left > 1:
            depth -= 1
            node = stack[depth]
            gap = _gap(tiles.low, tiles.high, node, tiles.low, tiles.high, leaf)
            if tiles.log2_mass[node] - beta * gap < lowest:
                continue
            if tiles.child[node] >= 0:
                stack[depth], stack[depth + 1] = tiles.child[node], tiles.child[node] + 1
                depth += 2
            else:
                first = tiles.first_leaf[node] * size
                last = min(first + size, n)
                left -= _join_leaf(tiles, beta, least, parent, start, stop, first, last)
    for i in range(n):
        parent[i] = _root(parent, i)


@compiled()
def _join_leaf(tiles, beta, least, parent, start, stop, first, last):
    """Join the rows start..stop with the keys first..last they see; returns how many joins."""
    points, weights = tiles.points, tiles.log2_weights
    joins = 0
    for i in range(start, stop):
        own = _root(parent, i)
        for j in range(first, last):
            other = _root(parent, j)
            if other != own:
                square = 0.0
                for d in range(points.shape[0]):
                    square += (points[d, i] - points[d, j]) ** 2
                if weights[j] - beta * square >= least[i]:
                    parent[other] = own
                    joins += 1
    return joins
