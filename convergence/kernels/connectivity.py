"""Which points a Gaussian kernel joins: connected components over the pairs it can see.

A pair (i, j) is seen when K_ij is at least exp(-37) of row i's mass: anything less cannot change
a float64 sum. Components are taken without regard to direction.
"""

from __future__ import annotations

import numpy as np

from .compiled import compiled
from .cpu import CUT, _gap
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


class KernelSearch:
    """Which points a directed kernel reaches from others, over the pairs it can see.

    A step i → j is one with -β|u_i - v_j|² + c_j at least row i's threshold. Backward, from j to
    i, it is the same search with the two sets of points, and weights and thresholds, exchanged.

    Parameters
    ----------
    sources, targets : ndarray, shape (n, D)
    beta : float
    weights : ndarray, shape (n,)
        Of the targets, in the log domain.
    thresholds : ndarray, shape (n,)
        Of the sources, in the log domain.
    """

    def __init__(
        self,
        sources: np.ndarray,
        targets: np.ndarray,
        beta: float,
        weights: np.ndarray,
        thresholds: np.ndarray,
    ) -> None:
        finite = weights[weights > -np.inf]
        self.reference = float(np.max(finite)) if len(finite) else 0.0
        self.tiles = key_tiles(targets, weights, self.reference)
        self.sources = np.ascontiguousarray(sources)
        self.beta = beta * LOG2_E
        self.least = (thresholds - self.reference) * LOG2_E
        self.position = np.argsort(self.tiles.order)
        leaves = np.flatnonzero(self.tiles.child < 0)
        self.leaf_node = np.empty(len(leaves), dtype=np.int64)
        self.leaf_node[self.tiles.first_leaf[leaves]] = leaves
        self.parent = np.full(len(self.tiles.child), -1)
        inner = np.flatnonzero(self.tiles.child >= 0)
        for side in (0, 1):
            self.parent[self.tiles.child[inner] + side] = inner

    def reach(self, frontier: np.ndarray, open_: np.ndarray) -> np.ndarray:
        """Indices reached from the frontier by any number of steps through points still open.

        Parameters
        ----------
        frontier : ndarray of int
        open_ : bool ndarray, shape (n,)
            Which points may be reached; those that are become False.
        """
        found = np.empty(int(np.count_nonzero(open_)) + len(frontier), dtype=np.int64)
        found[: len(frontier)] = frontier
        left = np.zeros(len(self.parent), dtype=np.int64)
        places = self.position[np.flatnonzero(open_)] // self.tiles.leaf_size
        left[self.leaf_node] = np.bincount(places, minlength=len(self.leaf_node))
        _fill_up(left, self.parent)
        count = _reach(
            self.tiles, self.sources, self.beta, self.least, found, len(frontier), open_, left,
            self.leaf_node, self.parent,
        )  # fmt: skip
        return found[len(frontier) : count]


@compiled()
def _fill_up(left, parent):
    """Counts of inner nodes from those of leaves; children come after their parents."""
    for node in range(parent.shape[0] - 1, 0, -1):
        left[parent[node]] += left[node]


@compiled()
def _reach(tiles, sources, beta, least, found, count, open_, left, leaf_node, parent):
    """Breadth first through the tree, without nodes that hold no open point; returns the count."""
    n, size = tiles.order.shape[0], tiles.leaf_size
    stack = np.empty(tiles.child.shape[0], np.int64)
    done = 0
    while done < count and left[0] > 0:
        i = found[done]
        done += 1
        stack[0], depth = 0, 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            gap = 0.0
            for d in range(sources.shape[1]):
                outside = max(
                    tiles.low[node, d] - sources[i, d], sources[i, d] - tiles.high[node, d]
                )
                if outside > 0.0:
                    gap += outside * outside
            if left[node] == 0 or tiles.log2_mass[node] - beta * gap < least[i]:
                continue
            if tiles.child[node] >= 0:
                stack[depth], stack[depth + 1] = tiles.child[node], tiles.child[node] + 1
                depth += 2
                continue
            first = tiles.first_leaf[node] * size
            for place in range(first, min(first + size, n)):
                j = tiles.order[place]
                if not open_[j]:
                    continue
                square = 0.0
                for d in range(sources.shape[1]):
                    square += (sources[i, d] - tiles.points[d, place]) ** 2
                if tiles.log2_weights[place] - beta * square >= least[i]:
                    open_[j] = False
                    found[count] = j
                    count += 1
                    above = leaf_node[place // size]
                    while above >= 0:
                        left[above] -= 1
                        above = parent[above]
    return count


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
