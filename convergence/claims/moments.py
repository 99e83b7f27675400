"""Claims on what the operator sees of its space: the metric, the dimension and the density."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import limits
from ..errors import InvalidInputError
from ..operators import streamed_degree, streamed_generator
from ..scores import Distance
from ..spaces import Chart
from ..verification import Claim, Fault
from .remembered import remembered
from .schedules import COSTLY, STREAMED, least_distance, schedules

RANDOM_WALK = Distance()


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
class MetricProblem:
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

    @cached_property
    def targets(self) -> np.ndarray:
        """Evaluation points, rows of coordinates (targets, d)."""
        return self.space.targets((), self.target_count)

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

    def _moments(self, x: np.ndarray) -> list[Moment]:
        return [Moment(self.space, tuple(x.tolist()), axes) for axes in self.axes]

    def estimate(self, chunks: Iterable[np.ndarray], beta: float) -> np.ndarray:
        """The moments of P at the targets, from a sample in chunks."""
        return self.estimate_at(self.targets, chunks, beta)

    def estimate_at(
        self, targets: np.ndarray, chunks: Iterable[np.ndarray], beta: float
    ) -> np.ndarray:
        """The moments of P at any points outside the sample."""
        count, places = len(targets), self.space.features(targets)
        found = streamed_generator(
            (self._moment_columns(y, targets, places) for y in chunks),
            RANDOM_WALK,
            beta,
            self.hbar,
            targets=places,
            target_values=np.zeros((count, count * len(self.axes))),
        )
        own = np.arange(count)  # every target has columns of its own
        return -0.5 * found.reshape(count, count, -1)[own, own]

    def _moment_columns(
        self, y: np.ndarray, targets: np.ndarray, places: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Features of points, and every moment of every target at them."""
        features, columns = self.space.features(y), []
        for x, place in zip(targets, places, strict=True):
            steps = [_difference(self.space, x, y, a) for a in range(self.space.dim)]
            columns += [steps[axes[0]] * steps[axes[1]] for axes in self.axes if axes]
            columns.append(np.sum((features - place) ** 2, axis=1))
        return features, np.stack(columns, axis=1)

    def _each(self, number: Callable[[Any, np.ndarray], Any]) -> np.ndarray:
        return np.stack([[number(m, x) for m in self._moments(x)] for x in self.targets])

    @cached_property
    def _law(self) -> limits.StepLaw:
        return limits.step_law(self.space, RANDOM_WALK)

    @remembered
    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self._each(
            lambda m, x: -0.5 * limits.expectation_of(self._law, m, x, beta, self.hbar)
        )

    @remembered
    def sampling_error(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
        """Mean shift and standard deviation of the estimate."""
        shift, variance = np.moveaxis(
            self._each(lambda m, x: limits.sampling_constants_of(self._law, m, x, beta, self.hbar)),
            -1,
            0,
        )
        return -0.5 * shift / n, 0.5 * np.sqrt(variance / n)

    @property
    def separation(self) -> float:
        """The least distance between the targets' features."""
        return least_distance(self.space.features(self.targets))

    def effective_degree(self, n: int, beta: float) -> np.ndarray:
        """N ρ (π/β)^{d/2} at the targets."""
        return limits.effective_degree(self.space, RANDOM_WALK, self.targets, n, beta)

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
            *_shifted(right, limit, offsets),
        )


def _shifted(
    right: Callable[[float], np.ndarray], limit: np.ndarray, offsets: Mapping[str, np.ndarray]
) -> list[Fault]:
    """The right expectation with a wrong limit under it, where that differs from the right one."""
    least = 1e-9 * np.max(np.abs(limit))
    return [
        Fault(name, lambda beta, offset=offset: right(beta) + offset)  # type: ignore[misc]
        for name, offset in offsets.items()
        if np.max(np.abs(offset)) > least
    ]


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
    _need_chart(space)
    problem = MetricProblem(space, hbar, target_count or (3 if space.dim == 1 else 4))
    return _claim(id, problem, problem.labels, statement, source, problem.faults(wrong or {}))


