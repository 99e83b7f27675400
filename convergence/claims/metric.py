"""Claims on the metric and the dimension that one step of the kernel sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..spaces import Chart
from ..verification import Claim, Fault
from .chart_problems import Function, TargetwiseProblem, chart_claim, need_chart, shifted


@dataclass(frozen=True)
class Moment:
    """A product of differences from a target: (yᵃ - xᵃ)(yᵇ - xᵇ), or |F(y) - F(x)|² without axes.

    The difference of angles is taken as its sine, which is as good a coordinate around x.

    Parameters
    ----------
    space : Chart
    target : tuple of float
        The coordinates x.
    axes : tuple of int
        (a, b), or empty.
    """

    space: Chart
    target: tuple[float, ...]
    axes: tuple[int, ...]

    def __call__(self, y: np.ndarray) -> np.ndarray:
        """The product at points y, rows of coordinates (..., d)."""
        if not self.axes:
            x = np.asarray(self.target)
            return np.sum((self.space.features(y) - self.space.features(x)) ** 2, axis=-1)
        first, second = (_difference(self.space, self.target, y, a) for a in self.axes)
        return first * second


def _difference(space: Chart, x: Sequence[float], y: np.ndarray, axis: int) -> np.ndarray:
    return space.coordinates[axis].difference(y[..., axis], x[axis])


@dataclass(frozen=True)
class MetricProblem(TargetwiseProblem):
    """2ħβ P[(yᵃ-xᵃ)(yᵇ-xᵇ)] → ħ𝒢ᵃᵇ for all a ≤ b, and 2ħβ P|F(y)-F(x)|² → ħd.

    The last is -2ħ dlog q_β/dlog β, at finite N too. Each product m vanishes to second order at
    its target, so 2ħβ P m = -½ 𝒞_β m there, and expectation and sampling error are those of the
    generator.

    Parameters
    ----------
    space : Chart
    hbar : float
    target_count : int
    """

    space: Chart
    hbar: float = 1.0
    target_count: int = 4

    factor = -0.5

    @cached_property
    def axes(self) -> list[tuple[int, ...]]:
        d = self.space.dim
        return [*((a, b) for a in range(d) for b in range(a, d)), ()]

    @property
    def labels(self) -> tuple[str, ...]:
        """LaTeX of every column."""
        names = self.space.names
        components = ("".join(names[a] for a in axes) for axes in self.axes if axes)
        return (*(rf"\hbar\mathcal{{G}}^{{{name}}}" for name in components), r"\hbar d")

    def functions_at(self, x: np.ndarray) -> list[Function]:
        """The moments around one target."""
        return [Moment(self.space, tuple(x.tolist()), axes) for axes in self.axes]

    def columns(self, targets: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Every moment of every target, from differences and features formed once."""
        features, places = self.space.features(y), self.space.features(targets)
        columns = []
        for x, place in zip(targets, places, strict=True):
            steps = [_difference(self.space, x, y, a) for a in range(self.space.dim)]
            columns += [steps[axes[0]] * steps[axes[1]] for axes in self.axes if axes]
            columns.append(np.sum((features - place) ** 2, axis=-1))
        return np.stack(columns, axis=-1)

    def limit_of(self, metric: np.ndarray) -> np.ndarray:
        """ħ times the components of a metric (targets, d, d), and ħd."""
        columns = [metric[:, a, b] for a, b in (axes for axes in self.axes if axes)]
        return self.hbar * np.stack([*columns, np.full(len(metric), float(self.space.dim))], 1)

    @property
    def limit(self) -> np.ndarray:
        """N = ∞ and β = ∞."""
        return self.limit_of(self.space.inverse_metric(self.targets))

    def faults(self, wrong: Mapping[str, Chart]) -> tuple[Fault, ...]:
        """Wrong constants, wrong metrics, and the metrics of the wrong charts given by name."""
        right, limit = self.expectation, self.limit
        metrics = {
            "𝒢 for its inverse": self.space.metric(self.targets),
            "flat metric": np.broadcast_to(
                np.eye(self.space.dim), (len(self.targets),) + 2 * (self.space.dim,)
            ),
            **{name: chart.inverse_metric(self.targets) for name, chart in wrong.items()},
        }
        offsets = {name: self.limit_of(metric) - limit for name, metric in metrics.items()}
        return (
            Fault("ħ off by 5 %", lambda beta: 1.05 * right(beta)),
            Fault("β off by 2", lambda beta: 0.5 * right(2 * beta)),
            Fault("4ħβ for 2ħβ", lambda beta: 2 * right(beta)),
            *shifted(right, limit, offsets),
        )


def metric_claim(
    id: str,
    space: Chart,
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
    target_count: int | None = None,
    wrong: Mapping[str, Chart] | None = None,
) -> Claim:
    """The claim 2ħβ P[(yᵃ-xᵃ)(yᵇ-xᵇ)] → ħ𝒢ᵃᵇ for every component, and the dimension.

    Parameters
    ----------
    id, statement, source : str
    space : Chart
    hbar : float
    target_count : int, optional
        On curves 3, else 4.
    wrong : mapping, optional
        Further faults: a name, and the chart whose metric must be rejected.

    Returns
    -------
    Claim
        With all four checks. Errors of second moments have no gradient in them: along
        β = c N^{2/(d+4)} bias and sampling error both fall like N^{-2/(d+4)}.
    """
    need_chart(space)
    problem = MetricProblem(space, hbar, target_count or (3 if space.dim == 1 else 4))
    faults = problem.faults(wrong or {})
    rate = 2 / (space.dim + 4)
    return chart_claim(id, problem, problem.labels, statement, source, faults, rate)
