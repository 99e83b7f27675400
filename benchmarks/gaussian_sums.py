"""Timings of the fused Gaussian sums beside their peers, as ratios measured in one run.

Queries equal keys, one value column, log-weights on, and β follows N so that about `--near` keys
lie within β d² <= 36 of each. All engines compute the same sums on the same machine in the same
run, so ratios mean something where seconds do not:

    fused               convergence.kernels.gaussian_sums
    NumPy blocks        convergence.kernels.gaussian_sums_blocks (NumPy, all pairs)
    scikit-learn graph  radius-neighbours graph within β d² <= 36, in blocks of queries
    KeOps dense         pykeops lazy-tensor reduction over all pairs, if it is installed
    KeOps block-sparse  the same, block-sparse over a grid of clusters

All-pairs engines run on as many queries as `--pairs` allows and are scaled to all of them.
Tables and a plot go to `--output`.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numba
import numpy as np
import pandas as pd

from convergence.kernels import gaussian_sums, gaussian_sums_blocks
from convergence.kernels.gaussian_sums import fused_sums
from convergence.kernels.inputs import checked_inputs
from convergence.kernels.tiles import key_tiles
from convergence.spaces import Circle, FlatTorus, Space, Sphere

SIGHT = 36.0
LONG = 20.0  # seconds
SPACES: dict[str, Space] = {
    "S1": Circle(),
    "S2": Sphere(2),
    "T2": FlatTorus((Circle(), Circle())),
}


@dataclass(frozen=True)
class Problem:
    """Points of a space, β, log-weights and one column of values."""

    points: np.ndarray
    beta: float
    log_weights: np.ndarray
    values: np.ndarray

    @property
    def arguments(self) -> tuple[Any, ...]:
        return self.points, self.points, self.beta, self.log_weights, self.values, self.values


def problem(space: Space, n: int, near: int) -> Problem:
    """β such that a ball of squared radius 36/β holds about `near` of n uniform points."""
    rng = np.random.default_rng(n)
    ball = {1: 2.0, 2: np.pi}[space.dim]  # volume of the unit ball
    radius = (near / n * space.volume / ball) ** (1 / space.dim)
    points = space.sample(n, rng)
    return Problem(points, SIGHT / radius**2, rng.normal(size=n), np.cos(3 * points[:, 0]))


def seconds(call: Callable[[], Any], repeats: int) -> tuple[list[float], Any]:
    """Seconds of a few runs after one that warms up, of one run where that was long; the result."""
    times: list[float] = []
    while len(times) <= (repeats if not times or times[0] < LONG else 1):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return times[1:], result


def neighbours(p: Problem, n_queries: int, block: int = 2000) -> np.ndarray:
    """The same means through a sparse graph of all pairs in sight."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(radius=np.sqrt(SIGHT / p.beta)).fit(p.points)
    means = []
    for start in range(0, n_queries, block):
        rows = slice(start, min(start + block, n_queries))
        graph = search.radius_neighbors_graph(p.points[rows], mode="distance")
        weights = np.exp(p.log_weights[graph.indices] - p.beta * graph.data**2)
        row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        terms = weights * (p.values[graph.indices] - p.values[rows][row])
        means.append(np.bincount(row, terms) / np.bincount(row, weights))
    return np.concatenate(means)


def keops(p: Problem, n_queries: int, ranges: Any = None) -> np.ndarray:
    """The same means through pykeops, without a running maximum."""
    from pykeops.numpy import LazyTensor

    x, y = LazyTensor(p.points[:n_queries, None, :]), LazyTensor(p.points[None, :, :])
    c, v = LazyTensor(p.log_weights[None, :, None]), LazyTensor(p.values[None, :, None])
    center = LazyTensor(p.values[:n_queries, None, None])
    kernel = (c - p.beta * ((x - y) ** 2).sum(-1)).exp()
    moments, mass = kernel * (v - center), kernel
    if ranges is not None:
        moments.ranges = mass.ranges = ranges
    return (moments.sum(axis=1) / mass.sum(axis=1))[:, 0]


def sparse_keops(p: Problem, cells_a_radius: float = 2.0) -> np.ndarray:
    """Pykeops over the pairs of grid clusters that come within sight of each other."""
    from pykeops.numpy.cluster import (
        cluster_ranges_centroids,
        from_matrix,
        grid_cluster,
        sort_clusters,
    )

    radius = np.sqrt(SIGHT / p.beta)
    labels = grid_cluster(p.points, radius / cells_a_radius)
    ranges, centroids, _ = cluster_ranges_centroids(p.points, labels)
    columns = (p.points, p.log_weights, p.values, np.arange(len(labels)))
    (points, log_weights, values, order), _ = sort_clusters(columns, labels)
    sorted_problem = Problem(points, p.beta, log_weights, values)
    reach = radius + radius / cells_a_radius * np.sqrt(p.points.shape[1])
    keep = ((centroids[:, None, :] - centroids[None, :, :]) ** 2).sum(-1) < reach**2
    found = keops(sorted_problem, len(points), from_matrix(ranges, ranges, keep))
    means = np.empty(len(points))
    means[order] = found
    return means


