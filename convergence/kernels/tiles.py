"""Points sorted into tiles: full leaves of a k-d split, and the hierarchy of boxes over them.

A tile is a run of `leaf_size` neighbouring points, stored dimension-major, so that a compiled
loop reads it with unit stride. Above the tiles stands a binary hierarchy; each node knows its
bounding box and the total weight of its keys, which together bound what the node can add to a
query's sum:

    Σ_{j in node} exp(-β |u - v_j|² + c_j)  <=  (Σ_j exp c_j) · exp(-β dist(u, box)²).

Splits fall on multiples of the leaf size: every leaf but the last is full, node `k` covers the
leaves ``first_leaf[k] .. last_leaf[k]-1``, and the shape of the tree depends on the number of
points alone. All weights are kept as logarithms to base two, which is what the loops exponentiate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compiled import compiled
from .threads import in_shares

LOG2_E = 1.4426950408889634
LEAF_SIZE = 128
_SUBTREES = 16  # sorted side by side
_SHARES = 64  # of the nodes, filled side by side
_ENOUGH = 512  # points that show which dimension of a node is widest
_ROUNDING = 2.0**-50  # four units in the last place: keeps a stored bound above the exact one


class Tiles(NamedTuple):
    """Keys in tile order and the boxes over them (arrays only, so compiled code can take it)."""

    order: Any  # (n,) original index of the key at each sorted position
    points: Any  # (D, n)
    log2_weights: Any  # (n,)
    values: Any  # (n_values, n)
    low: Any  # (n_nodes, D) bounding box of a node
    high: Any  # (n_nodes, D)
    log2_mass: Any  # (n_nodes,) log of the node's total weight, rounded up
    first_leaf: Any  # (n_nodes,)
    child: Any  # (n_nodes,) first of two consecutive children, -1 at a leaf
    leaf_size: int


def key_tiles(
    keys: np.ndarray,
    log_weights: np.ndarray | None,
    reference: float,
    leaf_size: int = LEAF_SIZE,
) -> Tiles:
    """Sort keys of shape (n, D) into tiles; log-weights are taken relative to `reference`.

    The tiles have no value columns yet; see `with_values`.
    """
    n_keys, dimension = keys.shape
    order, (first_leaf, _, child, _) = _sorted(keys, leaf_size)
    n_nodes = first_leaf.shape[0]
    tiles = Tiles(
        order,
        np.empty((dimension, n_keys)),
        np.zeros(n_keys),
        np.empty((0, n_keys)),
        np.empty((n_nodes, dimension)),
        np.empty((n_nodes, dimension)),
        np.empty(n_nodes),
        first_leaf,
        child,
        leaf_size,
    )
    if log_weights is not None:
        np.multiply(log_weights[order] - reference, LOG2_E, out=tiles.log2_weights)
    cuts = np.linspace(0, n_nodes, min(_SHARES, n_nodes) + 1).astype(int)
    in_shares(lambda i: _fill_leaves(tiles, keys, cuts[i], cuts[i + 1]), len(cuts) - 1)
    _fill_inner_nodes(tiles)
    return tiles


def with_values(tiles: Tiles, values: np.ndarray) -> Tiles:
    """The same tiles with value columns, given as an array (n, n_values) in the keys' order."""
    return tiles._replace(values=np.ascontiguousarray(values.T[:, tiles.order]))


def query_order(queries: np.ndarray, leaf_size: int = LEAF_SIZE) -> np.ndarray:
    """Original indices of the queries in tile order."""
    return _sorted(queries, leaf_size)[0]


