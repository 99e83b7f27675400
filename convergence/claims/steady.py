"""Claims on the steady state of a directed mixture on the circle: its law and its local current."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..limits import FourierGalerkin, MixtureLaw, RingChain
from ..operators import MarkovOperator, stationary
from ..scores import Mixture
from ..spaces import Circle, Polynomial
from ..verification import Claim, Fault
from .remembered import remembered
from .schedules import global_schedules
from .wrong_scores import wrong_scores

_MODES = 24  # Fourier coefficients of smooth densities fall below rounding before
_LABELS = (r"\langle\cos\theta\rangle", r"\langle\sin\theta\rangle", r"\bar{j}")


def _turn(x: np.ndarray, step: np.ndarray) -> np.ndarray:
    """sin(θ_y - θ_x) from y - x on the unit circle."""
    return x[:, 0] * step[:, 1] - x[:, 1] * step[:, 0]


@dataclass(frozen=True)
class SteadyProblem:
    """E cos θ, E sin θ and the mean local current of a sampled P, an array (1, 3).

    The current is that of the local kernel, 4ħβ Σ_ij π_i P^local_ij sin(θ_j - θ_i) / 2π: jumps do
    not pass the points between.

    Parameters
    ----------
    space : Circle
        Of radius 1.
    score : Mixture
    hbar : float
    """

    space: Circle
    score: Mixture
    hbar: float = 1.0

    def measured(self, points: np.ndarray, beta: float) -> np.ndarray:
        """From one sample, with a bias of order 1/N."""
        operator = MarkovOperator.of_sample(points, self.score, beta, self_loops=True)
        law = stationary(operator).law
        local = operator.components_[0]
        assert local.share is not None
        alone = MarkovOperator([replace(local, share=None)], beta)
        turn = law @ (local.share * _turn(points, alone.differences(points, points)))
        return np.array([[*(law @ points), 4 * self.hbar * beta * turn / (2 * np.pi)]])

    def estimate(self, points: np.ndarray, beta: float) -> np.ndarray:
        """Twice the value of the sample less the mean of its halves': free of the 1/N bias."""
        half = len(points) // 2
        halves = self.measured(points[:half], beta) + self.measured(points[half:], beta)
        return 2 * self.measured(points, beta) - halves / 2

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(self.score, beta)

    @remembered
    def expectation_of(self, score: Mixture, beta: float) -> np.ndarray:
        """Under another mixture."""
        chain, law = RingChain(self.space, score, beta), MixtureLaw(self.space, score)
        x = chain.points
        axes = [Polynomial(f"x{a}", 2) for a in range(2)]
        step = np.stack([law.parts(x, beta)[0].increment(f, x) for f in axes], axis=1)
        turn = chain.stationary @ (law.shares(x, beta)[0] * _turn(x, step))
        return np.array([[*(chain.stationary @ x), 4 * self.hbar * beta * turn / (2 * np.pi)]])

    @property
    def limit(self) -> np.ndarray:
        """The null vector of the generator's Galerkin matrix, N = ∞ and β = ∞."""
        generator = FourierGalerkin(self.space, self.score, _MODES, self.hbar)
        first = generator.moment((1,))
        return np.array([[first.real, first.imag, generator.mean_force()]])

    def faults(self, wrong: dict[str, Mixture]) -> tuple[Fault, ...]:
        """The law of the samples, half the scale, and wrong mixtures."""
        right = self.expectation
        angles = 2 * np.pi * np.arange(512) / 512
        x = self.space.at(angles)
        sampled = np.exp(self.space.log_density(x)) @ x * 2 * np.pi / 512
        of_score = {
            name: score
            for name, score in wrong_scores(self.score).items()
            if isinstance(score, Mixture)
        }
        return (
            Fault("2ħβ for 4ħβ", lambda beta: right(beta) * [1, 1, 0.5]),
            Fault("law of the samples", lambda beta: np.array([[*sampled, right(beta)[0, 2]]])),
            *(
                Fault(name, partial(self.expectation_of, score))
                for name, score in {**of_score, **wrong}.items()
            ),
        )


def steady_claim(
    id: str,
    space: Circle,
    score: Mixture,
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
    wrong: dict[str, Mixture] | None = None,
) -> Claim:
    """The claim that a sampled P has the steady state of the limit, jumps included.

    Errors are those of replicates, and fall at least like N^-1/2 along β = c N^1/2.

    Parameters
    ----------
    id, statement, source : str
    space, score, hbar
        As in `SteadyProblem`.
    wrong : mapping, optional
        Further faults: a name, and the mixture that must be rejected.
    """
    problem = SteadyProblem(space, score, hbar)
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=space,
        functions=_LABELS,
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
