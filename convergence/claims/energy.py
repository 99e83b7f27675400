"""Claims on the Dirichlet energy of a reversible mixture, split into its local and jump parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from .. import limits
from ..operators import dirichlet_parts
from ..scores import Mixture
from ..spaces import Circle, Polynomial
from ..verification import Claim, Fault
from .remembered import remembered
from .schedules import global_schedules
from .wrong_scores import wrong_scores


@dataclass(frozen=True)
class EnergyProblem:
    """⟨f, 𝒞f⟩_π of one function on a circle, an array (1, parts).

    Parameters
    ----------
    space : Circle
    score : Mixture
        Symmetric.
    f : Polynomial
    hbar : float
    """

    space: Circle
    score: Mixture
    f: Polynomial
    hbar: float = 1.0

    def estimate(self, points: np.ndarray, beta: float) -> np.ndarray:
        """The energies on a sample, pairs of different points only."""
        parts = dirichlet_parts(
            points, self.f(points), self.score, beta, self.hbar, self_loops=False
        )
        return parts[None]

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(self.score, beta)

    @remembered
    def expectation_of(self, score: Mixture, beta: float) -> np.ndarray:
        """Under another mixture."""
        return limits.energy_expectation(self.space, score, self.f, beta, self.hbar)[None]

    @property
    def limit(self) -> np.ndarray:
        """The Beurling-Deny form, N = ∞ and β = ∞."""
        return limits.energy_limit(self.space, self.score, self.f, self.hbar)[None]

    def faults(self, wrong: dict[str, Mixture]) -> tuple[Fault, ...]:
        """Wrong constants, ½ forgotten in one part, and wrong mixtures."""
        right = self.expectation
        twice = np.ones(self.limit.shape)
        twice[:, 1:] = 2
        of_score = {
            name: score
            for name, score in wrong_scores(self.score).items()
            if isinstance(score, Mixture)
        }
        return (
            Fault("ħ off by 5 %", lambda beta: 1.05 * right(beta)),
            Fault("4ħβ for 2ħβ", lambda beta: 2 * right(beta)),
            Fault("every jump counted twice", lambda beta: twice * right(beta)),
            *(
                Fault(name, partial(self.expectation_of, score))
                for name, score in {**of_score, **wrong}.items()
            ),
        )


def energy_claim(
    id: str,
    space: Circle,
    score: Mixture,
    f: Polynomial,
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
    wrong: dict[str, Mixture] | None = None,
) -> Claim:
    """The claim that the energy tends to ħ∫|df|²dπ + ½∬j(f(x) - f(y))²dνdν/∫ρdν, part by part.

    Errors are those of replicates; means over all pairs, they fall at least like N^-1/2 along
    β = c N^1/2.
    """
    problem = EnergyProblem(space, score, f, hbar)
    labels = ("local", *("jump" if len(score.jumps) == 1 else f"jump {m + 1}"
                         for m in range(len(score.jumps))))  # fmt: skip
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=space,
        functions=labels,
        estimate=problem.estimate,
        expectation=problem.expectation,
        limit=problem.limit,
        schedules=global_schedules(),
        bias_order=1.0,
        slope=-0.5,
        slope_is_bound=True,
        faults=problem.faults(wrong or {}),
        configuration=repr(problem),
    )