def _sorted(points: np.ndarray, leaf_size: int) -> tuple[np.ndarray, tuple[Any, ...]]:
    n_points = points.shape[0]
    hierarchy = _hierarchy(-(-n_points // leaf_size))
    order = np.arange(n_points)
    _split_all(points, order, np.empty(n_points), leaf_size, *hierarchy)
    return order, hierarchy


@compiled()
def _hierarchy(n_leaves: int) -> Any:
    """Binary tree over `n_leaves` leaves, breadth first, with the node range of each level."""
    n_nodes = 2 * n_leaves - 1
    first = np.zeros(n_nodes, np.int64)
    last = np.zeros(n_nodes, np.int64)
    child = np.full(n_nodes, -1, np.int64)
    levels = np.zeros(66, np.int64)  # at most 64 levels hold any number of leaves
    last[0] = n_leaves
    tail = 1
    level = 0
    while levels[level] < tail:
        levels[level + 1] = tail
        for parent in range(levels[level], levels[level + 1]):
            count = last[parent] - first[parent]
            if count > 1:
                middle = first[parent] + (count + 1) // 2
                child[parent] = tail
                first[tail], last[tail] = first[parent], middle
                first[tail + 1], last[tail + 1] = middle, last[parent]
                tail += 2
        level += 1
    return first, last, child, levels[: level + 1]


def _split_all(points, order, column, leaf_size, first, last, child, levels):
    """Split the top of the tree node by node, then its subtrees side by side."""
    top = 0
    while top + 2 < levels.shape[0] and levels[top + 1] - levels[top] < _SUBTREES:
        top += 1
    tree = points, order, column, leaf_size, first, last, child
    _split_level(*tree, 0, levels[top])
    in_shares(lambda i: _split_below(*tree, levels[top] + i), levels[top + 1] - levels[top])


@compiled(nogil=True)
def _split_below(points, order, column, leaf_size, first, last, child, root):
    """Split a node and all its descendants; those on one level are consecutive."""
    start, stop = root, root + 1
    while start < stop:
        next_start, next_stop = 0, 0
        for node in range(start, stop):
            if child[node] >= 0:
                next_start = child[node] if next_stop == 0 else next_start
                next_stop = child[node] + 2
        _split_level(points, order, column, leaf_size, first, last, child, start, stop)
        start, stop = next_start, next_stop


@compiled(nogil=True)
def _split_level(points, order, column, leaf_size, first, last, child, start, stop):
    """Split the inner nodes start .. stop-1."""
    for node in range(start, stop):
        if child[node] >= 0:
            _split_node(points, order, column, leaf_size, first, last, child, node)


@compiled()
def _split_node(points, order, column, leaf_size, first, last, child, node):
    """Divide the points of an inner node between its children."""
    start = first[node] * leaf_size
    stop = min(last[node] * leaf_size, order.shape[0])
    middle = last[child[node]] * leaf_size
    _split(points, order[start:stop], column[start:stop], middle - start)


@compiled()
def _split(points, order, column, middle):
    """Reorder so that the first `middle` points lie below the rest along the widest dimension.

    Some of the points say which dimension that is: any would do, a wide one makes small boxes.
    """
    widest, width = 0, -1.0
    step = max(1, order.shape[0] // _ENOUGH)
    for d in range(points.shape[1]):
        low, high = np.inf, -np.inf
        for i in range(0, order.shape[0], step):
            x = points[order[i], d]
            low, high = min(low, x), max(high, x)
        if high - low > width:
            widest, width = d, high - low
    for i in range(order.shape[0]):
        column[i] = points[order[i], widest]
    _select(column, order, middle)


@compiled()
def _select(column, order, middle):
    """Quickselect with the median of three as pivot, carrying `order` along."""
    low, high = 0, column.shape[0] - 1
    while low < high:
        a, b, c = column[low], column[(low + high) // 2], column[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while column[i] < pivot:
                i += 1
            while column[j] > pivot:
                j -= 1
            if i <= j:
                column[i], column[j] = column[j], column[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@compiled(nogil=True)
def _fill_leaves(tiles, keys, first, last):
    """Copy keys into tile order; box and total weight of the leaves among some nodes."""
    n_keys, dimension = keys.shape
    for node in range(first, last):
        if tiles.child[node] < 0:
            start = tiles.first_leaf[node] * tiles.leaf_size
            stop = min(start + tiles.leaf_size, n_keys)
            for d in range(dimension):
                low, high = np.inf, -np.inf
                for j in range(start, stop):
                    x = keys[tiles.order[j], d]
                    tiles.points[d, j] = x
                    low, high = min(low, x), max(high, x)
                tiles.low[node, d], tiles.high[node, d] = low, high
            mass = -np.inf
            for j in range(start, stop):
                mass = _log2_sum(mass, tiles.log2_weights[j])
            tiles.log2_mass[node] = _rounded_up(mass, stop - start)


@compiled()
def _fill_inner_nodes(tiles):
    """Boxes and total weights of the inner nodes, children before parents."""
    for node in range(tiles.child.shape[0] - 1, -1, -1):
        left = tiles.child[node]
        if left >= 0:
            for d in range(tiles.low.shape[1]):
                tiles.low[node, d] = min(tiles.low[left, d], tiles.low[left + 1, d])
                tiles.high[node, d] = max(tiles.high[left, d], tiles.high[left + 1, d])
            mass = _log2_sum(tiles.log2_mass[left], tiles.log2_mass[left + 1])
            tiles.log2_mass[node] = _rounded_up(mass, 2)


@compiled()
def _rounded_up(mass, n_terms):
    """A log-mass summed from `n_terms`, raised above its rounding; minus infinity stays."""
    if mass == -np.inf:
        return mass
    return mass + _ROUNDING * (abs(mass) + n_terms)


@compiled()
def _log2_sum(a, b):
    """``log2(2**a + 2**b)``, minus infinity allowed."""
    top = max(a, b)
    if top == -np.inf:
        return top
    return top + np.log2(2.0 ** (a - top) + 2.0 ** (b - top))
