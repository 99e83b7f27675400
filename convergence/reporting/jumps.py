"""Figures of jump processes: a row of the kernel, Varadhan's distance, the critical scale."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..limits import CircularWalk, MixtureLaw
from ..running import Run
from ..scores import Distance, Mixture
from ..spaces import Circle
from ..verification import Batch
from .figure import COLOURS, MARKERS, claim_handles, error_panel

_BINS = 90


def transition_kernel(
    run: Run, space: Circle, score: Mixture, betas: tuple[float, ...], n: int = 200_000
) -> Figure:
    """One row of P around the circle, local peak and remote bond, above the errors of the claims.

    Steps: the row on one sample, in bins; lines: the density of P(x, dy) at N = ∞.

    Parameters
    ----------
    run : Run
        Whose claims on curves have their errors below.
    space, score : the walk of the row
    betas : tuple of float
    n : int
        Points of the sample.
    """
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(3.5, 4.6), layout="constrained")
    x = space.at(0.0)
    points = space.sample(n, np.random.default_rng(0))
    edges = np.linspace(-np.pi / 2, 3 * np.pi / 2, _BINS + 1)
    turn = (space.angle(points) + np.pi / 2) % (2 * np.pi) - np.pi / 2
    fine = np.linspace(edges[0], edges[-1], 1001)
    law = MixtureLaw(space, score)
    for beta, colour in zip(betas, COLOURS, strict=False):
        row = np.exp(_log_row(score, x, points, beta))
        shares = np.histogram(turn, edges, weights=row / np.sum(row))[0]
        top.stairs(shares / np.diff(edges), edges, color=colour, alpha=0.4, fill=True)
        y = space.at(fine)
        exact = _log_row(score, x, y, beta) + space.log_density(y) - law.log_mass(x, beta, 1)
        rate = 4 * beta * law.shares(x, beta)[1]
        label = rf"$\beta = {beta:g}$: $4\beta p = {rate:.3f}$"
        top.plot(fine, np.exp(exact), color=colour, label=label)
    top.set(yscale="log", ylim=(1e-4, 30), xlabel=r"$\theta_y - \theta_x$")
    top.set_ylabel("density of $P(x, dy)$")
    top.set_xticks([0, np.pi / 2, np.pi], ["0", r"$\frac{\pi}{2}$", r"$\pi$"])
    top.legend()
    claims = [c for c in run.study.claims if c.space.dim == 1 and run.batches(c)["joint"]]
    shown = [claim for claim in claims if claim.sampling_error is not None]
    error_panel(bottom, run, shown)
    figure.legend(handles=claim_handles(run, shown), loc="outside lower center", ncols=2)
    bottom.set_ylabel("error of the generator, r.m.s.")
    return figure


def _log_row(score: Mixture, x: np.ndarray, y: np.ndarray, beta: float) -> np.ndarray:
    """log K(x, y)."""
    return np.logaddexp.reduce([part.log_kernel(y) for part in score.parts(x[None], beta)])


def varadhan_figure(run: Run, claims: dict[str, Distance | Mixture], angle: float) -> Figure:
    """-4ħt log(p_t sqrt(4πħt)) between two points against ħt, with and without a jump.

    Lines: heat kernels, the limit; dotted: m = 4ħβt steps at N = ∞; markers: steps of sampled
    walks at the same β, with 95 % intervals.

    Parameters
    ----------
    run : Run
    claims : mapping
        Walk by the id of its claim.
    angle : float
        Between the points.
    """
    figure, ax = plt.subplots(figsize=(3.5, 2.8), layout="constrained")
    for (id, score), colour, marker in zip(claims.items(), COLOURS, MARKERS, strict=False):
        walk, claim = CircularWalk(Circle(), score), run.study.claim(id)
        local = isinstance(score, Distance)
        # below, the density of the local walk is lost in the rounding of its series
        times = np.geomspace(0.1 if local else 0.005, 0.5, 60)
        ax.plot(times, [walk.varadhan(angle, t) for t in times], color=colour)
        (batch,) = run.batches(claim)["sampling"]
        beta = batch.setting.beta
        steps = np.arange(8 if local else 2, 2 * beta + 1) / (4 * beta)
        ax.plot(steps, [walk.varadhan(angle, t, beta) for t in steps], color=colour, ls=":")
        shown = [float(label.rsplit("=", 1)[1]) for label in claim.functions]
        label = "local walk" if local else "with a jump"
        _intervals(
            ax, np.array(shown), batch.values[:, 0], color=colour, marker=marker, label=label
        )
    ax.axhline(angle**2, color="0.4", lw=0.8, ls="--")
    ax.annotate("$d^2$", (0.006, angle**2), (0, -9), textcoords="offset points", color="0.3")
    ax.set(xscale="log", ylim=(0, None), xlabel=r"$\hbar t$")
    ax.set_ylabel(r"$-4\hbar t\,\log(p_t\sqrt{4\pi\hbar t})$")
    ax.legend(loc="center left")
    return figure


def _intervals(ax: Axes, x: np.ndarray, values: np.ndarray, **style: Any) -> None:
    half = 1.96 * np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
    ax.errorbar(x, np.mean(values, axis=0), half, ls="none", mfc="w", capsize=2, **style)


def critical_picture(run: Run, exponents: dict[str, float]) -> Figure:
    """The jump part of the generator against β for several exponents γ of the relative mass.

    Lines: N = ∞; markers: means over replicates, with 95 % intervals, of the first function at
    its first target. Only γ = 1 neither diverges nor vanishes.

    Parameters
    ----------
    run : Run
    exponents : mapping
        γ by the id of its claim, whose values are multiplied by β^{γ-1}.
    """
    figure, ax = plt.subplots(figsize=(3.5, 2.8), layout="constrained")
    styles = zip(COLOURS, MARKERS, strict=True)
    for (id, gamma), (colour, marker) in zip(exponents.items(), styles, strict=False):
        claim = run.study.claim(id)
        batches = run.batches(claim)["joint"]
        fine = np.geomspace(5, 1000, 40)
        value, sign = claim.expectation, np.sign(claim.limit[0, 0])
        ax.plot(fine, [sign * value(b)[0, 0] * b ** (1 - gamma) for b in fine], color=colour)
        betas = np.array([batch.setting.beta for batch in batches])
        _means(ax, batches, sign * betas ** (1 - gamma), color=colour, marker=marker)
        end = sign * value(fine[-1])[0, 0] * fine[-1] ** (1 - gamma)
        ax.annotate(
            rf"$\gamma = {gamma:g}$", (fine[-1], end), (3, 0),
            textcoords="offset points", va="center", color=colour, annotation_clip=False,
        )  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel=r"$\beta$")
    ax.set_ylabel(r"$4\hbar\beta p\,|f(x) - f(Tx)|$")
    return figure


def _means(ax: Axes, batches: list[Batch], scale: np.ndarray, **style: Any) -> None:
    values = [batch.values[:, 0, 0] for batch in batches]
    mean = scale * [np.mean(v) for v in values]
    half = np.abs(scale) * [1.96 * np.std(v, ddof=1) / np.sqrt(len(v)) for v in values]
    betas = [batch.setting.beta for batch in batches]
    ax.errorbar(betas, mean, half, ls="none", mfc="w", capsize=2, elinewidth=0.8, **style)
