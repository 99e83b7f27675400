"""What the pruning lists leave out of a row, added up key by key."""

import numpy as np
import pytest

from convergence.kernels.cpu import CUT
from convergence.kernels.plan import pruning_lists
from convergence.kernels.tiles import LOG2_E, key_tiles, query_order

LEAF = 16


def lists_and_loss(queries, keys, beta, c=None, exclude=None, counted=True, leaf=LEAF):
    """The lists, and for each row log2 of the share of its mass that they leave out.

    With `counted` false the lists are made as if no key were excluded.
    """
    tiles = key_tiles(keys, c, 0.0, leaf)
    order = query_order(queries, leaf)
    sorted_queries = queries[order].T.copy()
    position = np.append(np.argsort(tiles.order), -1)
    excluded = np.full(len(queries), -1) if exclude is None else position[exclude[order]]
    seen = excluded if counted else np.full(len(queries), -1)
    lists = pruning_lists(tiles, sorted_queries, seen, beta * LOG2_E, leaf)
    squares = ((sorted_queries.T[:, None] - tiles.points.T[None]) ** 2).sum(axis=2)
    terms = tiles.log2_weights - beta * LOG2_E * squares
    rows = np.flatnonzero(excluded >= 0)
    terms[rows, excluded[rows]] = -np.inf
    left_out = np.ones(terms.shape, bool)
    for tile in range(len(lists.middles)):
        for first, last in lists.runs[lists.first_run[tile] : lists.first_run[tile + 1]]:
            rows = slice(tile * leaf, (tile + 1) * leaf)
            left_out[rows, first * leaf : last * leaf] = False
    lost = np.logaddexp2.reduce(np.where(left_out, terms, -np.inf), axis=1)
    mass = np.logaddexp2.reduce(terms, axis=1)
    with np.errstate(invalid="ignore"):
        loss = np.where(lost > -np.inf, lost - mass, -np.inf)
    return lists, loss


def scattered(rng, n, dimension):
    """Points in clumps of very different density."""
    middles = rng.normal(size=(8, dimension))
    spread = 10.0 ** rng.uniform(-3, 0, size=(n, 1))
    return middles[rng.integers(8, size=n)] + spread * rng.normal(size=(n, dimension))


@pytest.mark.parametrize("weights", ["equal", "spread", "sparse"])
@pytest.mark.parametrize("excluding", [False, True])
@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_what_is_left_out_is_below_the_allowance(dimension, excluding, weights):
    rng = np.random.default_rng(dimension)
    keys = scattered(rng, 1000, dimension)
    c = {
        "equal": np.zeros(1000),
        "spread": rng.uniform(-300, 300, 1000),
        "sparse": np.where(rng.random(1000) < 0.97, -np.inf, 0.0),
    }[weights]
    for beta in (1e-2, 1.0, 1e2, 1e4, 1e6, 1e10):
        for queries in (keys, keys[:333] + 0.01 * rng.normal(size=(333, dimension))):
            exclude = np.arange(len(queries)) if excluding else None
            lists, loss = lists_and_loss(queries, keys, beta, c, exclude)
            assert loss.max() <= -CUT
            assert np.all(lists.n_leaves <= -(-1000 // LEAF))
            assert np.all(np.isfinite(lists.levels))


def test_lists_are_short_at_large_beta_and_one_run_at_small_beta():
    points = np.random.default_rng(2).random((2400, 2))
    lists, _ = lists_and_loss(points, points, 1e-3)
    np.testing.assert_array_equal(lists.runs, np.tile([0, 150], (150, 1)))
    for exclude in (None, np.arange(2400)):
        lists, loss = lists_and_loss(points, points, 1e5, exclude=exclude)
        assert lists.n_leaves.mean() < 16
        assert loss.max() <= -CUT


def test_lists_of_very_many_runs_are_made_of_larger_nodes():
    rng = np.random.default_rng(6)
    keys, queries = rng.random((6000, 4)), 0.5 + 0.01 * rng.random((3, 4))
    lists, loss = lists_and_loss(queries, keys, 200.0, leaf=1)
    near = int((((keys - 0.5) ** 2).sum(axis=1) < CUT / (200.0 * LOG2_E)).sum())
    assert 512 < near < lists.runs[:, 1].sum() - lists.runs[:, 0].sum() < 6000
    assert np.all(np.diff(lists.first_run) <= 512)
    assert loss.max() <= -CUT


@pytest.mark.parametrize("case", ["lonely", "heavy"])
def test_the_floor_does_not_count_on_the_excluded_key(case):
    """A key far from all others with weight, and one far heavier than the crowd it stands in.

    Lists made as if nothing were excluded leave out nearly everything such a row has.
    """
    rng = np.random.default_rng(4)
    corner = 10.0 + 1e-3 * rng.random((LEAF, 2))
    keys = np.vstack([rng.random((32 * LEAF, 2)), corner])
    c = np.append(np.zeros(32 * LEAF), np.full(LEAF, -np.inf))  # the corner fills a leaf
    one = len(keys) - 1 if case == "lonely" else 7
    c[one] = 0.0 if case == "lonely" else 1e3
    arguments = (keys[one : one + 1], keys, 1.0, c, np.array([one]))
    assert lists_and_loss(*arguments)[1].max() <= -CUT
    assert lists_and_loss(*arguments, counted=False)[1].max() > -1.0


def test_equally_near_keys_survive_the_rounding_of_their_bounds():
    """At β d² = 1e18 one unit in the last place of a bound is worth more than the allowance."""
    rng = np.random.default_rng(2)
    for dimension in (1, 2, 3, 5):
        near = rng.uniform(0.5, 1.0, size=(1, dimension))
        keys = np.vstack([near, -near, 5.0 + rng.random((50, dimension))])
        tiles = key_tiles(keys, None, 0.0, 1)
        lists = pruning_lists(tiles, np.zeros((dimension, 1)), np.array([-1]), 1e18, LEAF)
        listed = [j for first, last in lists.runs for j in tiles.order[first:last]]
        assert {0, 1} <= set(listed)
        assert len(listed) < 52


def test_rows_of_weight_zero_need_no_leaf():
    points = np.random.default_rng(0).random((100, 2))
    lists, _ = lists_and_loss(points, points, 1.0, np.full(100, -np.inf))
    assert lists.first_run[-1] == 0
    assert np.all(lists.levels == 0.0)
