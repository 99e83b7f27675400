"""The CUDA source, run on the CPU, against the block engine."""

import numpy as np
import pytest

from convergence import backend
from convergence.errors import DeviceError, InvalidInputError
from convergence.kernels import cuda, gaussian_sums, gaussian_sums_blocks
from convergence.kernels.cuda import DeviceSums, gaussian_sums_cuda

LOG2_E = 1.4426950408889634
DTYPES = ["float64", "float32"]


def cloud(rng, n_queries, n_keys, dimension, beta):
    """Keys spread over a few bandwidths, queries a fraction of a bandwidth beside some of them."""
    width = beta**-0.5
    keys = 3.0 * width * rng.normal(size=(n_keys, dimension))
    near = keys[rng.integers(n_keys, size=n_queries)]
    return near + 0.3 * width * rng.normal(size=(n_queries, dimension)), keys


def tolerance(dtype, queries, keys, beta, c, exclude):
    """1e-12; in float32 2e-6, or one rounding of the exponents that make up a row if that is more.

    An exponent is ``l - |u - v|²`` in bits. It carries the rounding of the log-weight below the
    largest, of the square, and of the coordinates from the tile's middle times the distance.
    """
    if dtype == "float64":
        return np.full(len(queries), 1e-12)
    squares = LOG2_E * beta * ((queries[:, None] - keys[None]) ** 2).sum(axis=2)
    half_width = np.sqrt(LOG2_E * beta) * np.abs(keys - keys.mean(axis=0)).max()
    bits = squares + LOG2_E * (c.max() - c) + 4.0 * np.sqrt(squares) * half_width
    exponents = LOG2_E * c - squares
    if exclude is not None:
        rows = np.flatnonzero(exclude >= 0)
        exponents[rows, exclude[rows]] = -np.inf
    weights = np.exp2(exponents - exponents.max(axis=1)[:, None])
    bits = (weights * np.where(weights > 0.0, bits, 0.0)).sum(axis=1) / weights.sum(axis=1)
    return np.maximum(2e-6, 2.0**-24 * bits)


def assert_agree(actual, expected, allowed, scale=1.0):
    """Masses relatively, means against the weighted mean of ``|V - V0|``."""
    size = np.maximum(1.0, np.abs(np.where(np.isfinite(expected[0]), expected[0], 0.0)))
    same = actual[0] == expected[0]
    assert np.all(same | (np.abs(actual[0] - expected[0]) <= allowed * size))
    assert np.all(np.abs(actual[1] - expected[1]) <= np.reshape(allowed, (-1, 1)) * scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("spread", "excluding"), [(3.0, False), (3.0, True), (200.0, True)])
@pytest.mark.parametrize(("beta", "n_values"), [(1e-3, 0), (1.0, 1), (1e3, 3), (1e7, 5)])
@pytest.mark.parametrize("dimension", [1, 2, 3, 8, 16])
def test_kernel_equals_blocks(device, dimension, beta, n_values, spread, excluding, dtype):
    rng = np.random.default_rng(17)
    queries, keys = cloud(rng, 150, 700, dimension, beta)
    c = rng.uniform(-spread, spread, 700)
    values, centers = rng.normal(size=(700, n_values)), rng.normal(size=(150, n_values))
    exclude = rng.integers(-1, 700, 150) if excluding else None
    arguments = (queries, keys, beta, c, values, centers)
    actual = gaussian_sums_cuda(*arguments, exclude=exclude, dtype=dtype)
    expected = gaussian_sums_blocks(*arguments, exclude=exclude, block_size=256)
    assert_agree(actual, expected, tolerance(dtype, queries, keys, beta, c, exclude))
    if dtype == "float32" and spread == 3.0 and not excluding:
        assert_agree(actual, expected, np.full(150, 2e-6))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("beta", [1.0, 1e3, 1e7])
