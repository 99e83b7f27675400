"""Timings of the fused Gaussian sums beside their peers, as ratios measured in one run.

Points are uniform on the sphere S², queries equal keys, one value column, log-weights on, and
β follows N so that about `--near` keys lie within β d² <= 36 of each. All engines compute the same
sums on the same machine in the same run, so ratios mean something where seconds do not:

    fused      convergence.kernels.gaussian_sums
    blocks     convergence.kernels.gaussian_sums_blocks (NumPy, all pairs)
    neighbours scikit-learn radius-neighbours graph within β d² <= 36, in blocks of queries
    pykeops    a lazy-tensor reduction over all pairs, if it is installed

All-pairs engines run on as many queries as `--pairs` allows and are scaled to all of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from convergence.kernels import gaussian_sums, gaussian_sums_blocks
from convergence.kernels.gaussian_sums import fused_sums
from convergence.kernels.inputs import checked_inputs

Problem = tuple[np.ndarray, float, np.ndarray, np.ndarray]
SIGHT = 36.0


def sphere(n: int, near: int) -> Problem:
    """Points, β, log-weights and values; a cap of chord r holds the fraction r²/4 of S²."""
    rng = np.random.default_rng(n)
    points = rng.normal(size=(n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points, SIGHT * n / (4.0 * near), rng.normal(size=n), np.cos(3.0 * points[:, 0])


def seconds(call: Callable[[], Any], repeats: int) -> float:
    """Shortest of a few runs, after one that warms up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def neighbours(problem: Problem, n_queries: int, block: int = 2000) -> np.ndarray:
    """The same means through a sparse graph of all pairs in sight."""
    from sklearn.neighbors import NearestNeighbors

    points, beta, log_weights, values = problem
    search = NearestNeighbors(radius=np.sqrt(SIGHT / beta)).fit(points)
    means = []
    for start in range(0, n_queries, block):
        rows = slice(start, min(start + block, n_queries))
        graph = search.radius_neighbors_graph(points[rows], mode="distance")
        weights = np.exp(log_weights[graph.indices] - beta * graph.data**2)
        row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        terms = weights * (values[graph.indices] - values[rows][row])
        means.append(np.bincount(row, terms) / np.bincount(row, weights))
    return np.concatenate(means)


def pykeops(problem: Problem, n_queries: int) -> np.ndarray:
    """The same means through pykeops, without a running maximum."""
    from pykeops.numpy import LazyTensor

    points, beta, log_weights, values = problem
    x = LazyTensor(points[:n_queries, None, :])
    y = LazyTensor(points[None, :, :])
    c = LazyTensor(log_weights[None, :, None])
    v = LazyTensor(values[None, :, None])
    center = LazyTensor(values[:n_queries, None, None])
    kernel = (c - beta * ((x - y) ** 2).sum(-1)).exp()
    return ((kernel * (v - center)).sum(axis=1) / kernel.sum(axis=1))[:, 0]


def peers(problem: Problem, most_pairs: float) -> Iterator[tuple[str, int, Callable[[], Any]]]:
    """Name, number of queries and call of every engine that is installed."""
    points, beta, log_weights, values = problem
    n = len(points)
    few = int(min(n, max(1, most_pairs // n)))
    yield (
        "blocks",
        few,
        lambda: gaussian_sums_blocks(points[:few], points, beta, log_weights, values, values[:few])[
            1
        ][:, 0],
    )
    try:
        import sklearn  # noqa: F401
    except ImportError:
        print("scikit-learn is not installed: no row for it")
    else:
        part = min(n, 20_000)
        yield "neighbours", part, lambda: neighbours(problem, part)
    try:
        import pykeops as _  # noqa: F401
    except ImportError:
        print("pykeops is not installed: no row for it")
    else:
        yield "pykeops", few, lambda: pykeops(problem, few)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e4, 1e5, 1e6])
    parser.add_argument("--near", type=int, default=1000, help="keys in sight of each query")
    parser.add_argument("--pairs", type=float, default=1e8, help="pairs for all-pairs engines")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    import numba

    threads = numba.get_num_threads()
    sizes = [int(size) for size in options.sizes]
    fused_seconds = []
    print(f"{threads} threads; ratio is seconds a query over those of the fused sums")
    print(f"{'N':>9} {'engine':<11} {'us/query':>10} {'ratio':>8} {'difference':>11}  pairs")
    for n in sizes:
        problem = sphere(n, options.near)
        points, beta, log_weights, values = problem
        arguments = (points, points, beta, log_weights, values, values)
        fused = seconds(partial(gaussian_sums, *arguments), options.repeats)
        fused_seconds.append(fused)
        means = gaussian_sums(*arguments)[1][:, 0]
        pairs = fused_sums(checked_inputs(np, *arguments, None)).pairs
        print(
            f"{n:>9} {'fused':<11} {fused / n * 1e6:>10.2f} {1:>8} {'':>11}  "
            f"{pairs / n:.0f} a query, {fused * threads / pairs * 1e9:.2f} ns a pair and thread"
        )
        for name, n_queries, call in peers(problem, options.pairs):
            a_query = seconds(call, 1) / n_queries
            difference = np.abs(call() - means[:n_queries]).max() / np.abs(means).mean()
            ratio = a_query / (fused / n)
            print(f"{n:>9} {name:<11} {a_query * 1e6:>10.2f} {ratio:>8.1f} {difference:>11.1e}")
    if len(sizes) > 1:
        exponent = np.polyfit(np.log(sizes), np.log(fused_seconds), 1)[0]
        print(f"growth of the fused sums: N^{exponent:.3f}")


if __name__ == "__main__":
    main()
