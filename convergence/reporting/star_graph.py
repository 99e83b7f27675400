"""The quantum graph of a star: its spectrum converging, and eigenfunctions on its edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ..claims import SpectrumProblem
from ..claims.star_spectrum import star_beta
from ..operators import eigenpairs, reversible_law
from ..running import Run
from ..spaces import StarGraph
from .figure import COLOURS, MARKERS


def spectrum_converging(
    run: Run, problems: Mapping[str, SpectrumProblem], sizes: Sequence[int], seed: int = 0
) -> Figure:
    """Eigenvalues over their limits against β: N = ∞ (lines), replicates and single larger samples.

    Parameters
    ----------
    run : Run
        With the joint check of every claim.
    problems : mapping
        Claim's id to the problem it measures.
    sizes : sequence of int
        N of further samples, one each (filled markers).
    seed : int
    """
    figure, axes = plt.subplots(
        1, len(problems), figsize=(7.0, 3.2), layout="constrained", sharey=True, squeeze=False
    )
    for ax, (id, problem) in zip(axes[0], problems.items(), strict=True):
        claim = run.study.claim(id)
        batches = run.batches(claim)["joint"]
        betas = np.array([batch.setting.beta for batch in batches])
        more = np.array([star_beta(n) for n in sizes])
        fine = np.geomspace(0.8 * betas[0], 4 * max(*betas, *more), 15)
        exact = np.array([problem.expectation(beta)[0] for beta in fine]) / claim.limit
        large = np.array([_single(problem, n, seed)[0] for n in sizes]) / claim.limit
        for i, label in enumerate(claim.functions):
            colour, marker = COLOURS[i], MARKERS[i]
            values = np.stack([batch.values[:, 0, i] for batch in batches]) / claim.limit[0, i]
            half = 1.96 * np.std(values, axis=1, ddof=1) / np.sqrt(values.shape[1])
            ax.plot(fine, exact[:, i], color=colour)
            ax.errorbar(
                betas, np.mean(values, axis=1), half, color=colour, marker=marker, mfc="white",
                ls="none", elinewidth=0.8, label=f"${label}$",
            )  # fmt: skip
            ax.plot(more, large[:, i], marker, color=colour)
        ax.axhline(1, color="0.5", ls="--", lw=0.7)
        ax.set(xscale="log", xlabel=r"$\beta$")
        ax.set_title(id.replace("-", " "), loc="left")
        ax.legend(loc="upper right")
    axes[0, 0].set_ylabel("eigenvalue over Kirchhoff's")
    single = " and ".join(f"{n:,}" for n in sizes)
    figure.supxlabel(
        rf"lines: $N = \infty$; open: means over replicates, $N$ = {batches[0].setting.n:,} to "
        f"{batches[-1].setting.n:,}, with 95 % intervals; filled: one sample each, $N$ = {single}",
        fontsize=7,
    )
    return figure


def _single(problem: SpectrumProblem, n: int, seed: int) -> np.ndarray:
    points = problem.space.sample(n, np.random.default_rng([seed, n]))
    return problem.measured(points, star_beta(n))


def eigenfunctions(space: StarGraph, n: int, beta: float, count: int = 5, seed: int = 0) -> Figure:
    """Modes of one sample on a star in the plane, and along its edges beside the exact ones.

    Parameters
    ----------
    space : StarGraph
    n : int
    beta : float
    count : int
        Modes, the constant included; a double eigenvalue that it would cut is left out.
    seed : int

    Notes
    -----
    A double eigenvalue has no basis of its own: the exact functions are the projections of the
    sampled ones on the exact eigenspace.
    """
    problem = SpectrumProblem(space, count)
    points = space.sample(n, np.random.default_rng(seed))
    features = space.features(points)
    walk = problem.walk(points, beta)
    law, found = reversible_law(walk), eigenpairs(walk, problem.groups[-1][-1] + 1, tolerance=1e-8)
    waves = problem.graph.wave_numbers(count)
    edge, t = points[:, 0].astype(int), points[:, 1]
    modes = [(i, group) for group in problem.groups for i in group]
    figure, axes = plt.subplots(
        2, len(modes), figsize=(7.0, 3.6), layout="constrained", height_ratios=(1.2, 1)
    )
    ends = np.asarray(space.lengths)
    for (above, below), (i, group) in zip(axes.T, modes, strict=True):
        mode, k = found.vectors[:, i], waves[group[0]]
        basis = problem.graph.eigenspace(group)
        exact = basis[edge] * np.cos(k * (ends[edge] - t))[:, None]
        weights = np.linalg.lstsq(np.sqrt(law)[:, None] * exact, np.sqrt(law) * mode, rcond=None)[0]
        size = np.max(np.abs(mode))
        above.scatter(*features.T, c=mode, s=4, cmap="PuOr", vmin=-size, vmax=size, lw=0)
        above.set_aspect("equal")
        above.set_axis_off()
        above.set_title(rf"$\lambda = {found.values[i] / np.pi**2:.3f}\,\pi^2$", fontsize=8)
        for j, end in enumerate(space.lengths):
            own, along = edge == j, np.linspace(0, end, 100)
            below.plot(t[own], mode[own], ".", ms=1.5, color=COLOURS[j], alpha=0.6)
            below.plot(along, (basis @ weights)[j] * np.cos(k * (end - along)), "k", lw=0.8)
        below.set_xlabel("$t$")
        below.set_title(rf"exact ${(k / np.pi) ** 2:.4g}\,\pi^2$", fontsize=8)
    return figure
