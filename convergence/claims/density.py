"""Claims on the density, and so the volume, that the degree of the kernel sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .. import limits
from ..operators import streamed_degree
from ..spaces import Chart
from ..verification import Claim, Fault
from .chart_problems import PLAIN_KERNEL, ChartProblem, chart_claim, need_chart, shifted
from .remembered import remembered


@dataclass(frozen=True)
class DensityProblem(ChartProblem):
    """(β/π)^{d/2} q_β(x) → ρ(x), q_β = ∫ K dν the degree; and so the volume, where ρ is constant.

    Parameters
    ----------
    space : Chart
    target_count : int
    """

    space: Chart
    target_count: int = 4

    def _scale(self, beta: float) -> float:
        return float((beta / np.pi) ** (self.space.dim / 2))

    def estimate(self, chunks: Iterable[np.ndarray], beta: float) -> np.ndarray:
        """The mean of K over a sample in chunks, times (β/π)^{d/2}."""
        features = self.space.features
        keys = (features(y) for y in chunks)
        degree = streamed_degree(keys, PLAIN_KERNEL, beta, targets=features(self.targets))
        return self._scale(beta) * degree[:, None]

    def _mass(self, beta: float, power: int) -> np.ndarray:
        law = limits.step_law(self.space, PLAIN_KERNEL)
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
            *shifted(right, limit, offsets),
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
    need_chart(space)
    problem = DensityProblem(space, target_count or (3 if space.dim == 1 else 4))
    faults = problem.faults(wrong or {})
    rate = 2 / (space.dim + 4)
    return chart_claim(id, problem, (r"\rho",), statement, source, faults, rate)
