"""Pruning, tiles, threads and the exponential: what the speed rests on."""

import numba
import numpy as np
import pytest

from convergence.kernels import gaussian_sums_blocks
from convergence.kernels.gaussian_sums import fused_sums
from convergence.kernels.inputs import checked_inputs
from convergence.kernels.pairs import exp2
from convergence.kernels.tiles import LOG2_E, key_tiles, with_values


def tiled(queries, keys, beta, c=None, values=None, exclude=None, leaf_size=32, path="tiled"):
    data = checked_inputs(np, queries, keys, beta, c, values, None, exclude)
    return fused_sums(data, path=path, leaf_size=leaf_size)


def square(n, seed=0):
    return np.random.default_rng(seed).random((n, 2))


def test_pruning_really_prunes():
    points = square(6000)
    result = tiled(points, points, 2e4)
    assert result.pairs < 0.05 * 6000**2
    expected = gaussian_sums_blocks(points, points, 2e4)
    np.testing.assert_allclose(result.log_mass, expected[0], rtol=1e-13, atol=1e-14)


def test_nothing_is_pruned_where_every_key_counts():
    points = square(500)
    assert tiled(points, points, 1.0).pairs == 500**2


def test_a_heavy_far_key_is_not_missed():
    """One key ten units away outweighs all near ones, or equals them, or hardly shows."""
    near = square(3000)
    keys = np.vstack([near, [[10.0, 10.0]]])
    beta = 50.0
    values = np.append(np.zeros(3000), 1.0)
    distance = ((near - keys[-1]) ** 2).sum(axis=1).mean()
    for excess in (-34.0, 0.0, 40.0):
        c = np.append(np.zeros(3000), beta * distance + excess)
        result = tiled(near, keys, beta, c, values)
        log_mass, means = gaussian_sums_blocks(near, keys, beta, c, values)
        np.testing.assert_allclose(result.log_mass, log_mass, rtol=1e-12, atol=1e-12)
        # the exponent is a difference of two numbers of the size of c
        size = 4 * np.finfo(float).eps * c[-1]
        np.testing.assert_allclose(result.means, means, rtol=size, atol=2e-16)


def test_the_allowance_is_kept_key_by_key():
    """Each ring of keys around the query is heavy enough to matter; none may be left out."""
    n_rings, n_a_ring, beta = 60, 64, 1.0
    radius = np.repeat(np.linspace(0.0, 12.0, n_rings), n_a_ring)
    angle = np.tile(np.linspace(0, 2 * np.pi, n_a_ring, endpoint=False), n_rings)
    keys = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    for exponent in (10.0, 20.0, 30.0):
        c = beta * radius**2 - np.where(radius > 0, exponent, 0.0)
        values = (radius > 0).astype(float)
        result = tiled(np.zeros((1, 2)), keys, beta, c, values, leaf_size=16)
        expected = gaussian_sums_blocks(np.zeros((1, 2)), keys, beta, c, values)
        np.testing.assert_allclose(result.means, expected[1], rtol=1e-12)


def test_equally_near_keys_survive_the_rounding_of_their_bounds():
    """At β d² = 1e18 one unit in the last place of a bound is worth more than the allowance."""
    rng = np.random.default_rng(2)
    for dimension in (1, 2, 3, 5):
        near = rng.uniform(0.5, 1.0, size=(1, dimension))
        keys = np.vstack([near, -near, 5.0 + rng.random((50, dimension))])
        values = np.append([0.0, 1.0], np.full(50, 9.0))
        result = tiled(np.zeros((1, dimension)), keys, 1e18, None, values, leaf_size=1)
        assert result.means[0, 0] == 0.5


@pytest.mark.parametrize("path", ["streamed", "tiled"])
def test_threads_do_not_change_a_bit(path):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("one thread only")
    points = square(9000)
    queries = points if path == "tiled" else points[:20]
    values = np.sin(9 * points)
    before = numba.get_num_threads()
    results = []
    try:
        for threads in (1, 2):
            numba.set_num_threads(threads)
            results.append(tiled(queries, points, 300.0, values[:, 0], values, path=path))
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(results[0].log_mass, results[1].log_mass)
    np.testing.assert_array_equal(results[0].means, results[1].means)


@pytest.mark.parametrize("path", ["streamed", "tiled"])
def test_order_of_keys_and_batches_of_queries_only_round(path):
    points, rng = square(3000), np.random.default_rng(1)
    values = points[:, 0] + 1.0
    whole = tiled(points, points, 500.0, None, values, path=path)
    shuffled = rng.permutation(3000)
    moved = tiled(points, points[shuffled], 500.0, None, values[shuffled], path=path)
    parts = [
        tiled(part, points, 500.0, None, values, path=path)
        for part in np.array_split(points, [7, 900])
    ]
    for other in (moved.means, np.concatenate([part.means for part in parts])):
        np.testing.assert_allclose(other, whole.means, rtol=1e-13)
    np.testing.assert_allclose(moved.log_mass, whole.log_mass, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("leaf_size", [1, 7, 32, 4096])
@pytest.mark.parametrize("n_keys", [1, 31, 32, 33, 1000])
def test_tiles_hold_every_key_once_inside_their_boxes(leaf_size, n_keys):
    rng = np.random.default_rng(n_keys)
    keys, c = rng.normal(size=(n_keys, 3)), 100 * rng.normal(size=n_keys)
    keys[n_keys // 2 :] = keys[n_keys // 2]  # many duplicates
    tiles = with_values(key_tiles(keys, c, c.max(), leaf_size), c[:, None])
    np.testing.assert_array_equal(np.sort(tiles.order), np.arange(n_keys))
    np.testing.assert_array_equal(tiles.points, keys[tiles.order].T)
    np.testing.assert_array_equal(tiles.values[0], c[tiles.order])
    leaves = np.flatnonzero(tiles.child < 0)
    starts = np.sort(tiles.first_leaf[leaves]) * leaf_size
    np.testing.assert_array_equal(starts, np.arange(0, n_keys, leaf_size))
    for node in leaves:
        start = tiles.first_leaf[node] * leaf_size
        inside = slice(start, start + leaf_size)
        np.testing.assert_array_equal(tiles.low[node], tiles.points[:, inside].min(axis=1))
        np.testing.assert_array_equal(tiles.high[node], tiles.points[:, inside].max(axis=1))
        mass = np.logaddexp2.reduce(tiles.log2_weights[inside])
        assert mass <= tiles.log2_mass[node] <= mass + 1e-10
    whole = np.logaddexp.reduce(c - c.max()) * LOG2_E
    assert tiles.log2_mass[0] == pytest.approx(whole, abs=1e-10)
    np.testing.assert_array_equal(tiles.low[0], keys.min(axis=0))


def test_exponential_to_base_two():
    x = np.concatenate([np.linspace(-999.9, 0.0, 20001), np.linspace(-1.5, 1.0, 5001)])
    ours = np.array([exp2(v) for v in x])
    np.testing.assert_allclose(ours, np.exp2(x), rtol=1e-15)
    assert exp2(0.0) == 1.0
    assert exp2(-1000.0) == 0.0
    assert exp2(-np.inf) == 0.0