@dataclass(frozen=True)
class DensityProblem:
    """(β/π)^{d/2} q_β(x) → ρ(x), q_β = ∫ K dν the degree; and so the volume, where ρ is constant.

    Parameters
    ----------
    space : Chart
    target_count : int
    """

    space: Chart
    target_count: int = 4

    @cached_property
    def targets(self) -> np.ndarray:
        """Evaluation points, rows of coordinates (targets, d)."""
        return self.space.targets((), self.target_count)

    def _scale(self, beta: float) -> float:
        return float((beta / np.pi) ** (self.space.dim / 2))

    def estimate(self, chunks: Iterable[np.ndarray], beta: float) -> np.ndarray:
        """The mean of K over a sample in chunks, times (β/π)^{d/2}."""
        features = self.space.features
        keys = (features(y) for y in chunks)
        degree = streamed_degree(keys, RANDOM_WALK, beta, targets=features(self.targets))
        return self._scale(beta) * degree[:, None]

    def _mass(self, beta: float, power: int) -> np.ndarray:
        law = limits.step_law(self.space, RANDOM_WALK)
        return np.exp(law.log_mass(self.targets, beta, power))[:, None]

    @remembered
    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self._scale(beta) * self._mass(beta, 1)

    @remembered
    def sampling_error(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
        """No shift, and the standard deviation of a mean."""
        variance = self._mass(beta, 2) - self._mass(beta, 1) ** 2
        return np.zeros_like(variance), self._scale(beta) * np.sqrt(variance / n)

    @property
    def separation(self) -> float:
        """The least distance between the targets' features."""
        return least_distance(self.space.features(self.targets))

    def effective_degree(self, n: int, beta: float) -> np.ndarray:
        """N ρ (π/β)^{d/2} at the targets."""
        return limits.effective_degree(self.space, RANDOM_WALK, self.targets, n, beta)

    @property
    def limit(self) -> np.ndarray:
        """ρ at the targets, N = ∞ and β = ∞."""
        return self._density(self.space)

    def _density(self, space: Chart) -> np.ndarray:
        return np.exp(space.log_density(self.targets))[:, None]

    def faults(self, wrong: Mapping[str, Chart]) -> tuple[Fault, ...]:
        """Wrong constants, and the densities of the wrong charts given by name."""
        right, limit, d = self.expectation, self.limit, self.space.dim
        element = np.exp(self.space.log_coordinate_density(self.targets))[:, None] - limit
        offsets = {name: self._density(chart) - limit for name, chart in wrong.items()}
        offsets = {"det 𝒢 omitted from ρ": element, **offsets}
        return (
            Fault("β/2π for β/π", lambda beta: right(beta) / 2 ** (d / 2)),
            Fault("β off by 2", lambda beta: right(2 * beta) / 2 ** (d / 2)),
            Fault("5 % too dense", lambda beta: 1.05 * right(beta)),
            *_shifted(right, limit, offsets),
        )


def density_claim(
    id: str,
    space: Chart,
    *,
    statement: str,
    source: str,
    target_count: int | None = None,
    wrong: Mapping[str, Chart] | None = None,
) -> Claim:
    """The claim (β/π)^{d/2} q_β → ρ; parameters as in `metric_claim`."""
    _need_chart(space)
    problem = DensityProblem(space, target_count or (3 if space.dim == 1 else 4))
    return _claim(id, problem, (r"\rho",), statement, source, problem.faults(wrong or {}))


def _need_chart(space: Chart) -> None:
    if not isinstance(space, Chart):
        raise InvalidInputError(
            f"metric and density claims need a Chart, not {type(space).__name__}: a circle is "
            "Ellipse(1, 1), a sphere Ellipsoid(1, 1, 1)"
        )


def _claim(
    id: str,
    problem: MetricProblem | DensityProblem,
    functions: tuple[str, ...],
    statement: str,
    source: str,
    faults: tuple[Fault, ...],
) -> Claim:
    rate = 2 / (problem.space.dim + 4)
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=problem.space,
        functions=functions,
        estimate=problem.estimate,
        streamed=True,
        expectation=problem.expectation,
        limit=problem.limit,
        schedules=schedules(problem, rate, COSTLY if problem.space.dim > 1 else STREAMED),
        sampling_error=problem.sampling_error,
        effective_degree=problem.effective_degree,
        bias_order=1.0,
        slope=-rate,
        faults=faults,
        configuration=repr((problem, problem.targets.tolist())),
    )
