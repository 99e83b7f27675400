"""Claims on Varadhan's distance: what many steps of the walk say of how far two points are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .. import limits
from ..operators import walk_density
from ..scores import Distance, Mixture
from ..spaces import Circle
from ..verification import Claim, Fault, Schedule, Setting
from .remembered import remembered

ANGLE = np.pi
# ħt; the density at the far end is then far above what the series of the reference rounds off
TIMES = (0.2, 0.4)
_SIZES = {"smoke": (800, 12), "standard": (2000, 32), "paper": (8000, 100)}


@dataclass(frozen=True)
class VaradhanProblem:
    """D_t = -4ħt log(p_t sqrt(4πħt)) between antipodal points of a circle, an array (1, times).

    For t → 0 it tends to their squared distance π² under a local walk (two shortest ways add
    -4ħt log 2), and to 0 where a jump joins them. Estimated by m = 4ħβt steps of a sampled walk.

    Parameters
    ----------
    space : Circle
        Uniform, of radius 1.
    score : Distance or Mixture
    """

    space: Circle
    score: Distance | Mixture

    def _distance(self, density: np.ndarray) -> np.ndarray:
        times = np.array(TIMES)
        return (-4 * times * np.log(density * np.sqrt(4 * np.pi * times)))[None]

    def measured(self, points: np.ndarray, beta: float) -> np.ndarray:
        """From one sample, with a bias of order 1/N."""
        steps = [round(4 * beta * t) for t in TIMES]
        x, y = self.space.at(0.3), self.space.at(0.3 + ANGLE)
        found = walk_density(points, self.score, beta, steps, x, y, self_loops=False)
        return self._distance(found / (2 * np.pi))

    def estimate(self, points: np.ndarray, beta: float) -> np.ndarray:
        """Twice the value of the sample less the mean of its halves': free of the 1/N bias."""
        half = len(points) // 2
        halves = self.measured(points[:half], beta) + self.measured(points[half:], beta)
        return 2 * self.measured(points, beta) - halves / 2

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(self.score, beta)

    @remembered
    def expectation_of(self, score: Distance | Mixture, beta: float) -> np.ndarray:
        """Of another walk."""
        walk = limits.CircularWalk(self.space, score)
        return np.array([[walk.varadhan(ANGLE, t, beta) for t in TIMES]])

    @property
    def limit(self) -> np.ndarray:
        """The heat kernel's, β = ∞."""
        return self.expectation_of(self.score, np.inf)

    def faults(self, wrong: Mapping[str, Distance | Mixture]) -> tuple[Fault, ...]:
        """Wrong constants and wrong walks."""
        right = self.expectation
        return (
            Fault("4ħt off by 10 %", lambda beta: 1.1 * right(beta)),
            Fault("4ħβ for 2ħβ", lambda beta: 2 * right(beta)),
            Fault("flat distance |x - y|²", lambda beta: right(beta) - np.pi**2 + 4),
            *(
                Fault(name, lambda beta, score=score: self.expectation_of(score, beta))  # type: ignore[misc]
                for name, score in wrong.items()
            ),
        )


def varadhan_claim(
    id: str,
    score: Distance | Mixture,
    *,
    statement: str,
    source: str,
    wrong: Mapping[str, Distance | Mixture],
) -> Claim:
    """The claim that a sampled walk has Varadhan's distance at two times; replicate errors.

    Parameters
    ----------
    id, statement, source : str
    score : Distance or Mixture
        Invariant under rotations.
    wrong : mapping
        By name: walks that must be rejected.
    """
    problem = VaradhanProblem(Circle(), score)
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=problem.space,
        functions=tuple(rf"\hbar t = {t:g}" for t in TIMES),
        estimate=problem.estimate,
        expectation=problem.expectation,
        limit=problem.limit,
        schedules={
            # 4ħβt steps: whole numbers for every β
            preset: Schedule(
                betas=tuple(80.0 * 2**k for k in range(6)), sampling=(Setting(n, 20.0, replicates),)
            )
            for preset, (n, replicates) in _SIZES.items()
        },
        faults=problem.faults(wrong),
        checks=("bias", "sampling", "faults"),
        configuration=repr((problem, ANGLE, TIMES)),
    )
