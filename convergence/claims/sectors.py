"""Claims on one part of a mixture: diffusion, drift, jump rate and jump law, each by itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import sympy
from scipy.special import softmax

from .. import limits
from ..errors import InvalidInputError
from ..operators import streamed_parts
from ..scores import Mixture
from ..spaces import Polynomial, Space
from ..spaces.polynomials import coordinates
from ..verification import Claim, Fault
from .pointwise import pointwise_claim
from .remembered import remembered
from .schedules import least_place_distance
from .wrong_scores import wrong_scores


@dataclass(frozen=True)
class Sector:
    """What is measured of one part of the kernel: 4ħβ E[g_x(y); a step of that part].

    Parameters
    ----------
    label : str
        LaTeX.
    part : int
        0 the local kernel, m the m-th jump.
    f : Polynomial, optional
        g_x(y) = f(x) - f(y): what the part contributes to the generator.
    direction : matrix, optional
        S, for e = Sx and g_x(y) = -e·(y - x): twice the drift one-form along e (local part).
    square : bool
        ½(e·(y - x))² instead: ħ|e|², the diffusion.

    Without f and direction g = 1: 4ħβ times the probability of a jump, its rate.

    Raises
    ------
    InvalidInputError
        For the local part without f or direction, which has no limit.
    """

    label: str
    part: int
    f: Polynomial | None = None
    direction: tuple[tuple[float, ...], ...] = ()
    square: bool = False

    def __post_init__(self) -> None:
        if (self.part == 0 or self.square) and self.f is None and not self.direction:
            raise InvalidInputError("of the local part give a function f or a direction")

    def function_at(self, x: np.ndarray) -> Polynomial:
        """g_x."""
        y = coordinates(len(x))
        if self.f is not None:
            return Polynomial.from_sympy(sympy.Float(float(self.f(x)), 17) - self.f.poly, len(x))
        if not self.direction:
            return Polynomial("1", len(x))
        e = np.asarray(self.direction) @ x
        along = sum(sympy.Float(float(a), 17) * (b - sympy.Float(float(c), 17))
                    for a, b, c in zip(e, y, x, strict=True))  # fmt: skip
        return Polynomial.from_sympy(sympy.expand(along**2 / 2 if self.square else -along), len(x))


@dataclass(frozen=True)
class SectorProblem:
    """Sectors of a mixture at fixed targets; every method returns (targets, sectors).

    Parameters
    ----------
    space : Space
        A sphere, flat torus or Gaussian space.
    score : Mixture
    sectors : tuple of Sector
    around : tuple of Polynomial
        Functions whose gradients are to be away from zero at the targets.
    hbar : float
    target_count : int
    """

    space: Space
    score: Mixture
    sectors: tuple[Sector, ...]
    around: tuple[Polynomial, ...]
    hbar: float = 1.0
    target_count: int = 3

    def __post_init__(self) -> None:
        exponents = {jump.exponent for jump in self.score.jumps}
        parts = {sector.part for sector in self.sectors}
        if len(exponents) > 1 or (0 in parts and exponents != {1.0}):
            raise InvalidInputError(
                "all jumps need one exponent, and the local part the critical one, 1"
            )
        if not parts <= set(range(len(self.score.jumps) + 1)):
            raise InvalidInputError(f"the mixture has no parts {sorted(parts)}")
        wide = any(jump.beta is not None for jump in self.score.jumps)
        if wide and self.target_count > 1 and parts != {0}:
            raise InvalidInputError(
                "the errors of a wide jump law depend on each other at all targets: ask for one"
            )

    @cached_property
    def targets(self) -> np.ndarray:
        """Evaluation points outside every sample, one a row."""
        return self.space.targets(self.around, self.target_count, self.score.images)

    @property
    def separation(self) -> float:
        """The least distance between the places of two targets."""
        return least_place_distance(self.targets, self.score.images)

    def effective_degree(self, n: int, beta: float) -> np.ndarray:
        """As in `GeneratorProblem`."""
        return limits.effective_degree(self.space, self.score, self.targets, n, beta)

    @property
    def exponent(self) -> float:
        """γ of the jumps; values are multiplied by β^{γ-1}."""
        return self.score.jumps[0].exponent

    def _scale(self, beta: float) -> float:
        return 4 * self.hbar * beta**self.exponent

    @cached_property
    def _functions(self) -> list[list[Polynomial]]:
        return [[sector.function_at(x) for sector in self.sectors] for x in self.targets]

    def _columns(self, y: np.ndarray) -> np.ndarray:
        return np.stack([g(y) for row in self._functions for g in row], axis=-1)

    def estimate(self, chunks: Iterable[np.ndarray], beta: float) -> np.ndarray:
        """The values at the targets, from a sample in chunks."""
        count, width = len(self.targets), len(self.sectors)
        own = np.arange(count)
        centers = np.zeros((count, count * width))
        log_masses, means = streamed_parts(
            ((y, self._columns(y), self.score.log_weights(y)) for y in chunks),
            self.score, beta, targets=self.targets, target_values=centers,
        )  # fmt: skip
        shares = softmax(log_masses, axis=1)
        # every target has columns of its own
        mine = means.reshape(count, -1, count, width)[own, :, own]
        parts = [sector.part for sector in self.sectors]
        return self._scale(beta) * shares[:, parts] * mine[:, parts, np.arange(width)]

    def _each(self, number) -> np.ndarray:
        return np.array(
            [
                [number(g, sector.part, x) for g, sector in zip(row, self.sectors, strict=True)]
                for x, row in zip(self.targets, self._functions, strict=True)
            ]
        )

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(self.score, beta)

    @remembered
    def expectation_of(self, score: Mixture, beta: float) -> np.ndarray:
        """Under another mixture."""
        law = limits.MixtureLaw(self.space, score)
        return self._scale(beta) * self._each(lambda g, m, x: law.sector_mean(g, m, x, beta))

    @remembered
    def sampling_error(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
        """Mean shift and standard deviation of the estimate."""
        law = limits.MixtureLaw(self.space, self.score)
        constants = self._each(lambda g, m, x: law.sector_constants(g, m, x, beta))
        scale = self._scale(beta)
        return scale * constants[..., 0] / n, scale * np.sqrt(constants[..., 1] / n)

    @cached_property
    def limit(self) -> np.ndarray:
        """N = ∞ and β = ∞."""
        law = limits.MixtureLaw(self.space, self.score)
        return self.hbar * self._each(law.sector_limit)

    def faults(self, wrong: dict[str, Mixture]) -> tuple[Fault, ...]:
        """Wrong constants, wrong scales and wrong mixtures."""
        right = self.expectation
        of_score = {
            name: score
            for name, score in wrong_scores(self.score).items()
            if isinstance(score, Mixture) and len(score.jumps) == len(self.score.jumps)
        }  # a reversed jump has no sector of its own
        return (
            Fault("ħ off by 5 %", lambda beta: 1.05 * right(beta)),
            Fault("β off by 2", lambda beta: 0.5 * right(2 * beta)),
            Fault("2ħβ for 4ħβ", lambda beta: right(beta) / 2),
            *(
                Fault(name, partial(self.expectation_of, score))
                for name, score in {**of_score, **wrong}.items()
            ),
        )


def sector_claim(
    id: str,
    space: Space,
    score: Mixture,
    sectors: tuple[Sector, ...],
    around: tuple[Polynomial, ...],
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
    target_count: int = 3,
    wrong: dict[str, Mixture] | None = None,
    bias_order: float = 1.0,
    bias_step: float = 1.0,
) -> Claim:
    """The claim that the parts of a mixture have their limits, each by itself.

    Parameters
    ----------
    id, statement, source : str
    space, score, sectors, around, hbar, target_count
        As in `SectorProblem`.
    wrong : mapping, optional
        Further faults: a name, and the mixture that must be rejected.
    bias_order, bias_step : float
        As in `Claim`.

    Returns
    -------
    Claim
        With all four checks, along β = c N^{2/(d+6)}.
    """
    problem = SectorProblem(space, score, sectors, around, hbar, target_count)
    claim = pointwise_claim(
        id, problem, tuple(sector.label for sector in sectors), statement=statement, source=source,
        faults=problem.faults(wrong or {}), rate=2 / (space.dim + 6), order=bias_order,
    )  # fmt: skip
    # each sector has errors of its own size: the slopes are those of the predicted curves
    return replace(claim, bias_step=bias_step, slope=None)
