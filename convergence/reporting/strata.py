"""Stratified spaces: samples coloured by local dimension, and layers collapsing on profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from ..claims import StrataProblem
from ..limits import layer
from ..operators import MarkovOperator
from ..scores import Distance
from ..spaces import Ray, StrataFunction, StratifiedSpace
from .figure import COLOURS, MARKERS

_SHOWN = 5_000  # of the sample points


def local_dimensions(features: np.ndarray, beta: float) -> np.ndarray:
    """2β P|y - x|² = -2 dlog q_β/dlog β at every sample point."""
    walk = MarkovOperator.of_sample(features, Distance(), beta, self_loops=False)
    columns = np.column_stack([np.sum(features**2, axis=1), features])
    steps = walk.differences(columns, columns)
    return 2 * beta * (steps[:, 0] - 2 * np.sum(features * steps[:, 1:], axis=1))


def samples_by_dimension(
    spaces: Mapping[str, StratifiedSpace], n: int, beta: float, seed: int = 0
) -> Figure:
    """One panel a space: a sample, every point coloured by the dimension the kernel sees there.

    Parameters
    ----------
    spaces : mapping from title to StratifiedSpace
        In the plane or in space.
    n : int
    beta : float
        In units of the space's size: of the inverse mean square of its features.
    seed : int
    """
    columns = -(-len(spaces) // 2)
    figure = plt.figure(figsize=(7.0, 4.6), layout="constrained")
    axes = []
    for number, (title, space) in enumerate(spaces.items(), 1):
        features = space.features(space.sample(n, np.random.default_rng(seed)))
        scaled = beta / float(np.mean(np.sum(features**2, axis=1)))
        dims = local_dimensions(features, scaled)[:_SHOWN]
        features = features[:_SHOWN]
        solid = features.shape[1] == 3
        ax = figure.add_subplot(2, columns, number, projection="3d" if solid else None)
        style: Any = {"c": dims, "s": 2 if solid else 4, "lw": 0}
        shown = ax.scatter(*features.T, cmap="viridis", vmin=0.5, vmax=2.5, **style)
        ax.set_title(title, loc="left")
        if isinstance(ax, Axes3D):
            ax.set_box_aspect(tuple(np.ptp(features, axis=0)), zoom=1.3)
        else:
            ax.set_aspect("equal")
        ax.set_axis_off()
        axes.append(ax)
    bar = figure.colorbar(shown, ax=axes, shrink=0.6, ticks=[1, 1.5, 2], extend="both")
    bar.set_label(r"$-2\,d\log q_\beta/d\log\beta$")
    return figure


def layer_collapse(
    layers: Mapping[str, tuple[StratifiedSpace, Sequence[Ray], Sequence[int], StrataFunction]],
    betas: Sequence[float],
    n: int,
    seed: int = 0,
) -> Figure:
    """sqrt β (P - I) f against s = sqrt β · distance: samples at several β on one curve.

    Parameters
    ----------
    layers : mapping
        Title to space, the rays of the layer, the numbers of those to follow, and a function.
    betas : sequence of float
    n : int
        Sample points for every target; those of different s are independent.
    seed : int
    """
    figure, axes = plt.subplots(
        1, len(layers), figsize=(7.0, 2.8), layout="constrained", squeeze=False
    )
    for ax, (title, (space, rays, followed, f)) in zip(axes[0], layers.items(), strict=True):
        near, fine, coarse = layer(space, rays, (f,)), np.linspace(0, 3, 121), np.linspace(0, 3, 9)
        for line, ray in enumerate(followed):
            profile = [near.profile(ray, s)[0] for s in fine]
            name = "limit" if line == 0 else None
            ax.plot(fine, profile, "k" if line == 0 else "k--", lw=1.2, label=name)
            for colour, marker, beta in zip(COLOURS, MARKERS, betas, strict=False):
                places = tuple((rays[ray], s) for s in coarse)
                problem = StrataProblem(space, places, (f,), ((0.0,),) * len(coarse), 1.0, 0.5)
                size = n * len(coarse)
                found = problem.estimate([space.sample(size, np.random.default_rng(seed))], beta)
                error = 1.96 * problem.sampling_error(size, beta)[1][:, 0]
                ax.errorbar(
                    coarse, found[:, 0], error, color=colour, marker=marker, ls="none", mfc="white",
                    elinewidth=0.8, label=rf"$\beta = {beta:g}$" if line == 0 else None,
                )  # fmt: skip
                exact = np.linspace(0, 3, 31)
                dense = StrataProblem(
                    space, tuple((rays[ray], s) for s in exact), (f,), ((0.0,),) * 31, 1.0, 0.5
                )
                ax.plot(exact, dense.expectation(beta)[:, 0], color=colour, lw=0.8)
        ax.axhline(0, color="0.7", lw=0.6, zorder=0)
        ax.set_title(title, loc="left")
        ax.set_xlabel(r"$s = \sqrt{\beta}\,\cdot$ distance")
    axes[0, 0].set_ylabel(r"$\sqrt{\beta}\,(P - I)f$")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(betas) + 1
    )
    return figure
