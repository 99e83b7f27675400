"""Claims on the steady state of a tilted ring: its current and its entropy production."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..limits import RingChain, TiltedRing
from ..operators import MarkovOperator, stationary
from ..scores import Distance
from ..spaces import Circle
from ..verification import Claim, Fault, Schedule, Setting
from .remembered import remembered
from .wrong_scores import wrong_scores

# density fluctuations act like a rough potential of size N^-1/2, whatever β: with a bias of order
# 1/β the error falls like N^-1/2 along β = c N^1/2
RATE, ORDER = 0.5, 1.0
SMALLEST, FIRST_BETA, GROWTH = 500, 14.0, 1.5
# sample sizes, and replicates of the joint and of the sampling check
SIZES = {"smoke": (3, 8, 16), "standard": (5, 24, 48), "paper": (9, 100, 200)}
BETAS = tuple(32.0 * 2**k for k in range(8))


@dataclass(frozen=True)
class CurrentProblem:
    """Current and entropy production of a sampled P on a circle, an array (1, 2).

    Parameters
    ----------
    space : Circle
    score : Distance
        With an antisymmetric link.
    hbar : float
    """

    space: Circle
    score: Distance
    hbar: float = 1.0

    def measured(self, points: np.ndarray, beta: float) -> np.ndarray:
        """4ħβ times the net flux through the cut θ = 0, and times the entropy production.

        The flux is that between the quarters before and after the cut; steps across a quarter
        are invisible. With a stationary law all of log(A_ij/A_ji) but the link telescopes, so
        that ½ Σ (A_ij - A_ji) log(A_ij/A_ji) = 2 Σ A_ij x_iᵀM(y_j - x_i), M antisymmetric.
        """
        operator = MarkovOperator.of_sample(points, self.score, beta, self_loops=True)
        law = stationary(operator).law
        theta = self.space.angle(points)
        before = ((theta < 0) & (theta >= -np.pi / 2)).astype(float)
        after = ((theta >= 0) & (theta < np.pi / 2)).astype(float)
        columns = np.column_stack([before, after, points])
        steps = operator.differences(columns, np.column_stack([0 * before, 0 * after, points]))
        flux = law @ (before * steps[:, 1] - after * steps[:, 0])
        entropy = 2 * law @ np.sum(self.score.one_form(points) * steps[:, 2:], axis=1)
        return 4 * self.hbar * beta * np.array([[flux, entropy]])

    def estimate(self, points: np.ndarray, beta: float) -> np.ndarray:
        """Twice the value of the sample less the mean of its halves': free of the 1/N bias."""
        half = len(points) // 2
        halves = self.measured(points[:half], beta) + self.measured(points[half:], beta)
        return 2 * self.measured(points, beta) - halves / 2

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(self.space, self.score, beta)

    @remembered
    def expectation_of(self, space: Circle, score: Distance, beta: float) -> np.ndarray:
        """Of another ring."""
        chain = RingChain(space, score, beta)
        return np.array([[chain.current(self.hbar), chain.entropy_production(self.hbar)]])

    @property
    def limit(self) -> np.ndarray:
        """Stratonovich's formula, β = ∞."""
        ring = TiltedRing(self.space, self.score, self.hbar)
        return np.array([[ring.current, ring.entropy_production]])

    def faults(self) -> tuple[Fault, ...]:
        """Half the scale, wrong links and weights, and the ring without its potential."""
        right, uniform = self.expectation, Circle(radius=self.space.radius)
        wrong = {
            name: (self.space, score)
            for name, score in wrong_scores(self.score).items()
            if isinstance(score, Distance)
        }
        wrong["potential omitted"] = uniform, replace(self.score, doob=())
        return (
            Fault("2ħβ for 4ħβ", lambda beta: right(beta) / 2),
            *(
                Fault(name, partial(self.expectation_of, space, score))
                for name, (space, score) in wrong.items()
            ),
        )


def _schedules() -> Mapping[str, Schedule]:
    def setting(step: int, replicates: int) -> Setting:
        n, beta = round(SMALLEST * GROWTH**step), FIRST_BETA * GROWTH ** (RATE * step)
        return Setting(n, float(f"{beta:.6g}"), replicates)

    return {
        preset: Schedule(
            betas=BETAS,
            sampling=(setting(steps - 1, sampling),),
            joint=tuple(setting(step, joint) for step in range(steps)),
        )
        for preset, (steps, joint, sampling) in SIZES.items()
    }


def current_claim(
    id: str,
    space: Circle,
    score: Distance,
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
) -> Claim:
    """The claim that a sampled P has, as N and β grow, the steady state of the tilted ring.

    Errors are those of replicates: the sample enters through the stationary law as well.

    Parameters
    ----------
    id, statement, source : str
    space : Circle
    score : Distance
        With an antisymmetric link.
    hbar : float

    Returns
    -------
    Claim
        With all four checks, and an error that falls at least like N^-1/2 along β = c N^1/2.
    """
    problem = CurrentProblem(space, score, hbar)
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=space,
        functions=("j", r"\dot{S}"),
        estimate=problem.estimate,
        expectation=problem.expectation,
        limit=problem.limit,
        schedules=_schedules(),
        bias_order=ORDER,
        slope=-RATE,
        slope_is_bound=True,
        faults=problem.faults(),
        configuration=repr(problem),
    )
