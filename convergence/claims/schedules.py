"""Where a pointwise claim is measured: sample sizes, β(N) and replicates of each preset.

smoke is a few seconds a study, standard a few minutes (what `results/` publishes), paper hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import optimize

from ..errors import InvalidInputError
from ..spaces import Space
from ..verification import Schedule, Setting
from ..verification.sampling import LEAST_EFFECTIVE_DEGREE

PRESETS = ("smoke", "standard", "paper")

# errors at two targets a distance s apart have correlation of order βs² exp(-βs²/2), here 1e-2;
# it enters the χ² laws squared
_INDEPENDENT = 14.0


@dataclass(frozen=True)
class Size:
    """N = smallest·GROWTH^i for i < steps, with replicates for the joint and the sampling check."""

    steps: int
    joint_replicates: int
    sampling_steps: tuple[int, ...]
    sampling_replicates: int


SIZES = {
    "smoke": Size(3, 8, (1,), 12),
    "standard": Size(5, 48, (1, 3), 96),
    "paper": Size(7, 100, (1, 3, 5), 400),
}
SMALLEST = {1: 16_000, 2: 24_000, 3: 32_000}
GROWTH = 3
BETAS = tuple(2.0**k for k in range(5, 14))


class PointwiseProblem(Protocol):
    """What a schedule must know of a problem."""

    @property
    def space(self) -> Space: ...
    @property
    def targets(self) -> np.ndarray: ...
    @property
    def separation(self) -> float: ...
    @property
    def limit(self) -> np.ndarray: ...
    def expectation(self, beta: float) -> np.ndarray: ...
    def sampling_error(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]: ...
    def effective_degree(self, n: int, beta: float) -> np.ndarray: ...


def schedules(problem: PointwiseProblem) -> Mapping[str, Schedule]:
    """The schedule of every preset.

    Along β(N) = c N^{2/(d+6)} bias and sampling error fall together, like N^{-2/(d+6)}. The
    constant c makes the predicted error at the smallest N least, among the β for which targets are
    independent and effective degrees suffice there.
    """
    d = problem.space.dim
    smallest = SMALLEST.get(d, SMALLEST[3] * 4 ** (d - 3))
    first_beta = _best_beta(problem, smallest)

    def setting(step: int, replicates: int) -> Setting:
        beta = first_beta * GROWTH ** (2 * step / (d + 6))
        return Setting(smallest * GROWTH**step, float(f"{beta:.6g}"), replicates)

    return {
        preset: Schedule(
            betas=BETAS,
            sampling=tuple(setting(step, size.sampling_replicates) for step in size.sampling_steps),
            joint=tuple(setting(step, size.joint_replicates) for step in range(size.steps)),
        )
        for preset, size in SIZES.items()
    }


def _best_beta(problem: PointwiseProblem, n: int) -> float:
    lowest = _INDEPENDENT / problem.separation**2
    degree = float(np.min(problem.effective_degree(n, 1.0)))
    highest = (degree / (1.2 * LEAST_EFFECTIVE_DEGREE)) ** (2 / problem.space.dim)
    if lowest >= highest:
        raise InvalidInputError(
            f"{len(problem.targets)} targets on {problem.space} are too close for independent "
            f"errors at any β with enough neighbours at N = {n}; ask for fewer targets"
        )

    def log_error(log_beta: float) -> float:
        beta = float(np.exp(log_beta))
        shift, sd = problem.sampling_error(n, beta)
        bias = problem.expectation(beta) - problem.limit + shift
        return float(np.log(np.mean(bias**2 + sd**2)))

    interval = (np.log(lowest), np.log(highest))
    best = optimize.minimize_scalar(
        log_error, bounds=interval, method="bounded", options={"xatol": 1e-2}
    )
    return float(np.exp(best.x))
