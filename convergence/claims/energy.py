"""Claims on the Dirichlet energy of a reversible mixture, split into its local and jump parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..limits import energy_expectation, energy_limit
from ..operators import MarkovOperator, dirichlet_parts
from ..scores import Mixture
from ..spaces import Circle, Polynomial
from ..verification import Claim, Fault
from .whole_operators import Course, OperatorProblem, operator_claim


@dataclass(frozen=True)
class EnergyProblem(OperatorProblem):
    """⟨f, 𝒞f⟩_π of one function on a circle: the local part, then one number a jump.

    Parameters
    ----------
    space : Circle
    score : Mixture
        Symmetric.
    hbar : float
    f : Polynomial
    """

    f: Polynomial = field(kw_only=True)
    self_loops = False

    @property
    def functions(self) -> tuple[str, ...]:
        jumps = len(self.score.jumps)
        return ("local", *("jump" if jumps == 1 else f"jump {m + 1}" for m in range(jumps)))

    def observed(self, operator: MarkovOperator, points: np.ndarray) -> list[float]:
        return dirichlet_parts(operator, self.f(points), self.hbar).tolist()

    def reference(self, space: Circle, score: Mixture, beta: float | None) -> list[float]:
        if beta is None:
            return energy_limit(space, score, self.f, self.hbar).tolist()
        return energy_expectation(space, score, self.f, beta, self.hbar).tolist()

    def wrong_spaces(self) -> dict[str, Circle]:
        """The uniform law in place of the degrees'."""
        return {"density omitted": Circle(radius=self.space.radius)}

    def faults(self) -> tuple[Fault, ...]:
        """Those of every operator, and ½ forgotten in the jump part."""
        twice = np.ones(self.limit.shape)
        twice[:, 1:] = 2
        every = Fault("every jump counted twice", lambda beta: twice * self.expectation(beta))
        return (*super().faults(), every)


def energy_claim(
    id: str,
    space: Circle,
    score: Mixture,
    f: Polynomial,
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
    wrong: Mapping[str, Mixture] | None = None,
) -> Claim:
    """The claim that the energy tends to ħ∫|df|²dπ + ½∬j(f(x) - f(y))²dνdν/∫ρdν, part by part.

    Parameters
    ----------
    id, statement, source : str
    space, score, f, hbar
        As in `EnergyProblem`.
    wrong : mapping, optional
        Further faults: a name, and the mixture that must be rejected.

    Returns
    -------
    Claim
        Errors are those of replicates and fall at least like N^-1/2 along β = c N^1/2.
    """
    problem = EnergyProblem(space, score, hbar, f=f)
    return operator_claim(
        id,
        problem,
        statement=statement,
        source=source,
        course=Course(14.0, points=250_000),
        wrong=wrong,
    )
