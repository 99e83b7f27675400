"""What pointwise problems on a chart share, and functions that differ from target to target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .. import limits
from ..errors import InvalidInputError
from ..operators import streamed_generator
from ..scores import Distance
from ..spaces import Chart
from ..verification import Claim, Fault
from .pointwise import pointwise_claim
from .remembered import remembered
from .schedules import COSTLY, STREAMED, least_distance

PLAIN_KERNEL = Distance()
Function = Callable[[np.ndarray], np.ndarray]


class ChartProblem(ABC):
    """Targets of a chart, under the random walk."""

    space: Chart
    target_count: int

    @cached_property
    def targets(self) -> np.ndarray:
        """Evaluation points, rows of coordinates (targets, d)."""
        return self.space.targets((), self.target_count)

    @property
    def separation(self) -> float:
        """The least distance between the targets' features."""
        return least_distance(self.space.features(self.targets))

    def effective_degree(self, n: int, beta: float) -> np.ndarray:
        """N ρ (π/β)^{d/2} at the targets."""
        return limits.effective_degree(self.space, PLAIN_KERNEL, self.targets, n, beta)

    @property
    @abstractmethod
    def limit(self) -> np.ndarray: ...
    @abstractmethod
    def estimate(self, chunks: Iterable[np.ndarray], beta: float) -> np.ndarray: ...
    @abstractmethod
    def expectation(self, beta: float) -> np.ndarray: ...
    @abstractmethod
    def sampling_error(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]: ...


class TargetwiseProblem(ChartProblem):
    """c · 4ħβ (g_x(x) - P g_x(x)) at every target x, for functions g_x of its own.

    Subclasses give the functions and c, the `factor`.
    """

    hbar: float
    factor: ClassVar[float]

    @abstractmethod
    def functions_at(self, x: np.ndarray) -> list[Function]:
        """The functions g_x of one target, as callables of points."""

    def estimate(self, chunks: Iterable[np.ndarray], beta: float) -> np.ndarray:
        """The values at the targets, from a sample in chunks."""
        return self.estimate_at(self.targets, chunks, beta)

    def estimate_at(
        self, targets: np.ndarray, chunks: Iterable[np.ndarray], beta: float
    ) -> np.ndarray:
        """The values at any points outside the sample, shape (targets, functions)."""
        features = self.space.features
        found = streamed_generator(
            ((features(y), self.columns(targets, y)) for y in chunks),
            PLAIN_KERNEL,
            beta,
            self.hbar,
            targets=features(targets),
            target_values=self.columns(targets, targets),
        )
        own = np.arange(len(targets))  # every target has columns of its own
        return self.factor * found.reshape(len(own), len(own), -1)[own, own]

    def columns(self, targets: np.ndarray, y: np.ndarray) -> np.ndarray:
        """All functions of all targets at points y, shape (points, targets · functions)."""
        return np.stack([g(y) for x in targets for g in self.functions_at(x)], axis=-1)

    def _each(self, number: Callable[[Any, np.ndarray], Any]) -> np.ndarray:
        return np.stack([[number(g, x) for g in self.functions_at(x)] for x in self.targets])

    @cached_property
    def _law(self) -> limits.StepLaw:
        return limits.step_law(self.space, PLAIN_KERNEL)

    @remembered
    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.factor * self._each(
            lambda g, x: limits.expectation_of(self._law, g, x, beta, self.hbar)
        )

    @remembered
    def sampling_error(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
        """Mean shift and standard deviation of the estimate."""
        constants = self._each(
            lambda g, x: limits.sampling_constants_of(self._law, g, x, beta, self.hbar)
        )
        shift, variance = np.moveaxis(constants, -1, 0)
        return self.factor * shift / n, abs(self.factor) * np.sqrt(variance / n)


def shifted(
    right: Callable[[float], np.ndarray], limit: np.ndarray, offsets: Mapping[str, np.ndarray]
) -> list[Fault]:
    """The right expectation with a wrong limit under it, where that differs from the right one."""
    least = 1e-9 * np.max(np.abs(limit))
    return [
        Fault(name, lambda beta, offset=offset: right(beta) + offset)  # type: ignore[misc]
        for name, offset in offsets.items()
        if np.max(np.abs(offset)) > least
    ]


def need_chart(space: Chart) -> None:
    """Raise InvalidInputError for another kind of space."""
    if not isinstance(space, Chart):
        raise InvalidInputError(
            f"this claim needs a Chart, not {type(space).__name__}: a circle is "
            "Ellipse(1, 1), a sphere Ellipsoid(1, 1, 1)"
        )


def chart_claim(
    id: str,
    problem: ChartProblem,
    functions: tuple[str, ...],
    statement: str,
    source: str,
    faults: tuple[Fault, ...],
    rate: float,
) -> Claim:
    """All four checks along β = c N^rate, a bias of order 1/β."""
    return pointwise_claim(
        id, problem, functions, statement=statement, source=source, faults=faults, rate=rate,
        plan=COSTLY if problem.space.dim > 1 else STREAMED,
    )  # fmt: skip