def peers(p: Problem, most_pairs: float) -> Iterator[tuple[str, int, Callable[[], Any]]]:
    """Name, number of queries and call of every engine that is installed."""
    n = len(p.points)
    few = int(min(n, max(1, most_pairs // n)))
    rows = (p.points[:few], p.points, p.beta, p.log_weights, p.values, p.values[:few])
    yield "NumPy blocks", few, lambda: gaussian_sums_blocks(*rows)[1][:, 0]
    try:
        import sklearn  # noqa: F401
    except ImportError:
        print("scikit-learn is not installed: no row for it")
    else:
        part = min(n, 20_000)
        yield "scikit-learn graph", part, lambda: neighbours(p, part)
    try:
        import pykeops

        pykeops.set_verbose(False)
    except ImportError:
        print("pykeops is not installed: no rows for it")
    else:
        yield "KeOps dense", few, lambda: keops(p, few)
        # its matrix of clusters is dense, so many points want large clusters
        yield "KeOps block-sparse", n, lambda: sparse_keops(p, 2.0 if n <= 200_000 else 1.0)


def compare(sizes: list[int], near: int, pairs: float, repeats: int) -> pd.DataFrame:
    """One row an engine and size on S²: the median ratio to the fused sums, its spread, errors."""
    rows = []
    for n in sizes:
        p = problem(SPACES["S2"], n, near)
        means = gaussian_sums(*p.arguments)[1][:, 0]
        for name, n_queries, call in peers(p, pairs):
            fused, _ = seconds(partial(gaussian_sums, *p.arguments), repeats)
            other, found = seconds(call, repeats)
            ratios = np.outer(other, 1 / np.array(fused)) * n / n_queries
            error = np.abs(found - means[:n_queries]).max() / np.abs(means).mean()
            low, middle, high = np.quantile(ratios, [0, 0.5, 1])
            rows.append((n, name, middle, low, high, error))
            print(f"{n:>9} {name:<18} {middle:>9.1f}  ({low:.1f} to {high:.1f})  {error:.1e}")
    return pd.DataFrame(rows, columns=["n", "engine", "ratio", "lowest", "highest", "difference"])


def growth(sizes: list[int], near: int, repeats: int) -> pd.DataFrame:
    """One row a space and size: time relative to the smallest, cost of a visited pair, memory.

    Sorting is the share of the time that goes into the tiles of the keys.
    """
    rows = []
    for name, space in SPACES.items():
        first = None
        for n in sizes:
            p = problem(space, n, near)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            pairs = fused_sums(checked_inputs(np, *p.arguments, None)).pairs
            taken = float(np.median(seconds(partial(gaussian_sums, *p.arguments), repeats)[0]))
            tiles = partial(key_tiles, p.points, p.log_weights, 0.0)
            sorting = float(np.median(seconds(tiles, repeats)[0])) / taken
            memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            first = first or taken
            nanoseconds = taken * numba.get_num_threads() / pairs * 1e9
            rows.append((name, n, taken / first, pairs / n, nanoseconds, sorting, memory))
        table = pd.DataFrame([r for r in rows if r[0] == name])
        exponent = np.polyfit(np.log(table[1]), np.log(table[2]), 1)[0]
        print(
            f"{name}: N^{exponent:.3f}, {rows[-1][3]:.0f} pairs a query, {rows[-1][4]:.2f} ns a "
            f"visited pair and core, {rows[-1][5]:.0%} for sorting, {rows[-1][6]:.0f} MB more "
            f"at N = {rows[-1][1]}"
        )
    columns = ["space", "n", "time", "pairs_a_query", "ns_a_pair_and_core", "sorting"]
    columns += ["more_megabytes"]
    return pd.DataFrame(rows, columns=columns)


def draw(ratios: pd.DataFrame, times: pd.DataFrame, path: Path) -> None:
    """Ratios to the peers, and growth with N."""
    from convergence.reporting.figure import COLOURS, MARKERS, STYLE

    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(7.0, 2.9), layout="constrained")
        for ax, table, key, value in (
            (axes[0], ratios, "engine", "ratio"),
            (axes[1], times, "space", "time"),
        ):
            for i, (name, rows) in enumerate(table.groupby(key, sort=False)):
                ax.plot(
                    rows["n"], rows[value], color=COLOURS[i], marker=MARKERS[i], mfc="w", label=name
                )
            ax.set(xscale="log", yscale="log", xlabel="$N$")
            ax.legend()
        n = times["n"].to_numpy(dtype=float)
        axes[1].plot([n.min(), n.max()], [1, n.max() / n.min()], "k--", lw=0.8)
        axes[0].set_ylabel("time / fused sums")
        axes[1].set_ylabel("time / that of the smallest $N$")
        axes[0].set_title("$S^2$, one process", loc="left")
        axes[1].set_title("fixed neighbours; dashed: $N$", loc="left")
        for suffix in (".pdf", ".png"):
            figure.savefig(path.with_suffix(suffix))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=float, nargs="+", default=[2e4, 1e5, 1e6])
    parser.add_argument("--near", type=int, default=1000, help="keys in sight of each query")
    parser.add_argument("--pairs", type=float, default=1e8, help="pairs for all-pairs engines")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    sizes = [int(size) for size in options.sizes]
    print(
        f"{numba.get_num_threads()} threads; times over those of the fused sums, lowest to highest"
    )
    # growth first: peak memory only ever rises
    times = growth([10_000, 100_000, 1_000_000], options.near, options.repeats)
    ratios = compare(sizes, options.near, options.pairs, options.repeats)
    ratios.to_csv(options.output / "ratios.csv", index=False, float_format="%.4g")
    times.to_csv(options.output / "growth.csv", index=False, float_format="%.4g")
    draw(ratios, times, options.output / "gaussian_sums")


if __name__ == "__main__":
    main()
