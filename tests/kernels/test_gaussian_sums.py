"""The fused sums against the block engine, and the block engine against a double loop."""

import math

import numpy as np
import pytest

from convergence.kernels import gaussian_sums, gaussian_sums_blocks
from convergence.kernels.gaussian_sums import fused_sums
from convergence.kernels.inputs import checked_inputs

TOLERANCE = 1e-12
PATHS = ["streamed", "tiled"]


def fused(path, queries, keys, beta, c=None, values=None, centers=None, exclude=None, leaf_size=32):
    data = checked_inputs(np, queries, keys, beta, c, values, centers, exclude)
    return fused_sums(data, path=path, leaf_size=leaf_size)


def double_loop(queries, keys, beta, c, values, centers):
    """Row by row with exactly rounded sums."""
    log_mass, means = [], []
    for u, center in zip(queries, centers, strict=True):
        exponents = [
            w - beta * math.fsum((a - b) ** 2 for a, b in zip(u, v, strict=True))
            for v, w in zip(keys, c, strict=True)
        ]
        top = max(exponents)
        weights = [math.exp(e - top) for e in exponents]
        mass = math.fsum(weights)
        log_mass.append(top + math.log(mass))
        means.append(
            [
                math.fsum(w * (v - m) for w, v in zip(weights, column, strict=True)) / mass
                for column, m in zip(values.T, center, strict=True)
            ]
        )
    return np.array(log_mass), np.array(means)


def assert_agree(actual, expected, scale):
    """Masses to relative 1e-12, means to 1e-12 of the weighted mean of ``|V - V0|``."""
    np.testing.assert_allclose(actual[0], expected[0], rtol=TOLERANCE, atol=TOLERANCE)
    assert np.all(np.abs(actual[1] - expected[1]) <= TOLERANCE * scale)


def cloud(rng, n_queries, n_keys, dimension, beta):
    """Keys spread over a few bandwidths, queries a fraction of a bandwidth beside some of them."""
    width = 1.0 / math.sqrt(beta)
    keys = 3.0 * width * rng.normal(size=(n_keys, dimension))
    near = keys[rng.integers(n_keys, size=n_queries)]
    return near + 0.3 * width * rng.normal(size=(n_queries, dimension)), keys


