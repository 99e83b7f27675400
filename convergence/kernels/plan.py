"""Which key leaves a query tile has to sum over, decided before any sum is formed.

For a tile of queries with bounding box B and a node of the key hierarchy, all logarithms to base
two, every query of the tile receives from the node

    at least  floor - β·(largest distance of B and the node's box)²,
    at most   log2_mass - β·(smallest distance of B and the node's box)².

The largest of the lower bounds is therefore a floor under every row of the tile. Where a tile is
wide against the bandwidth its box says little; then the floor is improved by the best single key
that each query sees in one leaf, the one that counts most at the middle of the tile. A node is left
out when its upper bound lies ``CUT + log2(number of leaves)`` below the floor: nodes left out are
disjoint, so they are at most as many as there are leaves, and together at most ``2**-CUT =
exp(-37)`` of every row.

A row may exclude one key. In a tile with such rows the floor of a node is the weight of all its
keys but the heaviest, which is there whichever key is excluded, and the best single key of a query
is looked for among the others; so the guarantee is the same with and without exclusions.

Bounds are compared by their difference, distances are shortened or lengthened and weights raised or
lowered by more than their rounding: what is left out is too small in exact arithmetic.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .compiled import compiled
from .cpu import CUT, _gap
from .threads import in_shares
from .tiles import Tiles, _log2_sum

_WIDE = 4.0  # bits that a leaf's distances may vary over before single keys are looked at
_DEPTH = 160  # nodes that wait on a stack: two a level
_MOST_VISITS = 128  # nodes tried for the floor, the most promising first; each alone is a bound
_SHARES = 64  # of the query tiles
_MOST_RUNS = 512  # of one list; one that would be longer is made of larger nodes
_LOWERED = 2.0**-44  # relative; more than the rounding of sums over a leaf


class Lists(NamedTuple):
    """Leaves each query tile sums over, as runs of consecutive leaves (compressed sparse rows)."""

    first_run: Any  # (n_tiles + 1,) int64
    runs: Any  # (n_runs, 2) int32, first leaf and one past the last
    middles: Any  # (n_tiles, D) middle of the query tile's box
    levels: Any  # (n_tiles,) log to base two of about the largest leaf's mass; finite
    floors: Any  # (n_tiles,) lower bound of the log-mass of every query

    @property
    def n_leaves(self) -> np.ndarray:
        """Number of leaves in each tile's list."""
        lengths = np.concatenate([[0], np.cumsum(self.runs[:, 1] - self.runs[:, 0])])
        return np.diff(lengths[self.first_run])


class Weights(NamedTuple):
    """What is known of each node's weight, besides `Tiles.log2_mass`."""

    full: Any  # (n_nodes,) log of the total weight, rounded down
    rest: Any  # (n_nodes,) the same without the heaviest key
    n_leaves: Any  # (n_nodes,)


