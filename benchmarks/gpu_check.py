"""Right and fast on a GPU: every engine against the CPU, then times beside what the device allows.

Points are uniform in the unit cube, queries are keys, one value column centred at the query's own
value, log-weights on. "dense" has all keys in sight; "pruned" has about a thousand, so that most
leaves are left out in few dimensions. Where all queries would take too long, those in a cube around
the middle are taken. Rows drawn at random are held against the CPU in every case.

The floor is the time that the pairs formed would take if nothing but arithmetic counted: in float32
the larger of one exp2 a pair at 16 per clock and multiprocessor and 2 D + 2 C + 3 operations on the
multiply-add units (differences, squares, C value columns, and exponent, shift and sum); in float64
the same operations and 20 more for exp2. Goal: at least 50 % of the floor for dense float32.

Exit code 0: all numbers right. 1: some are wrong. 2: no usable GPU.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from typing import Any, NamedTuple

import numpy as np

from convergence.backend import array_module, resolve_device, use_device
from convergence.errors import DeviceError
from convergence.kernels import gaussian_sums, gaussian_sums_blocks
from convergence.operators import MarkovOperator, eigenpairs
from convergence.scores import Distance

ALLOWED = {"float64": 1e-12, "float32": 2e-6, "operator": 1e-9}
IN_SIGHT = 1000
SIGHT = 36.0
GOAL = 0.5


class Problem(NamedTuple):
    """Points, inverse bandwidth, log-weights and one value column."""

    points: np.ndarray
    beta: float
    log_weights: np.ndarray
    values: np.ndarray


def problem(n: int, dimension: int, kind: str) -> Problem:
    """All keys in sight, or a ball of about a thousand of them."""
    rng = np.random.default_rng(n + dimension)
    points = rng.random((n, dimension))
    ball = math.pi ** (dimension / 2) / math.gamma(dimension / 2 + 1)
    radius = (IN_SIGHT / (n * ball)) ** (1 / dimension)
    beta = 1.0 if kind == "dense" else SIGHT / radius**2
    return Problem(points, beta, rng.uniform(-1, 1, n), np.cos(3.0 * points[:, 0]))


def central(points: np.ndarray, n: int) -> np.ndarray:
    """The `n` points nearest to the middle of the cube, in the maximum norm."""
    if n >= len(points):
        return np.arange(len(points))
    return np.argpartition(np.abs(points - 0.5).max(axis=1), n)[:n]


def worst(actual: Any, expected: Any) -> float:
    """Largest error of log-masses, relative above one, and of means."""
    size = np.maximum(1.0, np.abs(expected[0]))
    return max(
        float(np.max(np.abs(actual[0] - expected[0]) / size)),
        float(np.max(np.abs(actual[1] - expected[1]))),
    )


def floor_seconds(xp: Any, pairs: int, dimension: int, columns: int, dtype: str) -> float:
    """Time of the arithmetic alone at the highest clock of the device."""
    device = xp.cuda.Device()
    attributes, capability = device.attributes, device.compute_capability
    clocks = 1e3 * attributes["ClockRate"] * attributes["MultiProcessorCount"]
    operations = 2 * dimension + 2 * columns + 3
    if dtype == "float32":
        lanes = 64 if capability in ("70", "72", "75", "80") else 128
        return pairs * max(1 / 16, operations / lanes) / clocks
    lanes = 64 if capability in ("70", "80", "90", "100") else 2
    return pairs * (operations + 20) / lanes / clocks


def check_engines(xp: Any) -> bool:
    """Every engine on the device against the CPU, with exclusions and several columns."""
    from convergence.kernels.cuda import gaussian_sums_cuda

    rng = np.random.default_rng(0)
    right = True
    for dimension in (1, 2, 3, 8, 16, 17):
        keys, queries = rng.random((3000, dimension)), rng.random((500, dimension))
        arguments = (queries, keys, 20.0, rng.uniform(-3, 3, 3000), rng.random((3000, 5)))
        exclude = rng.integers(-1, 3000, 500)
        expected = gaussian_sums(*arguments, exclude=exclude)
        results = {
            "float64": gaussian_sums_cuda(*arguments, exclude=exclude),
            "float32": gaussian_sums_cuda(*arguments, exclude=exclude, dtype="float32"),
            "blocks": gaussian_sums_blocks(*arguments, exclude=exclude, xp=xp),
        }
        errors = {
            name: worst([xp.asnumpy(array) for array in result], expected)
            for name, result in results.items()
        }
        with use_device("cuda"):
            errors["public"] = worst(gaussian_sums(*arguments, exclude=exclude), expected)
        good = all(error <= ALLOWED.get(name, 1e-12) for name, error in errors.items())
        right &= good
        listed = ", ".join(f"{name} {error:.1e}" for name, error in errors.items())
        print(f"D = {dimension:2d}  {listed}  {'right' if good else 'WRONG'}", flush=True)
    return right


def check_operator(xp: Any) -> bool:
    """The whole Markov operator on the device against the CPU: products and eigenvalues."""
    points = np.random.default_rng(3).normal(size=(2000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    values = points[:, :2] ** 2
    operators = []
    for device in ("cpu", "cuda"):
        with use_device(device):
            operators.append(
                MarkovOperator.of_sample(points, Distance((0.2, 0.0, 0.4)), 30.0, self_loops=True)
            )
    cpu, cuda = operators
    there, on_device = xp.asarray(values), cuda.on_device
    errors = {
        "P f": np.abs(xp.asnumpy(on_device.matmat(there)) - cpu @ values).max(),
        "f P": np.abs(xp.asnumpy(on_device.rmatmat(there)) - cpu.T @ values).max(),
        "eigenvalues": np.abs(eigenpairs(cuda, 4).values - eigenpairs(cpu, 4).values).max(),
    }
    good = all(error <= ALLOWED["operator"] for error in errors.values())
    listed = ", ".join(f"{name} {error:.1e}" for name, error in errors.items())
    print(f"operator  {listed}  {'right' if good else 'WRONG'}", flush=True)
    return good


def timed(xp: Any, sums: Any, values: Any, centers: Any) -> tuple[float, Any]:
    """Seconds of one evaluation, the better of two after one that compiles, and its result."""
    best = math.inf
    for repeat in range(3):
        xp.cuda.Device().synchronize()
        start = time.perf_counter()
        result = sums(values, centers)
        xp.cuda.Device().synchronize()
        if repeat:
            best = min(best, time.perf_counter() - start)
    return best, result


def run_case(xp: Any, n: int, dimension: int, kind: str, dtype: str, most_pairs: float) -> bool:
    """Time one case, hold some of its rows against the CPU and print a line."""
    from convergence.kernels.cuda import DeviceSums

    points, beta, log_weights, values = problem(n, dimension, kind)
    start = time.perf_counter()
    queries, sums = np.arange(n), None
    if kind == "pruned":
        sums = DeviceSums(points, points, beta, log_weights, dtype=dtype)
    pairs = n * n if sums is None else sums.pairs
    if sums is None or pairs > most_pairs:
        queries = central(points, max(1, int(n * min(1.0, most_pairs / pairs))))
        start = time.perf_counter()
        sums = DeviceSums(points[queries], points, beta, log_weights, dtype=dtype)
    prepared = time.perf_counter() - start
    seconds, result = timed(xp, sums, xp.asarray(values), xp.asarray(values[queries]))
    rows = np.random.default_rng(1).integers(len(queries), size=16)
    some = queries[rows]
    expected = gaussian_sums(points[some], points, beta, log_weights, values, values[some])
    error = worst([xp.asnumpy(array)[rows] for array in result], expected)
    share = floor_seconds(xp, sums.pairs, dimension, 1, dtype) / seconds
    good = error <= ALLOWED[dtype]
    slow = kind == "dense" and dtype == "float32" and share < GOAL
    print(
        f"{n:9.0e} {dimension:2d} {dtype} {kind:6s} {len(queries):9d} {prepared:8.2f} s "
        f"{seconds:9.4f} s {sums.pairs / seconds:9.2e} {100 * share:5.0f} %  {error:.1e} "
        f"{'right' if good else 'WRONG'}{', below the goal' if slow else ''}",
        flush=True,
    )
    return good


def main(arguments: list[str] | None = None) -> int:
    """Run all checks and timings; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e5, 1e6, 1e7])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[2, 3, 4, 8])
    parser.add_argument("--pairs", type=float, default=5e11, help="pairs of a dense case")
    parser.add_argument("--seconds", type=float, default=200.0, help="start no case after this")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    try:
        resolve_device("cuda")
    except DeviceError as error:
        print(f"DeviceError: {error}", file=sys.stderr)
        return 2
    xp = array_module("cuda")
    right = check_engines(xp) & check_operator(xp)
    print("        N  D dtype   kind     queries    prepare       sums   pairs/s  floor  error")
    left_out = 0
    for n in options.sizes:
        for dimension in options.dimensions:
            for dtype in ("float32", "float64"):
                for kind in ("dense", "pruned"):
                    if time.perf_counter() - start > options.seconds:
                        left_out += 1
                    else:
                        right &= run_case(xp, int(n), dimension, kind, dtype, options.pairs)
    if left_out:
        print(f"{left_out} cases not run: {options.seconds:.0f} seconds were over")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
