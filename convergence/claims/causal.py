"""Claims on the causal mask: sqrt(πβ)(P f - f) → -f', transport and not diffusion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import limits
from ..errors import require_tuple
from ..operators import streamed_generator
from ..scores import Causal, Distance
from ..spaces import SmoothFunction, Space
from ..verification import Claim, Fault
from .pointwise import pointwise_claim
from .remembered import remembered
from .schedules import least_distance

CAUSAL, FUTURE = Causal(), Causal(reversed=True)
# the bias falls like β^-1/2 and the sampling error grows like (β^1/2/N)^1/2: both fall like
# N^-1/3 along β = c N^2/3
ORDER, RATE = 0.5, 2 / 3


@dataclass(frozen=True)
class CausalProblem:
    """The causal kernel on a line and test functions, at fixed targets.

    Every method returns an array (targets, functions).

    Parameters
    ----------
    space : Gaussian or Chart
        A line.
    functions : tuple of test functions
    target_count : int
    """

    space: Space
    functions: tuple[SmoothFunction, ...]
    target_count: int = 3

    def __post_init__(self) -> None:
        require_tuple("functions", self.functions)

    @cached_property
    def targets(self) -> np.ndarray:
        """Evaluation points outside every sample, one a row."""
        return self.space.targets(self.functions, self.target_count)

    def _columns(self, column: Callable[[SmoothFunction], np.ndarray]) -> np.ndarray:
        return np.stack([column(f) for f in self.functions], axis=-1)

    def _rescaled(self, beta: float) -> float:
        """From 4β(I - P) to sqrt(πβ)(P - I)."""
        return -limits.causal_scale(beta) / (4 * beta)

    def estimate(self, chunks: Iterable[np.ndarray], beta: float) -> np.ndarray:
        """sqrt(πβ)(P f - f) from a sample in chunks."""

        def values(x: np.ndarray) -> np.ndarray:
            return self._columns(lambda f: f(x))

        found = streamed_generator(
            ((self.space.features(chunk), values(chunk)) for chunk in chunks),
            CAUSAL,
            beta,
            targets=self.space.features(self.targets),
            target_values=values(self.targets),
        )
        return self._rescaled(beta) * found

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(CAUSAL, beta)

    @remembered
    def expectation_of(self, score: Causal | Distance, beta: float) -> np.ndarray:
        """With another kernel, or without the mask."""
        found = self._columns(
            lambda f: limits.expectation(self.space, score, f, self.targets, beta)
        )
        return self._rescaled(beta) * found

    @remembered
    def sampling_error(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
        """Mean shift and standard deviation of the estimate."""
        scale = self._rescaled(beta)
        pairs = [
            limits.sampling_constants(self.space, CAUSAL, f, self.targets, beta)
            for f in self.functions
        ]
        shift = scale * np.stack([pair[0] for pair in pairs], axis=-1) / n
        return shift, abs(scale) * np.sqrt(np.stack([pair[1] for pair in pairs], axis=-1) / n)

    def effective_degree(self, n: int, beta: float) -> np.ndarray:
        """½ N ρ (π/β)^{1/2} at the targets: the mask keeps half of the neighbours."""
        return 0.5 * limits.effective_degree(self.space, CAUSAL, self.targets, n, beta)

    @property
    def separation(self) -> float:
        """The least distance between targets."""
        return least_distance(self.space.features(self.targets))

    @property
    def limit(self) -> np.ndarray:
        """-f', N = ∞ and β = ∞."""
        return self._columns(lambda f: limits.causal_limit(CAUSAL, self.space, f, self.targets))

    def faults(self) -> tuple[Fault, ...]:
        """Wrong scales, among them that of a diffusion, and wrong masks."""
        right = self.expectation
        return (
            Fault("scale off by 5 %", lambda beta: 1.05 * right(beta)),
            Fault("β off by 2", lambda beta: np.sqrt(0.5) * right(2 * beta)),
            Fault("4β(I - P), a diffusion", lambda beta: right(beta) / self._rescaled(beta)),
            Fault("(πβ)^1/2 / 2, as if both sides", lambda beta: right(beta) / 2),
            Fault("future for past", lambda beta: self.expectation_of(FUTURE, beta)),
            Fault("mask omitted", lambda beta: self.expectation_of(Distance(), beta)),
        )


def causal_claim(
    id: str,
    space: Space,
    functions: tuple[SmoothFunction, ...],
    *,
    statement: str,
    source: str,
    target_count: int = 3,
) -> Claim:
    """The claim sqrt(πβ)(P f - f) → -f' on a line, keys at or before the query only.

    Parameters
    ----------
    id, statement, source : str
    space : Gaussian or Chart
        A line.
    functions : tuple of test functions
    target_count : int

    Returns
    -------
    Claim
        With all four checks; bias of order β^-1/2 and the slope -1/3 along β = c N^{2/3}.
    """
    problem = CausalProblem(space, functions, target_count)
    return pointwise_claim(
        id, problem, tuple(f.label for f in functions), statement=statement, source=source,
        faults=problem.faults(), rate=RATE, order=ORDER,
    )  # fmt: skip