def pruning_lists(
    tiles: Tiles, queries: np.ndarray, excluded: np.ndarray, beta: float, tile_size: int
) -> Lists:
    """Lists of the key leaves that may not be left out, for every tile of queries.

    Parameters
    ----------
    tiles : Tiles
        Sorted keys.
    queries : ndarray, shape (D, n_queries)
        Queries in tile order.
    excluded : ndarray of int64, shape (n_queries,)
        Sorted position of the key left out of each row, -1 for none.
    beta : float
        Inverse bandwidth, base two.
    tile_size : int
        Queries of a tile.
    """
    dimension, n_queries = queries.shape
    n_tiles = -(-n_queries // tile_size)
    weights = Weights(*(np.empty(tiles.child.shape[0], t) for t in ("f8", "f8", "i8")))
    _weigh(tiles, weights)
    low, high = (np.empty((n_tiles, dimension)) for _ in range(2))
    grains = np.empty(n_tiles, np.int64)
    lists = Lists(
        np.zeros(n_tiles + 1, np.int64),
        np.empty((0, 2), np.int32),
        np.empty((n_tiles, dimension)),
        np.empty(n_tiles),
        np.empty(n_tiles),
    )
    cuts = np.linspace(0, n_tiles, min(_SHARES, n_tiles) + 1).astype(int)
    spans = list(pairwise(cuts))
    given = tiles, weights, queries, excluded, beta, tile_size
    in_shares(lambda i: _survey(*given, *spans[i], low, high, grains, lists), len(spans))
    np.cumsum(lists.first_run, out=lists.first_run)
    lists = lists._replace(runs=np.empty((int(lists.first_run[-1]), 2), np.int32))
    in_shares(lambda i: _fill(*given[:2], beta, *spans[i], low, high, grains, lists), len(spans))
    return lists


@compiled()
def _lowered(mass, n_terms):
    """A log-mass summed from `n_terms`, lowered below its rounding."""
    if mass == -np.inf:
        return mass
    return mass - _LOWERED * (abs(mass) + n_terms)


@compiled()
def _weigh(tiles, weights):
    """Total weight of every node with and without its heaviest key, children before parents."""
    log2_weights = tiles.log2_weights
    full, rest, n_leaves = weights.full, weights.rest, weights.n_leaves
    heaviest = np.empty(full.shape[0])
    for node in range(full.shape[0] - 1, -1, -1):
        left = tiles.child[node]
        right = left + 1
        if left < 0:
            start = tiles.first_leaf[node] * tiles.leaf_size
            stop = min(start + tiles.leaf_size, log2_weights.shape[0])
            top = start + np.argmax(log2_weights[start:stop])
            others = -np.inf
            for j in range(start, stop):
                if j != top:
                    others = _log2_sum(others, log2_weights[j])
            heaviest[node] = log2_weights[top]
            rest[node] = _lowered(others, stop - start)
            full[node] = _lowered(_log2_sum(others, heaviest[node]), stop - start)
            n_leaves[node] = 1
        else:
            if heaviest[left] < heaviest[right]:
                left, right = right, left
            heaviest[node] = heaviest[left]
            rest[node] = _lowered(_log2_sum(rest[left], full[right]), 2)
            full[node] = _lowered(_log2_sum(full[left], full[right]), 2)
            n_leaves[node] = n_leaves[left] + n_leaves[right]


@compiled()
def _reach(node_low, node_high, node, low, high, i):
    """Largest squared distance within two boxes, lengthened by more than its rounding."""
    dimension = low.shape[1]
    square = 0.0
    for d in range(dimension):
        reach = max(node_high[node, d] - low[i, d], high[i, d] - node_low[node, d])
        square += reach * reach
    return square * (1.0 + (dimension + 8) * 2.0**-52)


@compiled()
def _upper(tiles, node, beta, low, high, tile):
    """Upper bound of what a node adds to any query of the tile."""
    return tiles.log2_mass[node] - beta * _gap(tiles.low, tiles.high, node, low, high, tile)


@compiled()
def _best_floor(tiles, floor_weights, beta, low, high, tile, stack):
    """Largest lower bound of the nodes tried, and the leaf that counts most at the middle."""
    floor, best, most, leaf = -np.inf, -np.inf, -np.inf, -1
    stack[0] = 0
    waiting = 1
    for _ in range(_MOST_VISITS):
        if waiting == 0:
            break
        waiting -= 1
        node = stack[waiting]
        if not _upper(tiles, node, beta, low, high, tile) > best:
            continue  # no leaf below it can do better
        bound = floor_weights[node] - beta * _reach(tiles.low, tiles.high, node, low, high, tile)
        floor = max(floor, bound)
        left = tiles.child[node]
        if left < 0:
            best = max(best, bound)
            apart = 0.0
            for d in range(low.shape[1]):
                twice = tiles.low[node, d] + tiles.high[node, d] - low[tile, d] - high[tile, d]
                apart += 0.25 * twice * twice
            if floor_weights[node] - beta * apart > most:
                most, leaf = floor_weights[node] - beta * apart, node
        else:
            reach_left = _reach(tiles.low, tiles.high, left, low, high, tile)
            reach_right = _reach(tiles.low, tiles.high, left + 1, low, high, tile)
            nearer_left = (
                floor_weights[left] - beta * reach_left
                >= floor_weights[left + 1] - beta * reach_right
            )
            stack[waiting] = left + 1 if nearer_left else left
            stack[waiting + 1] = left if nearer_left else left + 1
            waiting += 2
    return floor, leaf


@compiled()
def _floor_by_keys(tiles, leaf, queries, excluded, start, stop, beta, floor):
    """The worst row's best single key in one leaf, if that is above the floor."""
    first = tiles.first_leaf[leaf] * tiles.leaf_size
    last = min(first + tiles.leaf_size, tiles.log2_weights.shape[0])
    dimension = queries.shape[0]
    worst = np.inf
    for i in range(start, stop):
        best = -np.inf
        for j in range(first, last):
            square = 0.0
            for d in range(dimension):
                difference = queries[d, i] - tiles.points[d, j]
                square += difference * difference
            square *= 1.0 + (dimension + 8) * 2.0**-52
            term = _lowered(tiles.log2_weights[j], 1) - beta * square
            if term > best and j != excluded[i]:
                best = term
        worst = min(worst, best)
        if worst <= floor:
            return floor
    return worst


@compiled()
def _list_runs(tiles, weights, beta, low, high, tile, floor, grain, stack, runs, first):
    """Find the runs of leaves of one tile; store them if there is room; level and number.

    Nodes of up to `grain` leaves are taken or left out as a whole.
    """
    drop_below = -(CUT + np.log2((tiles.child.shape[0] + 1) // 2))
    count, last = 0, -1
    level = -np.inf
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        bound = _upper(tiles, node, beta, low, high, tile)
        if not bound - floor > drop_below:
            continue
        n_leaves = weights.n_leaves[node]
        if n_leaves > grain:
            reach = _reach(tiles.low, tiles.high, node, low, high, tile)
            least = tiles.log2_mass[node] - beta * reach - np.log2(n_leaves)
            if not least - floor > drop_below:  # some leaf may be small enough
                left = tiles.child[node]
                stack[waiting], stack[waiting + 1] = left + 1, left
                waiting += 2
                continue
        level = max(level, bound)
        start = tiles.first_leaf[node]
        if start != last:
            if runs.shape[0] > 0:
                runs[first + count, 0] = start
            count += 1
            if count > _MOST_RUNS:
                break
        last = start + n_leaves
        if runs.shape[0] > 0:
            runs[first + count - 1, 1] = last
    return level, count


@compiled()
def _survey_tile(
    tiles, weights, queries, excluded, beta, tile_size, tile, low, high, grains, lists
):
    """Box, floor, level and number of runs of one query tile."""
    start, stop = tile * tile_size, min((tile + 1) * tile_size, queries.shape[1])
    for d in range(queries.shape[0]):
        low[tile, d], high[tile, d] = queries[d, start:stop].min(), queries[d, start:stop].max()
        lists.middles[tile, d] = 0.5 * low[tile, d] + 0.5 * high[tile, d]
    stack = np.empty(_DEPTH, np.int64)
    floor_weights = weights.full if excluded[start:stop].max() < 0 else weights.rest
    floor, leaf = _best_floor(tiles, floor_weights, beta, low, high, tile, stack)
    if leaf >= 0 and beta * _reach(tiles.low, tiles.high, leaf, low, high, tile) > _WIDE:
        floor = _floor_by_keys(tiles, leaf, queries, excluded, start, stop, beta, floor)
    grain, count, level = 0, _MOST_RUNS + 1, 0.0
    while count > _MOST_RUNS:
        grain = max(4 * grain, 1)
        level, count = _list_runs(
            tiles, weights, beta, low, high, tile, floor, grain, stack, lists.runs, 0
        )
    lists.floors[tile] = floor
    lists.levels[tile] = level if level > -np.inf else 0.0
    lists.first_run[tile + 1] = count
    grains[tile] = grain


@compiled(nogil=True)
def _survey(
    tiles, weights, queries, excluded, beta, tile_size, start, stop, low, high, grains, lists
):
    """Boxes, floors, levels and the number of runs of the query tiles start .. stop-1."""
    for tile in range(start, stop):
        _survey_tile(
            tiles, weights, queries, excluded, beta, tile_size, tile, low, high, grains, lists
        )


@compiled(nogil=True)
def _fill(tiles, weights, beta, start, stop, low, high, grains, lists):
    """Store the runs of the query tiles start .. stop-1."""
    stack = np.empty(_DEPTH, np.int64)
    for tile in range(start, stop):
        first, floor, grain = lists.first_run[tile], lists.floors[tile], grains[tile]
        if lists.first_run[tile + 1] > first:
            _list_runs(
                tiles, weights, beta, low, high, tile, floor, grain, stack, lists.runs, first
            )
