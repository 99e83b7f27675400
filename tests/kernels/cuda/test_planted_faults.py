"""Faults planted in the CUDA source: every one of them is noticed."""

import numpy as np
import pytest

from convergence.kernels import cuda, gaussian_sums_blocks
from convergence.kernels.cuda import SOURCE, gaussian_sums_cuda

ALLOWED = {"float64": 1e-12, "float32": 4e-6}
LOOP = "    for (long long run = first_run[tile]"
FAULTS = {
    "no barrier after staging": ("__syncthreads();  // the leaf is complete", ""),
    "no barrier after summing": ("__syncthreads();  // nobody reads it any more", ""),
    "early return before a barrier": (
        LOOP,
        "    if (start + threadIdx.x + (ROWS - 1) * blockDim.x >= n_queries) return;\n" + LOOP,
    ),
    "weights dropped": ("frame.log_weight(weight)", "weight > NOTHING ? Real(0) : Real(NOTHING)"),
    "a key too many in the last tile": ("j < length", "j <= length"),
    "a key too few in the last tile": ("j < length", "j < length - 1"),
    "maximum not applied": ("if (largest > rows[r].top) rows[r].raise(largest);", ""),
    "mass not rescaled": ("        mass *= scale;", ""),
    "sum of the leaf not rescaled": ("leaf_mass *= Real(scale);", ""),
    "float32 accumulation": ("double mass, moments[WIDTH];", "float mass, moments[WIDTH];"),
    "centre not subtracted": (
        "(leaf.values[k][j + s] - rows[r].center[k])",
        "leaf.values[k][j + s]",
    ),
    "excluded key kept": ("if (s == left_out)", "if (false)"),
    "coordinates not centred": ("float((x - middle) * root)", "float(x * root)"),
    "level not added back": ("return level + top;", "return top;"),
    "next query's row written": ("tops[at] =", "tops[at + 1] ="),
}
ONLY_FLOAT32 = ("coordinates not centred", "level not added back")


def scattered(dtype):
    """Sizes that are no multiple of a tile, weights, exclusions and points far from the origin."""
    rng = np.random.default_rng(41)
    keys = 200.0 + 2.0 * rng.normal(size=(700, 2))
    queries = keys[:200] + 0.3 * rng.normal(size=(200, 2))
    arguments = (queries, keys, 1.0, rng.uniform(-3, 3, 700))
    arguments += (rng.normal(size=700) + 1.0, rng.normal(size=200))
    exclude = np.arange(200)
    actual = gaussian_sums_cuda(*arguments, exclude=exclude, dtype=dtype)
    return actual, gaussian_sums_blocks(*arguments, exclude=exclude)


def long_sum(dtype):
    """Equal terms over two thousand leaves."""
    n_keys = 300_001
    keys = np.zeros((n_keys, 2))
    keys[:, 0] = np.linspace(0.0, 1e-3, n_keys)
    arguments = (keys[:3], keys, 1.0, None, np.full(n_keys, 0.7))
    return gaussian_sums_cuda(*arguments, dtype=dtype), gaussian_sums_blocks(*arguments)


def noticed(device, dtype):
    """By which problem, thread order and number type a fault shows."""
    for problem in (scattered, long_sum):
        for device.reverse in (False, True):
            cuda._kernel.cache_clear()
            try:
                with np.errstate(all="ignore"):
                    actual, expected = problem(dtype)
                    wrong = any(
                        not np.all(np.abs(one - other) <= ALLOWED[dtype])
                        for one, other in zip(actual, expected, strict=True)
                    )
            except AssertionError:
                wrong = True
            if wrong:
                return f"{problem.__name__}, {'reverse' if device.reverse else 'forward'}"
    return None


@pytest.fixture(autouse=True)
def one_segment(monkeypatch):
    monkeypatch.setattr(cuda, "_BLOCKS_WANTED", 1)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_source_itself_passes(library, install, dtype):
    assert noticed(install(library), dtype) is None


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_noticed(compiled, install, fault):
    before, after = FAULTS[fault]
    source = SOURCE.read_text()
    assert source.count(before) == 1
    device = install(compiled(source.replace(before, after), ["float", "double"], [2], [1]))
    assert noticed(device, "float32")
    assert fault in ONLY_FLOAT32 or noticed(device, "float64")
