"""Eigenvalues of the sampled magnetic operator against the flux, over the exact ones."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ..limits import magnetic_expectation
from ..operators import Component, MagneticOperator, MarkovOperator, bilinear_phase
from ..spaces import Circle
from .figure import COLOURS

_MODES = range(-3, 4)


def spectral_flow(
    n: int, fluxes: np.ndarray, beta: float = 10.0, count: int = 4, seed: int = 0
) -> Figure:
    """The lowest eigenvalues at every flux, from one uniform sample of the circle.

    Lines: ħ(k + a₀)² with ħ = 1, the limit (dashed) and the expectation at this β (solid).

    Parameters
    ----------
    n : int
    fluxes : ndarray
        a₀.
    beta : float
    count : int
        Eigenvalues a flux.
    seed : int
    """
    points = Circle().sample(n, np.random.default_rng(seed))
    walk = MarkovOperator([Component(points, points)], beta)
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])  # xᵀMy = sin(y - x)
    figure, ax = plt.subplots(figsize=(3.5, 2.8), layout="constrained")
    fine = np.linspace(fluxes.min(), fluxes.max(), 101)
    for k in _MODES:
        exact = [magnetic_expectation(a, k, beta) for a in fine]
        names = ("limit", rf"$N = \infty$, $\beta = {beta:g}$") if k == 0 else (None, None)
        ax.plot(fine, (k + fine) ** 2, "k--", lw=0.7, label=names[0])
        ax.plot(fine, exact, color=COLOURS[0], label=names[1])
    for i, flux in enumerate(fluxes):
        found = MagneticOperator(walk, bilinear_phase(flux * turn)).eigenvalues(count)
        name = f"sample, $N = {n}$" if i == 0 else None
        ax.plot(np.full(count, flux), found, "o", color=COLOURS[1], mfc="white", label=name)
    ax.set(xlabel="flux $a_0$", ylabel="eigenvalue", ylim=(-0.2, 5))
    figure.legend(loc="outside upper center", ncols=3, columnspacing=1.0, handlelength=1.5)
    return figure
