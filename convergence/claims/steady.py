"""Claims on the steady state of a directed mixture on the circle: its law and its local current."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import InvalidInputError
from ..limits import FourierGalerkin, MixtureLaw, RingChain
from ..operators import MarkovOperator
from ..scores import Mixture
from ..spaces import Circle, Polynomial
from ..verification import Claim, Fault
from .whole_operators import Course, OperatorProblem, operator_claim

_MODES = 24  # Fourier coefficients of smooth densities fall below rounding before


def _turn(x: np.ndarray, step: np.ndarray) -> np.ndarray:
    """sin(θ_y - θ_x) from y - x on the unit circle."""
    return x[:, 0] * step[:, 1] - x[:, 1] * step[:, 0]


@dataclass(frozen=True)
class SteadyProblem(OperatorProblem):
    """The mean point E(cos θ, sin θ), along its limit and across, and the mean local current.

    The current is that of the local kernel, 4ħβ Σ_ij π_i P^local_ij sin(θ_j - θ_i) / 2π: jumps do
    not pass the points between.

    Parameters
    ----------
    space : Circle
        Of radius 1.
    score : Mixture
    hbar : float

    Raises
    ------
    InvalidInputError
        For another radius.
    """

    functions = (  # type: ignore[assignment]
        r"\langle\cos(\theta - \theta_0)\rangle",
        r"\langle\sin(\theta - \theta_0)\rangle",
        r"\bar{j}",
    )
    self_loops = False

    def __post_init__(self) -> None:
        if self.space.radius != 1:
            raise InvalidInputError("the steady state is that of a circle of radius 1")

    @cached_property
    def axes(self) -> np.ndarray:
        """Unit vectors along the limit's mean point and across it, one a row."""
        mean = FourierGalerkin(self.space, self.score, _MODES, self.hbar).moment((1,))
        along = mean / abs(mean)
        return np.array([[along.real, along.imag], [-along.imag, along.real]])

    def observed(self, operator: MarkovOperator, points: np.ndarray) -> list[float]:
        law, local = self.law(operator), operator.components_[0]
        assert local.share is not None
        alone = MarkovOperator(
            [replace(local, share=None)], operator.beta, self_loops=operator.self_loops
        )
        turn = law @ (local.share * _turn(points, alone.differences(points, points)))
        return [*(self.axes @ (law @ points)), 4 * self.hbar * operator.beta * turn / (2 * np.pi)]

    def reference(self, space: Circle, score: Mixture, beta: float | None) -> list[float]:
        if beta is None:  # the null vector of the generator's Galerkin matrix
            generator = FourierGalerkin(space, score, _MODES, self.hbar)
            first = generator.moment((1,))
            return [*(self.axes @ [first.real, first.imag]), generator.mean_force()]
        chain, law = RingChain(space, score, beta), MixtureLaw(space, score)
        x = chain.points
        axes = [Polynomial(f"x{a}", 2) for a in range(2)]
        step = np.stack([law.parts(x, beta)[0].increment(f, x) for f in axes], axis=1)
        turn = chain.stationary @ (law.shares(x, beta)[0] * _turn(x, step))
        return [*(self.axes @ (chain.stationary @ x)), 4 * self.hbar * beta * turn / (2 * np.pi)]

    def faults(self) -> tuple[Fault, ...]:
        """Those of every operator, and the law of the samples for the stationary one."""
        x = self.space.at(2 * np.pi * np.arange(512) / 512)
        sampled = np.exp(self.space.log_density(x)) @ x * 2 * np.pi / 512

        def of_samples(beta: float) -> np.ndarray:
            return np.array([[*(self.axes @ sampled), self.expectation(beta)[0, 2]]])

        return (*super().faults(), Fault("law of the samples", of_samples))


def steady_claim(
    id: str,
    space: Circle,
    score: Mixture,
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
    wrong: Mapping[str, Mixture] | None = None,
) -> Claim:
    """The claim that a sampled P has the steady state of the limit, jumps included.

    Parameters
    ----------
    id, statement, source : str
    space, score, hbar
        As in `SteadyProblem`.
    wrong : mapping, optional
        Further faults: a name, and the mixture that must be rejected.

    Returns
    -------
    Claim
        Errors are those of replicates and fall at least like N^-1/2 along β = c N^1/2.
    """
    problem = SteadyProblem(space, score, hbar)
    return operator_claim(
        id,
        problem,
        statement=statement,
        source=source,
        course=Course(14.0, points=250_000),
        wrong=wrong,
    )
