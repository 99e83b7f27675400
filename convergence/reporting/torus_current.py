"""The stationary current of a sampled walk on a flat torus, over the Fokker-Planck equation's."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ..errors import LARGEST_DENSE, InvalidInputError
from ..limits import FourierGalerkin
from ..operators import MarkovOperator, log_matrix, stationary
from ..scores import Distance
from ..spaces import FlatTorus
from .figure import COLOURS

_MODES, _FINE, _CELLS = 8, 96, 8


def measured_current(
    score: Distance, points: np.ndarray, beta: float, hbar: float, cells: int
) -> np.ndarray:
    """2ħβ Σ_j (A_ij - A_ji)(θ_j - θ_i), summed over the points i of each cell, over its area.

    Parameters
    ----------
    score : Distance
    points : ndarray, shape (N, 4)
        Of a flat torus of two circles.
    beta, hbar : float
    cells : int
        Along each angle.

    Returns
    -------
    ndarray, shape (cells, cells, 2)
    """
    walk = MarkovOperator.of_sample(points, score, beta, self_loops=True)
    flow = stationary(walk, largest_dense=LARGEST_DENSE).law[:, None] * np.exp(log_matrix(walk))
    net = flow - flow.T
    theta = np.arctan2(points[:, 1::2], points[:, ::2])
    steps = theta[None] - theta[:, None]
    steps -= 2 * np.pi * np.rint(steps / (2 * np.pi))
    rates = 2 * hbar * beta * np.sum(net[:, :, None] * steps, axis=1)
    edges = np.linspace(-np.pi, np.pi, cells + 1)
    area = (2 * np.pi / cells) ** 2
    parts = [
        np.histogram2d(theta[:, 0], theta[:, 1], (edges, edges), weights=rate)[0] / area
        for rate in rates.T
    ]
    return np.stack(parts, axis=-1)


def torus_current(
    torus: FlatTorus,
    score: Distance,
    n: int,
    beta: float = 8.0,
    hbar: float = 1.0,
    samples: int = 8,
    seed: int = 0,
) -> Figure:
    """Arrows of the mean current over samples, and of the limit averaged over the same cells.

    Each sample gives twice its value less the mean of its halves'. Behind them lies the limit's
    stationary density; beside them every component, measured over exact, with 95 % intervals.

    Parameters
    ----------
    torus : FlatTorus
        Of two circles.
    score : Distance
        With its link.
    n : int
        Points of a sample.
    beta, hbar : float
    samples : int
    seed : int

    Returns
    -------
    Figure

    Raises
    ------
    InvalidInputError
        For a torus of another dimension.
    """
    if torus.dim != 2:
        raise InvalidInputError(f"the figure is that of two angles: a torus of {torus.dim} given")
    found = []
    for rng in np.random.default_rng(seed).spawn(samples):
        points = torus.sample(n, rng)
        whole, *halves = (
            measured_current(score, part, beta, hbar, _CELLS)
            for part in (points, *np.array_split(points, 2))
        )
        found.append(2 * whole - np.mean(halves, axis=0))
    mean = np.mean(found, axis=0)
    half = 1.96 * np.std(found, axis=0, ddof=1) / np.sqrt(samples)
    exact = FourierGalerkin(torus, score, _MODES, hbar)
    fine = 2 * np.pi * (np.arange(_FINE) + 0.5) / _FINE - np.pi
    grid = np.stack(np.meshgrid(fine, fine, indexing="ij"), axis=-1)
    block = _FINE // _CELLS
    field = exact.current(grid).reshape(_CELLS, block, _CELLS, block, 2).mean(axis=(1, 3))
    centres = (np.arange(_CELLS) + 0.5) * 2 * np.pi / _CELLS - np.pi
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(7.0, 3.5), layout="constrained", width_ratios=(1.15, 1)
    )
    shade = left.pcolormesh(fine, fine, exact.density(grid).T, cmap="Greys", rasterized=True)
    shade.set_clim(0, None)
    figure.colorbar(shade, ax=left, label="stationary density", shrink=0.85)
    scale = 1.6 * float(np.max(np.linalg.norm(field, axis=-1))) * _CELLS / 2
    for arrows, colour, width in ((field, COLOURS[0], 0.012), (mean, COLOURS[1], 0.005)):
        u, v = arrows[..., 0].T, arrows[..., 1].T
        left.quiver(centres, centres, u, v, color=colour, scale=scale, width=width, pivot="mid")
    left.set(xlabel=r"$\theta_1$", ylabel=r"$\theta_2$", aspect="equal")
    ends = 1.1 * np.array([np.min(field), np.max(field)])
    right.plot(ends, ends, color=COLOURS[0], label=r"limit, $\beta = \infty$")
    for a, marker in enumerate("os"):
        right.errorbar(
            field[..., a].ravel(), mean[..., a].ravel(), half[..., a].ravel(), ls="none",
            marker=marker, ms=3, mfc="w", color=COLOURS[1], elinewidth=0.6,
            label=rf"$j_{a + 1}$, {samples} samples, $N = {n:,}$, $\beta = {beta:g}$",
        )  # fmt: skip
    right.set(xlabel="exact current, cell means", ylabel="measured")
    figure.legend(loc="outside upper center", ncols=3)
    return figure
