"""Density and current of a sampled walk on a tilted ring, over Stratonovich's formula."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..errors import LARGEST_DENSE
from ..limits import RingChain, TiltedRing
from ..operators import MarkovOperator, net_flux, stationary
from ..scores import Distance
from ..spaces import Circle
from .figure import COLOURS

_BINS = 24


def ring_current(
    ring: Circle,
    score: Distance,
    n: int,
    beta: float = 40.0,
    hbar: float = 1.0,
    samples: int = 8,
    seed: int = 0,
) -> Figure:
    """Stationary law per unit length, and 4ħβ times the net flux through cuts all around.

    Points are means over samples, each twice the value of the sample less the mean of its halves',
    with 95 % intervals; lines the limit (dashed) and the value at this β (solid). Without a source
    the current is the same through every cut.

    Parameters
    ----------
    ring : Circle
    score : Distance
        With its link.
    n, beta, hbar : the samples
    samples : int
    seed : int
    """
    edges = np.linspace(-np.pi, np.pi, _BINS + 1)
    cuts = edges[:-1:2]

    def measured(points: np.ndarray) -> np.ndarray:
        """The density in every bin, then the current through every cut."""
        walk = MarkovOperator.of_sample(points, score, beta, self_loops=True)
        law = stationary(walk, largest_dense=LARGEST_DENSE).law
        angle = ring.angle(points)
        past = [np.angle(np.exp(1j * (angle - cut))) for cut in cuts]  # in (-π, π]
        fluxes = [
            net_flux(walk, law, (p < 0) & (p > -np.pi / 2), (p >= 0) & (p < np.pi / 2))
            for p in past
        ]
        density = np.histogram(angle, edges, weights=law)[0] / np.diff(edges)
        return np.concatenate([density, 4 * hbar * beta * np.array(fluxes)])

    found = []
    for rng in np.random.default_rng(seed).spawn(samples):
        points = ring.sample(n, rng)
        halves = np.mean([measured(half) for half in np.array_split(points, 2)], axis=0)
        found.append(2 * measured(points) - halves)  # free of the 1/N bias
    laws, currents = np.split(np.array(found), [_BINS], axis=1)
    exact, chain = TiltedRing(ring, score, hbar), RingChain(ring, score, beta)
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.0, 2.7), layout="constrained")
    fine = np.linspace(-np.pi, np.pi, 400)
    left.plot(fine, exact.density(fine), "k--", label=r"limit, $\beta = \infty$")
    _points(left, 0.5 * (edges[1:] + edges[:-1]), laws, f"{samples} samples, $N = {n:,}$")
    left.set(xlabel=r"$\theta$", ylabel="stationary density", ylim=(0, None))
    right.axhline(exact.current, color="k", ls="--")
    right.axhline(chain.current(hbar), color=COLOURS[0], label=rf"$N = \infty$, $\beta = {beta:g}$")
    _points(right, cuts, currents, None)
    right.set(xlabel=r"cut at $\theta$", ylabel=r"$4\hbar\beta\,\cdot$ net flux")
    right.set_ylim(*sorted((0.0, 2 * exact.current)))
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def _points(ax: Axes, x: np.ndarray, values: np.ndarray, label: str | None) -> None:
    mean = np.mean(values, axis=0)
    half = 1.96 * np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
    ax.errorbar(
        x, mean, half, ls="none", marker="o", mfc="w", color=COLOURS[1], elinewidth=0.8, label=label
    )