def test_kernel_equals_blocks_over_a_fixed_cloud(device, beta, dtype):
    """Queries are the keys on a sphere, far from the origin: from all leaves in sight to one."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(1500, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    points[:, 0] += 8.0
    c, values = rng.uniform(-3, 3, 1500), points[:, 1:] ** 2
    sums = DeviceSums(points, points, beta, c, dtype=dtype)
    actual = sums(values, values)
    expected = gaussian_sums_blocks(points, points, beta, c, values, values)
    # values are rounded relative to the spread of the values in reach of a tile, here one
    rounding = 2.0**-24 / 2e-6 if dtype == "float32" else 0.0
    scale = np.maximum(np.abs(expected[1]), beta**-0.5) + rounding
    assert_agree(actual, expected, tolerance(dtype, points, points, beta, c, None), scale)
    share = sums.pairs / (12 * 128) ** 2
    assert share == 1.0 if beta == 1.0 else share < (0.9 if beta == 1e3 else 0.6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_few_queries_share_out_the_leaves(device, dtype):
    rng = np.random.default_rng(5)
    queries, keys = cloud(rng, 7, 9001, 2, 10.0)
    c, values = rng.uniform(-3, 3, 9001), rng.normal(size=9001)
    sums = DeviceSums(queries, keys, 10.0, c, dtype=dtype)
    assert sums._grid[1] > 4
    expected = gaussian_sums_blocks(queries, keys, 10.0, c, values)
    assert_agree(sums(values), expected, tolerance(dtype, queries, keys, 10.0, c, None))


def test_other_values_over_the_same_points(device):
    rng = np.random.default_rng(9)
    points = rng.normal(size=(300, 2))
    sums = DeviceSums(points, points, 4.0, exclude=np.arange(300))
    for n_values in (2, 1, 0, 6):
        values = rng.normal(size=(300, n_values))
        expected = gaussian_sums_blocks(points, points, 4.0, None, values, exclude=np.arange(300))
        assert_agree(sums(values), expected, np.full(300, 1e-12))
    assert sums()[1].shape == (300, 0)
    np.testing.assert_array_equal(sums(values)[1], sums(values)[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_weight_zero_equals_removing_the_key(device, dtype):
    rng = np.random.default_rng(13)
    queries, keys = rng.normal(size=(40, 3)), rng.normal(size=(400, 3))
    values = rng.normal(size=400)
    c = np.where(rng.random(400) < 0.7, -np.inf, rng.normal(size=400))
    kept = c > -np.inf
    expected = gaussian_sums_blocks(queries, keys[kept], 9.0, c[kept], values[kept])
    allowed = tolerance(dtype, queries, keys[kept], 9.0, c[kept], None)
    values[~kept] = 1e300
    assert_agree(gaussian_sums_cuda(queries, keys, 9.0, c, values, dtype=dtype), expected, allowed)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_without_mass_are_marked(device, dtype):
    keys = np.array([[0.0], [1.0]])
    values = np.array([3.0, 4.0])
    c = np.array([0.0, -np.inf])
    only = gaussian_sums_cuda(keys, keys, 1.0, c, values, exclude=np.array([0, -1]), dtype=dtype)
    assert only[0][0] == -np.inf
    assert only[0][1] == pytest.approx(-1.0, rel=1e-6)
    np.testing.assert_allclose(only[1], [[0.0], [3.0]], rtol=1e-6)
    none = gaussian_sums_cuda(keys, keys, 1.0, np.full(2, -np.inf), values, dtype=dtype)
    np.testing.assert_array_equal(none[0], [-np.inf, -np.inf])
    np.testing.assert_array_equal(none[1], [[0.0], [0.0]])
    assert gaussian_sums_cuda(keys[:0], keys, 1.0, None, values, dtype=dtype)[1].shape == (0, 1)


def test_huge_beta_picks_the_nearest_key(device):
    rng = np.random.default_rng(19)
    keys, queries = rng.normal(size=(500, 3)), rng.normal(size=(90, 3))
    log_mass, means = gaussian_sums_cuda(queries, keys, 1e18, None, np.arange(500.0))
    squares = ((queries[:, None] - keys[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(log_mass, -1e18 * squares.min(axis=1), rtol=1e-13)
    np.testing.assert_array_equal(means[:, 0], squares.argmin(axis=1))
    in_float32 = gaussian_sums_cuda(queries, keys, 1e18, dtype="float32")[0]
    np.testing.assert_allclose(in_float32, log_mass, rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_centre_is_subtracted_inside(device, dtype):
    """Equal values centred at themselves vanish exactly, and a large offset costs no digits."""
    rng = np.random.default_rng(7)
    points = rng.normal(size=(300, 2))
    constant = np.full(300, 0.1)
    sums = DeviceSums(points, points, 5.0, dtype=dtype)
    assert np.all(sums(constant, constant)[1] == 0.0)
    small = 2.0**-40 * rng.integers(-8, 9, 300)
    relative = 1e-14 if dtype == "float64" else 1e-6
    np.testing.assert_allclose(
        sums(1.0 + small, np.ones(300))[1], sums(small)[1], rtol=0, atol=relative * 2.0**-37
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_over_many_keys_keep_their_accuracy(device, dtype, monkeypatch):
    """One block over a thousand leaves of equal terms, where a float32 total would drift."""
    monkeypatch.setattr(cuda, "_BLOCKS_WANTED", 1)
    keys = np.linspace(0.0, 1e-3, 130_001)[:, None]
    log_mass, means = gaussian_sums_cuda(keys[:3], keys, 1.0, None, np.ones(130_001), dtype=dtype)
    expected = gaussian_sums_blocks(keys[:3], keys, 1.0)[0]
    relative = 1e-12 if dtype == "float64" else 2e-6
    np.testing.assert_allclose(np.expm1(log_mass - expected), 0.0, atol=relative)
    np.testing.assert_allclose(means, 1.0, rtol=relative)


def test_public_function_runs_on_the_device(device):
    rng = np.random.default_rng(29)
    points, values = rng.normal(size=(200, 2)), rng.normal(size=(200, 3))
    on_cpu = gaussian_sums(points, points, 3.0, None, values, exclude=np.arange(200))
    with backend.use_device("cuda"):
        on_device = gaussian_sums(points, points, 3.0, None, values, exclude=np.arange(200))
    assert_agree(on_device, on_cpu, np.full(200, 1e-12))


def test_above_16_dimensions_the_block_engine_runs(device):
    rng = np.random.default_rng(31)
    points = rng.normal(size=(30, 17))
    expected = gaussian_sums_blocks(points, points, 0.1, None, points)
    assert_agree(gaussian_sums_cuda(points, points, 0.1, None, points), expected, 1e-12)
    with pytest.raises(InvalidInputError, match="17 coordinates"):
        DeviceSums(points, points, 0.1)


def test_refusals(device):
    points = np.array([[0.0], [1.0]])
    with pytest.raises(InvalidInputError, match="choose float64 or float32"):
        gaussian_sums_cuda(points, points, 1.0, dtype="float16")
    with pytest.raises(InvalidInputError, match="more than float32 can square"):
        gaussian_sums_cuda(points, points, 1e36, dtype="float32")
    with pytest.raises(InvalidInputError, match="shape"):
        gaussian_sums_cuda(points[:, 0], points[:, 0], 1.0)


def test_no_device_is_a_named_error():
    if backend.gpu_problem() is None:
        pytest.skip("a GPU is usable here")
    with pytest.raises(DeviceError, match="no usable GPU"):
        gaussian_sums_cuda(np.zeros((1, 1)), np.zeros((1, 1)), 1.0)
