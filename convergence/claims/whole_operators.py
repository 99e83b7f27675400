"""Claims on a whole sampled operator: steady states and spectra, with errors of replicates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import zeta

from ..errors import LARGEST_DENSE
from ..operators import MarkovOperator, stationary
from ..verification import Claim, Fault, Schedule, Setting
from .remembered import remembered
from .wrong_scores import wrong_scores

# share of the smallest N, sample sizes and replicates of the joint check
SIZES = {"smoke": (0.5, 3, 8), "standard": (1, 5, 24), "paper": (1, 9, 100)}
GROWTH = 1.5
# share of the sampling check's points, and its largest N
SHARES = {"smoke": (0.1, 2_000), "standard": (1.0, np.inf), "paper": (10.0, np.inf)}
_LEAST = 16  # replicates
_SECOND_BIAS = 1e-3  # relative, what a sampling check may leave


@dataclass(frozen=True)
class Course:
    """N = smallest · 1.5^k with β = first_beta · (N/smallest)^rate, and the β of the bias check.

    Density fluctuations act like a rough potential of size N^-1/2, whatever β: with a bias of
    order 1/β the error falls like N^-rate, rate at most ½.

    Parameters
    ----------
    first_beta : float
    smallest : int
    rate : float
    first_bias : float
    bias_steps : int
        Each β of the bias check is twice the one before.
    sampling_beta : float
        Of the sampling check, whose N gives enough neighbours there.
    points : float
        N times replicates of the sampling check at standard: numbers of a whole operator have
        errors like (N·replicates)^-1/2, whatever β, and a small N costs least.
    """

    first_beta: float
    smallest: int = 500
    rate: float = 0.5
    first_bias: float = 32.0
    bias_steps: int = 8
    sampling_beta: float = 4.0
    points: float = 180_000

    def _setting(self, share: float, step: int, replicates: int) -> Setting:
        beta = self.first_beta * GROWTH ** (self.rate * step)
        n = round(share * self.smallest * GROWTH**step)
        return Setting(n, float(f"{beta:.6g}"), replicates)

    def sampling(self, preset: str, needed: float) -> Setting:
        """That of the sampling check, with the N that is needed."""
        share, largest = SHARES[preset]
        n = int(min(100 * np.ceil(needed / 100), largest))
        return Setting(n, self.sampling_beta, max(_LEAST, round(share * self.points / n)))

    def schedules(self, needed: float) -> Mapping[str, Schedule]:
        """The schedule of every preset; the sampling check needs so large an N."""
        return {
            preset: Schedule(
                betas=tuple(self.first_bias * 2**k for k in range(self.bias_steps)),
                sampling=(self.sampling(preset, needed),),
                joint=tuple(self._setting(share, step, joint) for step in range(steps)),
            )
            for preset, (share, steps, joint) in SIZES.items()
        }


def mean_degree(space: Any, n: float, beta: float) -> float:
    """N (π/β)^{d/2} ∫ρ dν, the harmonic mean of the points' effective degrees under π ∝ ρ dν.

    The relative variances of the rows of P are one over their degrees. ∫ρ dν is the mean over a
    fixed sample.
    """
    points = space.sample(2**14, np.random.default_rng(0))
    density = float(np.mean(np.exp(space.log_density(points))))
    return n * (np.pi / beta) ** (space.dim / 2) * density


def least_degree(dim: int) -> float:
    """The effective degree at which a number freed of its first bias is right to a thousandth.

    Eigenvalues of a uniform sample are off by -s/degree, s = 2ζ(1 + d/2) - 1; the next order, about
    (s/degree)², enters twice when the first is taken out.
    """
    return float((2 * zeta(1 + dim / 2) - 1) * np.sqrt(2 / _SECOND_BIAS))


def without_first_bias(
    measured: Callable[[np.ndarray, float], np.ndarray], points: np.ndarray, beta: float
) -> np.ndarray:
    """Twice the value of a sample less the mean of its halves': free of a bias of order 1/N."""
    half = len(points) // 2
    halves = measured(points[:half], beta) + measured(points[half:], beta)
    return 2 * measured(points, beta) - halves / 2


