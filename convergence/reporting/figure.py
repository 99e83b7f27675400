"""The figure of a study: error against N on its predicted curve, bias against β, errors' law."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import ticker
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy import stats

from ..errors import CheckpointError, StudyError
from ..running import Run, write_whole
from ..verification import Batch, Claim, predicted_rmse
from .identity_figure import identity_figure, of_identities

# Okabe and Ito's colours, safe for colour-blind readers; with eight markers, 56 distinct pairs
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vP*X"

STYLE: Any = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "legend.fontsize": 7,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.0,
    "lines.markersize": 4,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,
}


# of the bias panel's height
_DECADES = 1e-8


def study_figure(run: Run) -> Figure:
    """The figure of a study of pointwise claims.

    The upper row shows, for each dimension d, the root-mean-square error of the estimate against
    the limit (markers, 95 % intervals over replicates) on the curve sqrt(bias² + sd²), which has
    no parameters; the triangle has the slope predicted for β → ∞. Below: the bias of the
    expectation against β, exact (lines) and measured (where its interval excludes zero), and the
    standardised sampling errors beside N(0, 1).
    """
    groups: dict[int, list[Claim]] = {}
    for claim in run.study.claims:
        if run.batches(claim)["joint"]:
            groups.setdefault(claim.space.dim, []).append(claim)
    figure = plt.figure(figsize=(7.0, 5.9 if groups else 3.0), layout="constrained")
    grid = figure.add_gridspec(2 if groups else 1, 1)
    lower = grid[-1].subgridspec(1, 2)
    if groups:
        upper = grid[0].subgridspec(1, len(groups))
        for column, (dim, claims) in enumerate(sorted(groups.items())):
            ax = figure.add_subplot(upper[column])
            error_panel(ax, run, claims)
            ax.set_title(f"$d = {dim}$", loc="left")
            if column == 0:
                ax.set_ylabel("error against the limit, r.m.s.")
    _bias_panel(figure.add_subplot(lower[0]), run)
    _law_panel(figure.add_subplot(lower[1]), run)
    handles = claim_handles(run, run.study.claims)
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(5, len(handles)),
        title="markers: measured, with 95 % intervals; lines: theory, without free parameters",
        title_fontsize=8,
    )
    return figure


def claim_handles(run: Run, claims: Sequence[Claim]) -> list[Line2D]:
    """Entries of a legend, with the marker that a claim has in every panel."""
    return [Line2D([], [], label=c.id, ls="none", **_style(run, c)) for c in claims]


def _style(run: Run, claim: Claim) -> dict:
    """Colour and marker of a claim, the same in every panel."""
    index = [c.id for c in run.study.claims].index(claim.id)
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "mfc": "white",
    }


def error_panel(ax: Axes, run: Run, claims: list[Claim]) -> None:
    """Errors against the limit over N, measured and on their predicted curves."""
    for claim in claims:
        batches = run.batches(claim)["joint"]
        sizes = np.array([batch.setting.n for batch in batches])
        style = _style(run, claim)
        if claim.sampling_error is not None:
            curve = [predicted_rmse(claim, b.setting.n, b.setting.beta) for b in batches]
            ax.plot(sizes, [np.sqrt(np.mean(c**2)) for c in curve], color=style["color"])
        squares = [np.mean((b.values - claim.limit) ** 2, axis=(1, 2)) for b in batches]
        mean = np.array([np.mean(s) for s in squares])
        half = np.array([1.96 * np.std(s, ddof=1) / np.sqrt(len(s)) for s in squares])
        ends = np.sqrt(np.stack([np.maximum(mean - half, mean * 1e-3), mean + half]))
        measured = np.sqrt(mean)
        ax.errorbar(
            sizes, measured, np.abs(ends - measured), ls="none", capsize=2, elinewidth=0.8, **style
        )
    ax.set(xscale="log", yscale="log", xlabel="$N$")
    _sparse_ticks(ax)
    if claims[0].slope is not None:
        _triangle(ax, claims[0].slope)


def _sparse_ticks(ax: Axes) -> None:
    """Labels at 1 and 3 times powers of ten, or at 1, 2, 3 and 5 over less than 1.3 decades."""
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        subs = (1.0, 3.0) if high / low > 20 else (1.0, 2.0, 3.0, 5.0)
        axis.set_major_locator(ticker.LogLocator(subs=subs))
        axis.set_major_formatter(ticker.FuncFormatter(_power_of_ten))
        axis.set_minor_formatter(ticker.NullFormatter())


def _power_of_ten(value: float, _: int) -> str:
    exponent = int(np.floor(np.log10(value) + 1e-9))
    lead = round(value / 10.0**exponent)
    if -2 <= exponent < 2:
        return f"{value:g}"
    return f"$10^{{{exponent}}}$" if lead == 1 else rf"${lead}{{\cdot}}10^{{{exponent}}}$"


def _triangle(ax: Axes, slope: float) -> None:
    """The predicted slope, over a factor of up to three in N, in the free upper right corner."""
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, top * (top / bottom) ** 0.15)
    first, last = ax.get_xlim()
    right, factor = last * (first / last) ** 0.1, min(3.0, (last / first) ** 0.3)
    x = np.array([right / factor, right, right, right / factor])
    level = top * (top / bottom) ** 0.08
    y = np.array([level, level * factor**slope, level, level])
    ax.plot(x, y, color="0.4", lw=0.8)
    ratio = Fraction(slope).limit_denominator(100)
    ax.annotate(
        f"$N^{{{ratio}}}$", (x[0], y[0] * factor ** (slope / 2)), (-2, -4),
        textcoords="offset points", va="center", ha="right", color="0.3",
    )  # fmt: skip


def _bias_panel(ax: Axes, run: Run) -> None:
    for claim in run.study.claims:
        style = _style(run, claim)
        schedule = run.schedule(claim)
        batches = [batch for group in run.batches(claim).values() for batch in group]
        measured = [b.setting.beta for b in batches]
        if "bias" not in claim.checks or not schedule.betas:
            continue
        # the bias check goes on to larger β than a page can show beside the measured ones
        last = max(5 * max(measured, default=np.inf), *schedule.betas[:3])
        betas = sorted(b for b in {*schedule.betas, *measured} if b <= last)  # known already
        bias = [np.sqrt(np.mean((claim.expectation(b) - claim.limit) ** 2)) for b in betas]
        ax.plot(betas, bias, color=style["color"])
        if measured:
            value, low, high = np.transpose([_measured_bias(claim, batch) for batch in batches])
            seen = low > 0
            ax.errorbar(
                np.array(measured)[seen], value[seen], np.abs([low - value, high - value])[:, seen],
                ls="none", elinewidth=0.8, **style,
            )  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel=r"$\beta$")
    ax.set_ylabel("bias, r.m.s.")
    ax.set_title("bias, measured and exact", loc="left")
    low, high = ax.get_ylim()
    ax.set_ylim(max(low, high * _DECADES), high)  # a bias below every power leaves the page
    claims = [claim for claim in run.study.claims if "bias" in claim.checks]
    expansions = [c.expansion(j) for c in claims for j in range(len(c.functions))]
    orders = {expansion.order for expansion in expansions if expansion}
    if len(orders) == 1:
        _order_line(ax, float(orders.pop()))


def _order_line(ax: Axes, order: float) -> None:
    """The stated order, over a factor four in β, in the free lower left corner."""
    low, high = ax.get_xlim()
    beta = low * (high / low) ** 0.15 * np.array([1, 4])
    bottom, top = ax.get_ylim()
    line = bottom * (top / bottom) ** 0.3 * (beta / beta[0]) ** -order
    ax.plot(beta, line, color="0.4", lw=0.8, ls="--")
    ax.annotate(
        rf"$\beta^{{-{order:g}}}$", (beta[1], line[1]), (3, 0),
        textcoords="offset points", va="center", color="0.3",
    )  # fmt: skip


def _measured_bias(claim: Claim, batch: Batch) -> tuple[float, float, float]:
    """Root-mean-square bias over targets and functions, sampling noise taken out; 95 % interval.

    Functions at one target share their noise, so the interval counts targets only.
    """
    if claim.sampling_error is None:  # replicate errors
        shift, variance = np.zeros(claim.limit.shape), np.var(batch.values, axis=0, ddof=1)
    else:
        shift, sd = claim.sampling_error(batch.setting.n, batch.setting.beta)
        variance = sd**2
    noise = variance / len(batch.values)
    bias = claim.expectation(batch.setting.beta) - claim.limit
    square = np.mean((np.mean(batch.values, axis=0) - claim.limit - shift) ** 2 - noise)
    half = 1.96 * np.sqrt(np.mean(2 * noise**2 + 4 * bias**2 * noise) / len(bias))
    value, low, high = np.sqrt(np.maximum([square, square - half, square + half], 0))
    return value, low, high


def _law_panel(ax: Axes, run: Run) -> None:
    errors = []
    for claim in run.study.claims:
        for batch in run.batches(claim)["sampling"]:
            standardised = claim.standardised(batch)
            if standardised is not None:
                errors.append(standardised.ravel())
    if not errors:
        ax.set_axis_off()
        return
    pooled = np.concatenate(errors)
    x = np.linspace(-4.5, 4.5, 300)
    # what lies beyond is counted in the outermost bins
    ax.hist(
        np.clip(pooled, -4.45, 4.45), bins=list(np.linspace(-4.5, 4.5, 46)), density=True,
        color="#56B4E9", alpha=0.6,
    )  # fmt: skip
    ax.plot(x, stats.norm.pdf(x), color="k")
    ax.set(yscale="log", ylim=(1e-5, 1), ylabel="density")
    ax.set_xlabel(r"(estimate $-$ expectation $-$ shift) / sd")
    ax.set_title(f"{len(pooled):,} standardised errors and $N(0, 1)$", loc="left")
    ax.text(
        0.5, 0.06, f"mean ${np.mean(pooled):.3f}$, variance ${np.var(pooled):.3f}$",
        transform=ax.transAxes, ha="center",
    )  # fmt: skip


def write_figures(run: Run, folder: Path) -> None:
    """figure.pdf and figure.png of a run, and the study's own figures beside them.

    Raises
    ------
    StudyError
        For figures that break off, after all others are drawn.
    CheckpointError
        When a file cannot be written.
    """
    draw_study = identity_figure if of_identities(run) else study_figure
    problems = []
    for name, draw in {"figure": draw_study, **run.study.figures}.items():
        others = set(plt.get_fignums())
        try:
            with plt.rc_context(STYLE):
                _write_figure(name, draw(run), folder)
        except CheckpointError:
            raise
        except (Exception, SystemExit) as error:
            problems.append(f"{name!r} with {type(error).__name__}: {error}")
        finally:
            for number in set(plt.get_fignums()) - others:
                plt.close(number)
    if problems:
        raise StudyError(
            f"figures of {run.name} broke off, {'; '.join(problems)}; cells, verdicts and tables "
            "are written, and `report` draws again"
        )


def _write_figure(name: str, figure: Figure, folder: Path) -> None:
    if not isinstance(figure, Figure):
        raise TypeError(f"it is no matplotlib figure but {figure!r}")
    figure.draw_without_rendering()  # laid out once, not again for every format
    figure.set_layout_engine("none")
    for kind, metadata in (("pdf", {"CreationDate": None}), ("png", {"Software": None})):

        def save(path: Path, kind: str = kind, metadata: Any = metadata) -> None:
            figure.savefig(path, format=kind, metadata=metadata)

        write_whole(folder / f"{name}.{kind}", save)
