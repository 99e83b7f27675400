"""The figure of a study of exact identities: every residual over its tolerance."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..running import Run
from ..verification import Claim

_ROW = 0.135  # inches
_LEAST = 1e-4  # tolerances; residuals below, zeros too, are drawn here
_RIGHT: Any = {"color": "#0072B2", "marker": "o"}
_WRONG: Any = {"color": "#D55E00", "marker": "x"}


def of_identities(run: Run) -> bool:
    """Whether a study has no claims but exact identities."""
    return all("identity" in claim.checks for claim in run.study.claims)


def identity_figure(run: Run) -> Figure:
    """Residuals over tolerances, one row an identity, on a logarithmic scale.

    Lines run over all samples. A right identity (disc) is marked at its largest residual, which
    must lie below 1, a wrong one (cross) at its smallest, which must lie above 10³.
    """
    claims = list(run.study.claims)
    heights = list(accumulate(_height(claim) for claim in claims))
    first = 1 + int(np.argmin(np.abs(np.array(heights) - heights[-1] / 2)))
    columns = [c for c in (claims[:first], claims[first:]) if c]
    rows = max(sum(map(_height, column)) for column in columns)
    figure = plt.figure(figsize=(3.5 * len(columns), _ROW * rows + 1.1), layout="constrained")
    axes = figure.subplots(1, len(columns), sharex=True, squeeze=False)[0]
    for ax, column in zip(axes, columns, strict=True):
        _column(ax, run, column, rows)
    figure.legend(
        handles=[
            Line2D([], [], ls="none", label="identity: largest residual", **_RIGHT),
            Line2D([], [], ls="none", label="wrong identity: smallest residual", **_WRONG),
            Line2D([], [], color="0.4", lw=0.6, label="all samples"),
        ],
        loc="outside lower center",
        ncols=3,
    )
    return figure


def _height(claim: Claim) -> int:
    """Rows that a claim takes: its name, its identities, a gap."""
    return len(claim.functions) + 2


def _column(ax: Axes, run: Run, claims: list[Claim], rows: int) -> None:
    ticks, labels, row = [], [], 0
    largest = 1e4
    for claim in claims:
        ax.annotate(
            claim.id, (0, row), (-3, 0), xycoords=ax.get_yaxis_transform(),
            textcoords="offset points", ha="right", va="center", weight="bold", fontsize=7,
        )  # fmt: skip
        batches = run.batches(claim)["identity"]
        values = np.abs(np.concatenate([b.values for b in batches]) - claim.limit).max(axis=1)
        values = np.maximum(values / claim.tolerance, _LEAST)
        for label, column in zip(claim.functions, values.T, strict=True):
            row += 1
            wrong = label in claim.wrong
            style = _WRONG if wrong else _RIGHT
            ax.plot([column.min(), column.max()], [row, row], color=style["color"], lw=0.6)
            ax.plot(column.min() if wrong else column.max(), row, ms=3, mew=0.9, **style)
            ticks.append(row)
            labels.append(label)
            largest = max(largest, column.max())
        row += 2
    ax.axvspan(1, 1e3, color="0.93", lw=0)
    ax.axvline(1, color="0.4", lw=0.6)
    ax.set(xscale="log", xlabel="residual / tolerance", ylim=(rows - 1, -1))
    ax.set_xlim(_LEAST / 2, largest * 3)
    ax.set_yticks(ticks, labels, fontsize=6.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
