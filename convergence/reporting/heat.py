"""Heat that spreads on a sampled Swiss roll under the Markov walk, up to equilibrium."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ..operators import MarkovOperator, eigenpairs, stationary
from ..scores import Distance
from ..spaces import SwissRoll

_FEW_STEPS = 100
_MODES = 80


def heat_on_the_roll(
    n: int,
    beta: float = 1.5,
    steps: tuple[int, ...] = (20, 300, 3_000, 100_000),
    density: str = "cos(u)/2 + h/6",
    seed: int = 0,
) -> Figure:
    """The walk's law after some numbers of steps from one point, m = 4ħβt steps for a time t.

    Points are coloured by their mass over the mean mass. Titles say how much mass stands on other
    turns, more than half a turn away, as long as the walk cannot have come there along the sheet;
    and at the last time how far (ℓ¹) the law is from the stationary one.

    Parameters
    ----------
    n : int
    beta : float
        Small enough for neighbours, large enough that turns 2π apart do not see each other.
    steps : tuple of int
    density : str
        log of the sampling density; the equilibrium is its square, nearly.
    seed : int
    """
    roll = SwissRoll(8.0, density)
    points = roll.sample(n, np.random.default_rng(seed))
    features = roll.features(points)
    operator = MarkovOperator.of_sample(features, Distance(), beta, self_loops=True)
    equilibrium = stationary(operator).law
    source = int(np.argmin(np.abs(points - [3 * np.pi, 4.0]).sum(axis=1)))
    away = np.abs(points[:, 0] - points[source, 0]) > np.pi
    half_turn = float(np.min(np.abs(_arc_length(points[away, 0]) - _arc_length(3 * np.pi))))
    figure, axes = plt.subplots(
        1, len(steps), figsize=(7.0, 2.3), layout="constrained", subplot_kw={"projection": "3d"}
    )
    for ax, m, law in zip(axes, steps, _laws(operator, equilibrium, source, steps), strict=True):
        drawn = ax.scatter(
            *features[:, [0, 2, 1]].T, c=np.log10(np.maximum(law * n, 1e-9)), cmap="viridis",
            vmin=-1.5, vmax=1, s=2, lw=0, alpha=1, rasterized=True,
        )  # fmt: skip
        title = f"$t = {m / (4 * beta):.0f}$"
        if half_turn > 8 * np.sqrt(m / (2 * beta)):  # eight standard deviations along the sheet
            title += f"; on other turns {law[away].sum():.0e}"
        if m == steps[-1]:
            title += rf"; $\|p - \pi\|_1 =$ {np.abs(law - equilibrium).sum():.0e}"
        ax.set_title(title, fontsize=8, y=0.98)
        ax.set_axis_off()
        ax.view_init(32, -80)
        ax.set_box_aspect((1, 1, 0.55), zoom=1.55)
    bar = figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.01, aspect=25)
    bar.set_label(r"$\log_{10}$ (mass / mean)")
    return figure


def _laws(
    operator: MarkovOperator, equilibrium: np.ndarray, source: int, steps: tuple[int, ...]
) -> Iterator[np.ndarray]:
    """The law of the walk from one point after each number of steps.

    First step by step, then by the lowest eigenfunctions φ of P, orthonormal in the stationary
    law π: p_m(j) = π_j Σ_k (1 - λ_k/4β)^m φ_k(i) φ_k(j).
    """
    law = np.zeros(operator.shape[0])
    law[source] = 1.0
    done, found = 0, None
    for m in steps:
        if m <= _FEW_STEPS:
            for _ in range(m - done):
                law = operator.T @ law
            done = m
            yield law
            continue
        found = found or eigenpairs(operator, min(_MODES, operator.shape[0] - 2))
        decay = np.clip(1 - found.values / (4 * operator.beta), 0, 1) ** m
        yield equilibrium * (found.vectors @ (decay * found.vectors[source]))


def _arc_length(u: np.ndarray | float) -> np.ndarray:
    """∫ sqrt(1 + u²) du along the spiral."""
    u = np.asarray(u)
    return 0.5 * (u * np.sqrt(1 + u**2) + np.arcsinh(u))
