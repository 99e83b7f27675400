"""Two drivers over the innermost loops: tiles with pruning, and a stream over unsorted keys.

Pruning is a guarantee, not a cutoff radius. What is left out of a row is at most
``2**-CUT = exp(-37)`` of its mass, whatever the log-weights, because the bounds of everything
left out are added up and held against a lower bound of the mass already summed:

    frontier  nodes never opened: the visit stops when (largest bound left) x (nodes left)
              is below a quarter of the allowance;
    dropped   nodes not even queued: each bound times the number of leaves is below a quarter;
    skipped   leaves opened for the tile but not for one of its queries (or not exponentiated):
              in batch b = 1, 2, ... each bound times the batch's length is below 2**-(b+1).

Nodes are opened in order of their bound, so near and heavy leaves come first. Each query tile
belongs to one thread from start to end and partial sums of the stream are merged in order:
the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compiled import compiled
from .pairs import Block, Rows, absorb, exp2, lower_log2
from .threads import in_shares
from .tiles import LOG2_E

CUT = 37.0 * LOG2_E
SHARES = 128  # of the query tiles; each owns its scratch memory
STREAM_BLOCK = 512
_FIRST_BATCH = 8
_FEW_PAIRS = 1 << 21  # under 4 ms: little is done before another thread has started


class Task(NamedTuple):
    """What is asked: queries in their original order and where they stand in tile order."""

    queries: Any  # (n_queries, D)
    centers: Any  # (n_queries, n_values)
    order: Any  # (n_queries,) queries in tile order
    excluded: Any  # (n_queries,) position among the keys as stored, -1 for none
    beta: float  # base two


class Plan(NamedTuple):
    """Scratch of one share for the walk over the hierarchy."""

    low: Any  # (1, D) box of the query tile
    high: Any  # (1, D)
    bounds: Any  # (n_leaves + 1,) heap of nodes not opened yet, largest bound first
    nodes: Any  # (n_leaves + 1,)
    batch: Any  # (n_leaves,) leaves to visit next
    length: Any  # (1,) nodes in the heap


@compiled()
def _push(plan, bound, node):
    """Put a node on the heap."""
    bounds, nodes = plan.bounds, plan.nodes
    i = plan.length[0]
    plan.length[0] += 1
    while i > 0 and bounds[(i - 1) // 2] < bound:
        bounds[i], nodes[i] = bounds[(i - 1) // 2], nodes[(i - 1) // 2]
        i = (i - 1) // 2
    bounds[i], nodes[i] = bound, node


@compiled()
def _pop(plan):
    """Take the node with the largest bound off the heap."""
    bounds, nodes = plan.bounds, plan.nodes
    top = nodes[0]
    plan.length[0] -= 1
    n = plan.length[0]
    bound, node = bounds[n], nodes[n]
    i = 0
    while 2 * i + 1 < n:
        j = 2 * i + 1
        if j + 1 < n and bounds[j + 1] > bounds[j]:
            j += 1
        if bounds[j] <= bound:
            break
        bounds[i], nodes[i] = bounds[j], nodes[j]
        i = j
    bounds[i], nodes[i] = bound, node
    return top


@compiled(fastmath={"contract"})
def _gap(node_low, node_high, node, low, high, i):
    """Squared distance of two boxes, shortened by its rounding so that it stays a lower bound."""
    dimension = low.shape[1]
    square = 0.0
    for d in range(dimension):
        gap = max(node_low[node, d] - high[i, d], low[i, d] - node_high[node, d], 0.0)
        square += gap * gap
    return square * (1.0 - (dimension + 8) * 2.0**-52)


@compiled()
def _next_batch(tiles, plan, beta, reached, size):
    """Collect up to `size` leaves in order of their bound; returns how many.

    `reached` is a lower bound of the log-mass of every query of the tile.
    """
    node_low, node_high, log2_mass, child = tiles.low, tiles.high, tiles.log2_mass, tiles.child
    low, high, batch, bounds, length = plan.low, plan.high, plan.batch, plan.bounds, plan.length
    stop_below = -(CUT + 2.0)
    drop_below = stop_below - np.log2((child.shape[0] + 1) // 2)
    count = 0
    while length[0] > 0 and count < size:
        if not (bounds[0] - reached) + np.log2(length[0]) > stop_below:
            length[0] = 0
            break
        node = _pop(plan)
        if child[node] < 0:
            batch[count] = node
            count += 1
        else:
            for part in range(child[node], child[node] + 2):
                bound = log2_mass[part] - beta * _gap(node_low, node_high, part, low, high, 0)
                if bound - reached > drop_below:
                    _push(plan, bound, part)
    return count


@compiled()
def _clear(rows, n_rows):
    """Empty the running sums."""
    for i in range(n_rows):
        rows.top[i] = -np.inf
        rows.mass[i] = 0.0
        for k in range(rows.moments.shape[1]):
            rows.moments[i, k] = 0.0


@compiled()
def _load_rows(task, start, n_rows, rows, plan):
    """Gather a query tile, its box and its empty sums."""
    for d in range(rows.points.shape[1]):
        low, high = np.inf, -np.inf
        for i in range(n_rows):
            x = task.queries[task.order[start + i], d]
            rows.points[i, d] = x
            low, high = min(low, x), max(high, x)
        plan.low[0, d], plan.high[0, d] = low, high
    for i in range(n_rows):
        query = task.order[start + i]
        rows.excluded[i] = task.excluded[query]
        for k in range(rows.centers.shape[1]):
            rows.centers[i, k] = task.centers[query, k]
    _clear(rows, n_rows)


@compiled()
def _load_leaf(tiles, start, n, block):
    """Copy one tile of keys into the first-level cache."""
    points, log2_weights, columns = block.points, block.log2_weights, block.values
    keys, log_weights, values = tiles.points, tiles.log2_weights, tiles.values
    for j in range(n):
        log2_weights[j] = log_weights[start + j]
    for d in range(keys.shape[0]):
        for j in range(n):
            points[d, j] = keys[d, start + j]
    for k in range(values.shape[0]):
        for j in range(n):
            columns[k, j] = values[k, start + j]


@compiled()
def _bound_rows(tiles, node, rows, n_rows, beta):
    """Upper bound of what a node can add to each row."""
    points, bound, low, high = rows.points, rows.bound, tiles.low, tiles.high
    mass = tiles.log2_mass[node]
    for i in range(n_rows):
        bound[i] = mass - beta * _gap(low, high, node, points, points, i)


@compiled()
def _sum_tile(tiles, task, start, n_rows, rows, block, plan):
    """All sums of one query tile; returns the pairs formed."""
    _load_rows(task, start, n_rows, rows, plan)
    plan.bounds[0], plan.nodes[0], plan.length[0] = np.inf, 0, 1  # the root
    reached = -np.inf
    pairs = 0
    batch = 0
    while plan.length[0] > 0:
        size = _FIRST_BATCH << batch if batch > 0 else 1
        count = _next_batch(tiles, plan, task.beta, reached, size)
        margin = CUT + batch + 1.0 + np.log2(max(count, 1))
        for k in range(count):
            node = plan.batch[k]
            first = tiles.first_leaf[node] * tiles.leaf_size
            n = min(tiles.leaf_size, tiles.order.shape[0] - first)
            _load_leaf(tiles, first, n, block)
            _bound_rows(tiles, node, rows, n_rows, task.beta)
            pairs += absorb(rows, n_rows, block, first, n, task.beta, margin)
        reached = np.inf
        for i in range(n_rows):
            reached = min(reached, lower_log2(rows.top[i], rows.mass[i]))
        batch += 1
    return pairs


@compiled()
def _finish(rows, i, reference, query, log_mass, means):
    """Write one row out in natural logarithms; an empty row is minus infinity and zeros."""
    if rows.mass[i] > 0.0:
        log_mass[query] = reference + (rows.top[i] / LOG2_E + np.log(rows.mass[i]))
        scale = 1.0 / rows.mass[i]
    else:
        log_mass[query] = -np.inf
        scale = 0.0
    for k in range(means.shape[1]):
        means[query, k] = scale * rows.moments[i, k]


@compiled()
def _empty_rows(n_rows, dimension, n_values):
    """Memory for a tile of queries, not yet filled."""
    return Rows(
        np.empty((n_rows, dimension)),
        np.empty((n_rows, n_values)),
        np.empty(n_rows, np.int64),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty((n_rows, n_values)),
    )


@compiled()
def _empty_block(size, dimension, n_values):
    """Memory for a block of keys, not yet filled."""
    stride = size + 8  # a power of two would put all rows into the same cache sets
    return Block(
        np.empty((dimension, stride)), np.empty(size), np.empty((n_values, stride)), np.empty(size)
    )


def sum_tiled(tiles, task, reference, log_mass, means):
    """Sums of all queries over sorted keys; returns the pairs formed."""
    n_tiles = -(-task.queries.shape[0] // tiles.leaf_size)
    few = task.queries.shape[0] * tiles.order.shape[0] < _FEW_PAIRS
    n_shares = 1 if few else min(SHARES, n_tiles)
    pairs = np.zeros(n_shares, dtype=np.int64)

    def work(share):
        pairs[share] = _sum_share(tiles, task, reference, share, n_shares, log_mass, means)

    in_shares(work, n_shares)
    return int(pairs.sum())


@compiled(nogil=True)
def _sum_share(tiles, task, reference, share, n_shares, log_mass, means):
    """Every `n_shares`-th query tile; returns the pairs formed."""
    n_queries, dimension = task.queries.shape
    n_values = tiles.values.shape[0]
    n_leaves = (tiles.child.shape[0] + 1) // 2
    n_tiles = (n_queries + tiles.leaf_size - 1) // tiles.leaf_size
    rows = _empty_rows(tiles.leaf_size, dimension, n_values)
    block = _empty_block(tiles.leaf_size, dimension, n_values)
    plan = Plan(
        np.empty((1, dimension)),
        np.empty((1, dimension)),
        np.empty(n_leaves + 1),
        np.empty(n_leaves + 1, np.int64),
        np.empty(n_leaves, np.int64),
        np.empty(1, np.int64),
    )
    pairs = 0
    for tile in range(share, n_tiles, n_shares):
        start = tile * tiles.leaf_size
        n_rows = min(tiles.leaf_size, n_queries - start)
        pairs += _sum_tile(tiles, task, start, n_rows, rows, block, plan)
        for i in range(n_rows):
            _finish(rows, i, reference, task.order[start + i], log_mass, means)
    return pairs


@compiled()
def _load_stream(keys, log_weights, reference, values, start, n, block):
    """Transpose a run of unsorted keys into a block; no log-weights means all zero."""
    points, log2_weights, columns = block.points, block.log2_weights, block.values
    for d in range(keys.shape[1]):
        for j in range(n):
            points[d, j] = keys[start + j, d]
    for k in range(values.shape[1]):
        for j in range(n):
            columns[k, j] = values[start + j, k]
    weighted = log_weights.shape[0] > 0
    for j in range(n):
        log2_weights[j] = (log_weights[start + j] - reference) * LOG2_E if weighted else 0.0


def sum_streamed(keys, log_weights, reference, values, task, chunk, log_mass, means):
    """Sums of a few queries over keys as they come, `chunk` keys to a partial sum."""
    n_queries, n_values = task.centers.shape
    n_keys = keys.shape[0]
    n_chunks = -(-n_keys // chunk)
    margin = CUT + np.log2(n_keys // STREAM_BLOCK + n_chunks)
    top = np.empty((n_chunks, n_queries))
    mass = np.empty((n_chunks, n_queries))
    moments = np.empty((n_chunks, n_queries, n_values))
    unbounded = np.full(n_queries, np.inf)

    def work(c):
        rows = Rows(
            task.queries, task.centers, task.excluded, unbounded, top[c], mass[c], moments[c]
        )
        span = c * chunk, min((c + 1) * chunk, n_keys)
        _sum_chunk(keys, log_weights, reference, values, span, rows, task.beta, margin)

    in_shares(work, n_chunks)
    _merge(task, top, mass, moments, reference, log_mass, means)


@compiled(nogil=True)
def _sum_chunk(keys, log_weights, reference, values, span, rows, beta, margin):
    """Sums of all rows over the keys of one span."""
    n_queries, dimension = rows.points.shape
    _clear(rows, n_queries)
    block = _empty_block(STREAM_BLOCK, dimension, values.shape[1])
    for start in range(span[0], span[1], STREAM_BLOCK):
        n = min(STREAM_BLOCK, span[1] - start)
        _load_stream(keys, log_weights, reference, values, start, n, block)
        absorb(rows, n_queries, block, start, n, beta, margin)


@compiled()
def _merge(task, top, mass, moments, reference, log_mass, means):
    """Add the partial sums of all chunks in their order."""
    n_chunks, n_queries, n_values = moments.shape
    rows = _empty_rows(n_queries, task.queries.shape[1], n_values)
    _clear(rows, n_queries)
    for i in range(n_queries):
        for c in range(n_chunks):
            rows.top[i] = max(rows.top[i], top[c, i])
        for c in range(n_chunks):
            if mass[c, i] > 0.0:
                scale = exp2(top[c, i] - rows.top[i])
                rows.mass[i] += scale * mass[c, i]
                for k in range(n_values):
                    rows.moments[i, k] += scale * moments[c, i, k]
        _finish(rows, i, reference, i, log_mass, means)
