"""Metric ellipses: the unit circle of a metric at points of a chart, estimated over exact."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..claims import MetricProblem
from ..spaces import Chart
from .figure import COLOURS

_GRID = 5  # points a coordinate
_AT_ONCE = 5  # targets of one evaluation: each adds columns for all of them


def metric_ellipses(
    charts: dict[str, Chart], n: int, degree: float = 1000.0, seed: int = 0
) -> Figure:
    """One panel a chart of two coordinates, over its sampling density.

    At every point x stand the curves of constant length |v| in the metric: the image of a circle
    under 𝒢(x)^-½, from one sample of `n` points (solid) and exact (dashed). β is such that about
    `degree` points count at the least dense of the points.

    Parameters
    ----------
    charts : dict
        Title to chart.
    n : int
    degree : float
    seed : int
    """
    figure, axes = plt.subplots(
        1, len(charts), figsize=(3.5 * len(charts), 3.2), layout="constrained", squeeze=False
    )
    for ax, (title, chart) in zip(axes[0], charts.items(), strict=True):
        _panel(ax, chart, n, degree, np.random.default_rng(seed))
        ax.set_title(title, loc="left")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _panel(ax: Axes, chart: Chart, n: int, degree: float, rng: np.random.Generator) -> None:
    steps = (np.arange(_GRID) + 0.5) / _GRID
    axes = [c.low + c.length * steps for c in chart.coordinates]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    problem = MetricProblem(chart)
    least = n * np.exp(np.min(chart.log_density(grid)))
    beta = float(np.pi * least / degree)
    sample = chart.sample(n, rng)
    exact = chart.inverse_metric(grid)
    found = np.concatenate(
        [
            _components(problem, grid[i : i + _AT_ONCE], sample, beta)
            for i in range(0, len(grid), _AT_ONCE)
        ]
    )
    spacing = np.array([c.length / _GRID for c in chart.coordinates])
    widths = np.sqrt(np.stack([exact[:, a, a] for a in range(2)], axis=1))
    radius = 0.42 * float(np.min(spacing / np.max(widths, axis=0)))
    _density(ax, chart)
    for k, (x, one, other) in enumerate(zip(grid, found, exact, strict=True)):
        for matrix, color, line, label in (
            (one, COLOURS[1], "-", f"estimated, $N = {n:,}$"),
            (other, "k", "--", "exact"),
        ):
            curve = x + radius * _circle() @ np.linalg.cholesky(matrix).T
            ax.plot(*curve.T, color=color, ls=line, label=label if k == 0 else None)
    names = chart.names
    ax.set(xlabel=f"${names[0]}$", ylabel=f"${names[1]}$")
    ax.set_xlim(chart.coordinates[0].low, chart.coordinates[0].high)
    ax.set_ylim(chart.coordinates[1].low, chart.coordinates[1].high)


def _circle() -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, 73)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _components(
    problem: MetricProblem, targets: np.ndarray, sample: np.ndarray, beta: float
) -> np.ndarray:
    """The estimated 𝒢⁻¹ at some targets, shape (targets, 2, 2)."""
    first, mixed, second, _ = problem.estimate_at(targets, [sample], beta).T
    return np.stack([[first, mixed], [mixed, second]]).transpose(2, 0, 1)


def _density(ax: Axes, chart: Chart) -> None:
    """The sampling density against the coordinates, in grey."""
    axes = [np.linspace(c.low, c.high, 80) for c in chart.coordinates]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    density = np.exp(chart.log_coordinate_density(grid))
    first, second = chart.coordinates
    ends = (first.low, first.high, second.low, second.high)
    ax.imshow(
        density.T, cmap="Greys", alpha=0.35, vmin=0, extent=ends, origin="lower", aspect="auto",
        interpolation="bilinear",
    )  # fmt: skip
