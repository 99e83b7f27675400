"""Claims on Varadhan's distance: what many steps of the walk say of how far two points are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InvalidInputError
from ..limits import CircularWalk
from ..operators import MarkovOperator, walk_density
from ..scores import Distance, Mixture
from ..spaces import Circle
from ..verification import Claim, Fault, Schedule, Setting
from .whole_operators import Course, OperatorProblem, operator_claim

ANGLE = np.pi
# ħt; the density at the far end is then far above what the series of the reference rounds off
TIMES = (0.2, 0.4)
# N and replicates: of -4ħt log p_t errors grow with t, and most with a jump
_SIZES = {"smoke": (2200, 12), "standard": (2700, 90), "paper": (8000, 200)}
_BETA = 10.0


@dataclass(frozen=True)
class VaradhanProblem(OperatorProblem):
    """D_t = -4ħt log(p_t sqrt(4πħt)) between antipodal points of a circle at two times.

    For t → 0 it tends to their squared distance π² under a local walk (two shortest ways add
    -4ħt log 2), and to 0 where a jump joins them. Estimated by m = 4ħβt steps of a sampled walk.

    Parameters
    ----------
    space : Circle
        Uniform, of radius 1.
    score : Distance or Mixture
    """

    functions = tuple(rf"\hbar t = {t:g}" for t in TIMES)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.space.radius != 1 or self.space.kappa:
            raise InvalidInputError("Varadhan's distance is claimed on the uniform unit circle")

    self_loops = False

    def observed(self, operator: MarkovOperator, points: np.ndarray) -> list[float]:
        steps = [round(4 * operator.beta * t) for t in TIMES]
        x, y = self.space.at(0.3), self.space.at(0.3 + ANGLE)
        found = walk_density(operator, points, self.score, steps, x, y)
        times = np.array(TIMES)
        return (-4 * times * np.log(found / (2 * np.pi) * np.sqrt(4 * np.pi * times))).tolist()

    def reference(
        self, space: Circle, score: Distance | Mixture, beta: float | None
    ) -> list[float]:
        walk = CircularWalk(space, score)
        return [walk.varadhan(ANGLE, t, np.inf if beta is None else beta) for t in TIMES]

    def _of_steps(self, share: float, beta: float) -> np.ndarray:
        """With another number of steps than 4ħβt."""
        walk, times = CircularWalk(self.space, self.score), np.array(TIMES)
        density = np.array([walk.density(ANGLE, share * t, beta) for t in TIMES])
        return (-4 * times * np.log(density * np.sqrt(4 * np.pi * times)))[None]

    def faults(self) -> tuple[Fault, ...]:
        """Half the steps, a wrong factor, and the width of the kernel left out."""
        right, times = self.expectation, np.array(TIMES)
        prefactor = 4 * times * np.log(np.sqrt(4 * np.pi * times))
        return (
            Fault("half the steps", lambda beta: self._of_steps(0.5, beta)),
            Fault("4ħt off by 10 %", lambda beta: 1.1 * right(beta)),
            Fault("-2ħt log p", lambda beta: right(beta) / 2),
            Fault("sqrt(4πħt) left out", lambda beta: right(beta) + prefactor),
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

    Returns
    -------
    Claim
        With the checks of bias, sampling and faults.
    """
    problem = VaradhanProblem(Circle(), score)
    claim = operator_claim(
        id, problem, statement=statement, source=source, course=Course(_BETA), wrong=wrong
    )
    schedules = {
        # 4ħβt steps: whole numbers for every β
        preset: Schedule(
            betas=tuple(80.0 * 2**k for k in range(6)), sampling=(Setting(n, _BETA, replicates),)
        )
        for preset, (n, replicates) in _SIZES.items()
    }
    return replace(
        claim, schedules=schedules, checks=("bias", "sampling", "faults"), slope=None,
        configuration=repr((problem, ANGLE, TIMES)),
    )  # fmt: skip