@dataclass(frozen=True)
class OperatorProblem(ABC):
    """Numbers that a sampled P has as a whole, an array (1, numbers).

    Subclasses give what is measured and its references.

    Parameters
    ----------
    space : Space
    score : Distance or Mixture
    hbar : float
    """

    space: Any
    score: Any
    hbar: float = 1.0

    @property
    @abstractmethod
    def functions(self) -> tuple[str, ...]:
        """LaTeX labels of the numbers."""

    @abstractmethod
    def observed(self, operator: MarkovOperator, points: np.ndarray) -> list[float]:
        """The numbers of a sampled operator."""

    @abstractmethod
    def reference(self, space: Any, score: Any, beta: float | None) -> list[float]:
        """The numbers for N = ∞; without β the limit."""

    self_loops = True

    def measured(self, points: np.ndarray, beta: float) -> np.ndarray:
        """The numbers of a sample."""
        operator = MarkovOperator.of_sample(points, self.score, beta, self_loops=self.self_loops)
        return np.array([self.observed(operator, points)])

    @staticmethod
    def law(operator: MarkovOperator) -> np.ndarray:
        """The stationary law π."""
        return stationary(operator, largest_dense=LARGEST_DENSE).law

    def estimate(self, points: np.ndarray, beta: float) -> np.ndarray:
        """The numbers of a sample, free of the bias of order 1/N."""
        return without_first_bias(self.measured, points, beta)

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(self.space, self.score, beta)

    @remembered
    def expectation_of(self, space: Any, score: Any, beta: float) -> np.ndarray:
        """Of another problem."""
        return np.array([self.reference(space, score, beta)])

    @property
    def limit(self) -> np.ndarray:
        """N = ∞ and β = ∞."""
        return np.array([self.reference(self.space, self.score, None)])

    def wrong_spaces(self) -> dict[str, Any]:
        """By name: spaces whose numbers must be rejected."""
        return {}

    def faults(self) -> tuple[Fault, ...]:
        """Wrong scales, wrong links and weights, wrong densities."""
        wrong = {
            name: (self.space, score)
            for name, score in wrong_scores(self.score).items()
            if isinstance(score, type(self.score))
        }
        wrong |= {name: (space, self.score) for name, space in self.wrong_spaces().items()}
        return (
            Fault("2ħβ for 4ħβ", replace(self, hbar=0.5 * self.hbar).expectation),
            Fault("ħ off by 5 %", replace(self, hbar=1.05 * self.hbar).expectation),
            *(
                Fault(name, partial(self.expectation_of, space, score))
                for name, (space, score) in wrong.items()
            ),
        )


def operator_claim(
    id: str,
    problem: OperatorProblem,
    *,
    statement: str,
    source: str,
    course: Course,
    orders: float | tuple[float, ...] = 1.0,
    wrong: Mapping[str, Any] | None = None,
) -> Claim:
    """The claim that the numbers of a sampled P tend to those of the limit as N and β grow.

    Errors are those of replicates: a sample enters the steady state and the spectrum as a whole.

    Parameters
    ----------
    id, statement, source : str
    problem : OperatorProblem
    course : Course
    orders : float or tuple of float
        Of the bias in 1/β.
    wrong : mapping, optional
        Further faults: a name, and the score that must be rejected.

    Returns
    -------
    Claim
        With all four checks, and an error that falls at least like N^-rate.
    """
    enough = least_degree(problem.space.dim)
    further = tuple(
        Fault(name, partial(problem.expectation_of, problem.space, score))
        for name, score in (wrong or {}).items()
    )
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=problem.space,
        functions=problem.functions,
        estimate=problem.estimate,
        expectation=problem.expectation,
        limit=problem.limit,
        schedules=course.schedules(
            1.2 * enough / mean_degree(problem.space, 1, course.sampling_beta)
        ),
        effective_degree=lambda n, beta: np.array([mean_degree(problem.space, n, beta)]),
        least_degree=enough,
        bias_order=orders,
        slope=-course.rate,
        slope_is_bound=True,
        faults=problem.faults() + further,
        configuration=repr(problem),
    )
