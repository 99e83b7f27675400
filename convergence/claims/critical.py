"""The claim on the critical exponent: only jumps of relative mass β^-1 survive the limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import softmax

from .. import limits
from ..operators import streamed_parts
from ..scores import Mixture
from ..spaces import Space
from ..verification import Claim, Fault, Schedule, Setting
from ..verification.sampling import LEAST_EFFECTIVE_DEGREE
from .remembered import remembered

# the exponents whose jump parts are compared, and the factor between the two β
EXPONENTS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
FACTOR, FIRST_BETA = 4.0, 20.0


@dataclass(frozen=True)
class CriticalProblem:
    """The exponent γ* at which 4ħβ p neither grows nor falls, an array (targets, 1).

    With p_γ(β) the probability of a jump of relative mass ∝ β^-γ, the slopes
    dlog(4ħβ p_γ)/dlog β between β and 4β are fitted by a line in γ; γ* is its zero.

    Parameters
    ----------
    space : Space
    score : Mixture
        Of one jump; its exponent is varied.
    target_count : int
    """

    space: Space
    score: Mixture
    target_count: int = 3

    @cached_property
    def targets(self) -> np.ndarray:
        """Evaluation points outside every sample, one a row."""
        return self.space.targets((), self.target_count, self.score.images)

    def _critical(self, probability: Callable[[Mixture, float], np.ndarray], beta: float):
        slopes = []
        for gamma in EXPONENTS:
            jumps = tuple(replace(jump, exponent=gamma) for jump in self.score.jumps)
            score = replace(self.score, jumps=jumps)
            ratio = probability(score, FACTOR * beta) / probability(score, beta)
            slopes.append(1 + np.log(ratio) / np.log(FACTOR))
        slope, level = np.polyfit(EXPONENTS, np.array(slopes), 1)
        return (-level / slope)[:, None]

    def estimate(self, points: np.ndarray, beta: float) -> np.ndarray:
        """γ* at every target, from one sample."""
        columns, at_targets = np.ones((len(points), 1)), np.ones((len(self.targets), 1))

        def probability(score: Mixture, beta: float) -> np.ndarray:
            log_masses, _ = streamed_parts(
                [(points, columns)], score, beta, targets=self.targets, target_values=at_targets
            )
            return softmax(log_masses, axis=1)[:, 1]

        return self._critical(probability, beta)

    @remembered
    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""

        def probability(score: Mixture, beta: float) -> np.ndarray:
            return limits.MixtureLaw(self.space, score).shares(self.targets, beta)[1]

        return self._critical(probability, beta)

    def effective_degree(self, n: int, beta: float) -> np.ndarray:
        """At the larger of the two β."""
        return limits.effective_degree(self.space, self.score, self.targets, n, FACTOR * beta)


def critical_exponent_claim(
    id: str, space: Space, score: Mixture, *, statement: str, source: str
) -> Claim:
    """The claim γ* = 1; errors are those of replicates.

    Parameters
    ----------
    id, statement, source : str
    space : Space
    score : Mixture
        Of one jump.
    """
    problem = CriticalProblem(space, score)
    one = np.ones((len(problem.targets), 1))
    # enough neighbours at 4β
    few = float(np.min(problem.effective_degree(1, FIRST_BETA)))
    count = 1.1 * LEAST_EFFECTIVE_DEGREE / few
    sizes = {"smoke": (1, 12), "standard": (2, 48), "paper": (10, 100)}
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=space,
        functions=(r"\gamma^*",),
        estimate=problem.estimate,
        expectation=problem.expectation,
        limit=one,
        schedules={
            preset: Schedule(
                betas=tuple(32.0 * 4**k for k in range(8)),
                sampling=(Setting(int(factor * count), FIRST_BETA, replicates),),
            )
            for preset, (factor, replicates) in sizes.items()
        },
        effective_degree=problem.effective_degree,
        bias_order=EXPONENTS[0],
        bias_step=0.25,
        faults=tuple(
            Fault(name, lambda beta, value=value: value * one)  # type: ignore[misc]
            for name, value in (
                ("γ* = 0.9", 0.9),
                ("γ* = 1.1", 1.1),
                ("γ* = 1/2, the scale of a boundary", 0.5),
                ("γ* = 1 + d/2, mass and width", 1 + 0.5 * space.dim),
            )
        ),
        checks=("bias", "sampling", "faults"),
        configuration=repr((problem, problem.targets.tolist(), EXPONENTS, FACTOR)),
    )
