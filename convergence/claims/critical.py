"""The claim on the critical exponent: only jumps of relative mass β^-1 survive the limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .. import limits
from ..operators import streamed_parts
from ..scores import Mixture
from ..spaces import Space
from ..verification import Claim, Fault, Schedule, Setting
from ..verification.claim import LEAST_EFFECTIVE_DEGREE
from .remembered import remembered

# the two β between which the growth of the masses is measured
FACTOR, FIRST_BETA = 4.0, 40.0


@dataclass(frozen=True)
class CriticalProblem:
    """The exponent γ* of the relative mass at which jumps have a finite rate, (targets, 1).

    With the odds p/(1 - p) of a jump, in proportion to β^-γ for the γ of the score,

        γ* = 1 + γ + dlog(p/(1 - p))/dlog β

    between β and 4β: the γ for which 4ħβ p/(1 - p) would neither grow nor fall. The score's γ is
    put in; measured is that the masses of the local kernel and of the jump's grow alike.

    Parameters
    ----------
    space : Space
    score : Mixture
        Of one jump.
    target_count : int
    """

    space: Space
    score: Mixture
    target_count: int = 3

    @cached_property
    def targets(self) -> np.ndarray:
        """Evaluation points outside every sample, one a row."""
        return self.space.targets((), self.target_count, self.score.images)

    def _critical(self, near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """γ* from the log-masses (parts, targets) at β and at 4β."""
        odds = [log_masses[1] - log_masses[0] for log_masses in (near, far)]
        slope = (odds[1] - odds[0]) / np.log(FACTOR)
        return (1 + self.score.jumps[0].exponent + slope)[:, None]

    def estimate(self, points: np.ndarray, beta: float) -> np.ndarray:
        """γ* at every target, from one sample."""
        columns, at_targets = np.ones((len(points), 1)), np.ones((len(self.targets), 1))
        masses = [
            streamed_parts(
                [(points, columns)], self.score, b, targets=self.targets, target_values=at_targets
            )[0].T
            for b in (beta, FACTOR * beta)
        ]
        return self._critical(*masses)

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(self.score, beta)

    @remembered
    def expectation_of(self, score: Mixture, beta: float) -> np.ndarray:
        """Of the masses of another mixture."""
        law = limits.MixtureLaw(self.space, score)
        masses = [
            np.stack([piece.log_mass for piece in law.parts(self.targets, b)])
            for b in (beta, FACTOR * beta)
        ]
        return self._critical(*masses)

    def effective_degree(self, n: int, beta: float) -> np.ndarray:
        """At the larger of the two β."""
        return limits.effective_degree(self.space, self.score, self.targets, n, FACTOR * beta)

    def faults(self) -> tuple[Fault, ...]:
        """Neighbouring exponents, and scales that are left out."""
        right, one = self.expectation, np.ones((len(self.targets), 1))
        half = replace(self.score, jumps=(replace(self.score.jumps[0], exponent=0.5),))
        width = 0.5 * self.space.dim
        return (
            Fault("γ* = 0.9", lambda beta: 0.9 * one),
            Fault("γ* = 1.1", lambda beta: 1.1 * one),
            Fault("β^-1/2 for β^-1", lambda beta: self.expectation_of(half, beta)),
            Fault("p for 4ħβp", lambda beta: right(beta) - 1),
            Fault("(π/β)^{d/2} of the jump left out", lambda beta: right(beta) + width),
        )


def critical_exponent_claim(
    id: str,
    space: Space,
    score: Mixture,
    *,
    statement: str,
    source: str,
    bias_order: float | None = 1.0,
) -> Claim:
    """The claim γ* = 1.

    Parameters
    ----------
    id, statement, source : str
    space : Space
    score : Mixture
        Of one jump.
    bias_order : float, optional
        None where both masses grow alike at every β, as with a uniform density.

    Returns
    -------
    Claim
        With the checks of bias, sampling (errors of replicates) and faults.
    """
    problem = CriticalProblem(space, score)
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
        limit=np.ones((len(problem.targets), 1)),
        schedules={
            preset: Schedule(
                betas=tuple(32.0 * 2**k for k in range(8)),
                sampling=(Setting(int(factor * count), FIRST_BETA, replicates),),
            )
            for preset, (factor, replicates) in sizes.items()
        },
        effective_degree=problem.effective_degree,
        bias_order=bias_order,
        faults=problem.faults(),
        checks=("bias", "sampling", "faults"),
        configuration=repr((problem, problem.targets.tolist(), FACTOR)),
    )