@pytest.mark.parametrize("dimension", [1, 2, 3, 8])
def test_block_engine_equals_a_double_loop(dimension):
    rng = np.random.default_rng(dimension)
    queries, keys = cloud(rng, 6, 23, dimension, 4.0)
    c, values, centers = 5 * rng.normal(size=23), rng.normal(size=(23, 2)), rng.normal(size=(6, 2))
    actual = gaussian_sums_blocks(queries, keys, 4.0, c, values, centers, block_size=5)
    expected = double_loop(queries, keys, 4.0, c, values, centers)
    np.testing.assert_allclose(actual[0], expected[0], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(actual[1], expected[1], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("spread", [0.0, 200.0])
@pytest.mark.parametrize("beta", [1e-3, 1.0, 1e3, 1e7])
@pytest.mark.parametrize("dimension", [1, 2, 3, 8, 17])
def test_fused_equals_blocks(path, spread, beta, dimension):
    """Log-weights between ± `spread`; exponents near a row's largest are then at most 500."""
    rng = np.random.default_rng(17)
    queries, keys = cloud(rng, 150, 700, dimension, beta)
    c = rng.uniform(-spread, spread, 700)
    values, centers = rng.normal(size=(700, 2)), rng.normal(size=(150, 2))
    exclude = rng.integers(-1, 700, 150)
    arguments = (queries, keys, beta, c, values, centers)
    expected = gaussian_sums_blocks(*arguments, exclude=exclude, block_size=256)
    scale = np.stack(
        [
            gaussian_sums_blocks(queries[i : i + 1], keys, beta, c, abs(values - centers[i]))[1][0]
            for i in range(150)
        ]
    )
    assert_agree(fused(path, *arguments, exclude=exclude), expected, scale)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("beta", [1.0, 1e3, 1e7])
def test_fused_equals_blocks_over_a_fixed_cloud(path, beta):
    """Queries are the keys on a sphere: from all pairs in sight to hardly any."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(2500, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    c, values = rng.uniform(-3, 3, 2500), points**2
    expected = gaussian_sums_blocks(points, points, beta, c, values, values)
    scale = np.maximum(np.abs(expected[1]), 1 / beta)
    assert_agree(fused(path, points, points, beta, c, values, values), expected, scale)


@pytest.mark.parametrize("path", PATHS)
def test_many_keys_span_chunks_and_blocks(path):
    rng = np.random.default_rng(5)
    queries, keys = cloud(rng, 7, 9001, 2, 10.0)
    c, values = rng.uniform(-200, 200, 9001), rng.normal(size=9001)
    expected = gaussian_sums_blocks(queries, keys, 10.0, c, values)
    scale = gaussian_sums_blocks(queries, keys, 10.0, c, abs(values))[1]
    assert_agree(fused(path, queries, keys, 10.0, c, values), expected, scale)


@pytest.mark.parametrize("path", PATHS)
def test_centre_is_subtracted_inside(path):
    """Equal values centred at themselves vanish exactly, and a large offset costs no digits."""
    rng = np.random.default_rng(7)
    points = rng.normal(size=(300, 2))
    constant = np.full(300, 0.1)
    assert np.all(fused(path, points, points, 5.0, None, constant, constant).means == 0.0)
    small = 2.0**-40 * rng.integers(-8, 9, 300)
    shifted = fused(path, points, points, 5.0, None, 1.0 + small, np.ones(300)).means
    np.testing.assert_allclose(
        shifted, fused(path, points, points, 5.0, None, small).means, rtol=0, atol=1e-27
    )


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("n_keys", [1, 10])
def test_equal_points(path, n_keys):
    keys = np.tile([[0.5, -0.25]], (n_keys, 1))
    log_mass, means, _ = fused(
        path, keys[:1] + 1.0, keys, 3.0, None, np.arange(n_keys), leaf_size=4
    )
    assert log_mass[0] == pytest.approx(math.log(n_keys) - 6.0, rel=1e-14)
    assert means[0, 0] == pytest.approx((n_keys - 1) / 2, rel=1e-14)


@pytest.mark.parametrize("path", PATHS)
def test_excluding_a_key_equals_removing_it(path):
    rng = np.random.default_rng(11)
    points, values = rng.normal(size=(65, 2)), rng.normal(size=65)
    c = rng.normal(size=65)
    result = fused(path, points, points, 2.0, c, values, exclude=np.arange(65), leaf_size=8)
    for i in range(65):
        rest = np.arange(65) != i
        log_mass, means = gaussian_sums_blocks(
            points[i : i + 1], points[rest], 2.0, c[rest], values[rest]
        )
        assert result.log_mass[i] == pytest.approx(log_mass[0], rel=1e-13)
        assert result.means[i, 0] == pytest.approx(means[0, 0], rel=1e-13)


@pytest.mark.parametrize("path", PATHS)
def test_weight_zero_equals_removing_the_key(path):
    rng = np.random.default_rng(13)
    queries, keys = rng.normal(size=(40, 3)), rng.normal(size=(200, 3))
    values = rng.normal(size=200)
    c = np.where(rng.random(200) < 0.7, -np.inf, rng.normal(size=200))
    values[c == -np.inf] = 1e300
    kept = c > -np.inf
    expected = gaussian_sums_blocks(queries, keys[kept], 9.0, c[kept], values[kept])
    assert_agree(fused(path, queries, keys, 9.0, c, values, leaf_size=8), expected, 1.0)


@pytest.mark.parametrize("path", PATHS)
def test_few_keys_with_weight_among_many_without(path):
    """Whole tiles of weight zero, and queries whose own key is the only one near."""
    rng = np.random.default_rng(37)
    points, values = rng.random((2000, 3)), rng.random(2000)
    c = np.full(2000, -np.inf)
    c[:5] = 0.0
    arguments = (points, points, 1e4, c, values)
    expected = gaussian_sums_blocks(*arguments, exclude=np.arange(2000))
    # β d² reaches 10^4, and its rounding is the rounding of the weights
    actual = fused(path, *arguments, exclude=np.arange(2000))
    np.testing.assert_allclose(actual.log_mass, expected[0], rtol=1e-14)
    np.testing.assert_allclose(actual.means, expected[1], rtol=1e4 * 4 * np.finfo(float).eps)


@pytest.mark.parametrize("path", PATHS)
def test_rows_without_mass_are_marked(path):
    keys = np.array([[0.0], [1.0]])
    values = np.array([3.0, 4.0])
    only = fused(path, keys, keys, 1.0, np.array([0.0, -np.inf]), values, exclude=np.array([0, -1]))
    np.testing.assert_array_equal(only.log_mass, [-np.inf, -1.0])
    np.testing.assert_array_equal(only.means, [[0.0], [3.0]])
    none = fused(path, keys, keys, 1.0, np.full(2, -np.inf), values)
    np.testing.assert_array_equal(none.log_mass, [-np.inf, -np.inf])
    np.testing.assert_array_equal(none.means, [[0.0], [0.0]])
    blocks = gaussian_sums_blocks(keys, keys, 1.0, np.full(2, -np.inf), values)
    np.testing.assert_array_equal(blocks[0], none.log_mass)
    np.testing.assert_array_equal(blocks[1], none.means)


@pytest.mark.parametrize("path", PATHS)
def test_huge_beta_picks_the_nearest_key(path):
    rng = np.random.default_rng(19)
    keys = rng.normal(size=(500, 3))
    queries = rng.normal(size=(90, 3))
    log_mass, means, _ = fused(path, queries, keys, 1e18, None, np.arange(500.0))
    squares = ((queries[:, None] - keys[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(log_mass, -1e18 * squares.min(axis=1), rtol=1e-13)
    np.testing.assert_array_equal(means[:, 0], squares.argmin(axis=1))


@pytest.mark.parametrize("path", PATHS)
def test_log_weights_of_any_size(path):
    """A common offset of the log-weights, however large, changes no mean."""
    rng = np.random.default_rng(23)
    points, values = rng.normal(size=(200, 2)), rng.normal(size=200)
    plain = fused(path, points, points, 4.0, None, values)
    for offset in (-1e8, 1e8, 1e300):
        moved = fused(path, points, points, 4.0, np.full(200, offset), values)
        np.testing.assert_array_equal(moved.means, plain.means)
        np.testing.assert_allclose(moved.log_mass, plain.log_mass + offset, rtol=1e-15)


def test_public_function_takes_either_path():
    rng = np.random.default_rng(29)
    keys, values = rng.normal(size=(1500, 2)), rng.normal(size=1500)
    few = gaussian_sums(keys[:5], keys, 3.0, None, values)
    many = gaussian_sums(keys, keys, 3.0, None, values)
    np.testing.assert_allclose(few[0], many[0][:5], rtol=1e-13)
    np.testing.assert_allclose(few[1], many[1][:5], rtol=1e-12, atol=1e-14)
    assert gaussian_sums(keys, keys, 3.0)[1].shape == (1500, 0)
    assert gaussian_sums(keys[:0], keys, 3.0, None, values)[1].shape == (0, 1)
    assert gaussian_sums_blocks(keys[:0], keys, 3.0, None, values)[1].shape == (0, 1)


@pytest.mark.parametrize("path", PATHS)
def test_other_types_and_layouts_are_converted(path):
    rng = np.random.default_rng(31)
    wide = rng.normal(size=(120, 6)).astype(np.float32)
    points, values = wide[:, ::2], wide[::-1, 1]
    expected = gaussian_sums_blocks(points.astype(float), points.astype(float), 2.0, None, values)
    assert_agree(fused(path, points, points, 2.0, None, values), expected, 1.0)
    frozen = np.asfortranarray(points.astype(float))
    frozen.flags.writeable = False
    assert_agree(fused(path, frozen, frozen, 2.0, None, values), expected, 1.0)
    exclude = np.full(120, -1, dtype=np.int32)
    assert_agree(fused(path, points, points, 2.0, None, values, exclude=exclude), expected, 1.0)
