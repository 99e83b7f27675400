"""Where a pointwise claim is measured: sample sizes, β(N) and replicates of each preset.

smoke is a few seconds a study, standard a few minutes (what `results/` publishes), paper hours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.spatial.distance import pdist

from ..errors import InvalidInputError
from ..spaces import Space
from ..verification import Schedule, Setting
from ..verification.claim import LEAST_EFFECTIVE_DEGREE

PRESETS = ("smoke", "standard", "paper")

# errors at two targets a distance s apart have correlation of order βs² exp(-βs²/2), here 1e-2;
# it enters the χ² laws squared
_INDEPENDENT = 14.0


@dataclass(frozen=True)
class Size:
    """How many N, with replicates for the joint and the sampling check."""

    steps: int
    joint_replicates: int
    sampling_steps: tuple[int, ...]
    sampling_replicates: int


@dataclass(frozen=True)
class Plan:
    """N = smallest·growth^i for i < steps, the smallest by dimension, and sizes by preset."""

    smallest: Mapping[int, int]
    growth: float
    sizes: Mapping[str, Size]


STREAMED = Plan(
    {1: 16_000, 2: 24_000, 3: 32_000},
    3.0,
    {
        "smoke": Size(3, 8, (1,), 12),
        "standard": Size(5, 48, (1, 3), 96),
        "paper": Size(7, 100, (1, 3, 5), 400),
    },
)
# where a sample costs more, as by rejection on a chart
COSTLY = Plan(
    STREAMED.smallest,
    2.0,
    {
        "smoke": Size(3, 8, (0,), 12),
        "standard": Size(5, 24, (1, 3), 80),
        "paper": Size(9, 100, (2, 5), 400),
    },
)
# where the weights of all points are summed over all points, once or many times: no joint check
WHOLE = Plan(
    {1: 6_000, 2: 6_000, 3: 8_000},
    2.0,
    {
        "smoke": Size(0, 0, (-1,), 8),
        "standard": Size(0, 0, (0, 0), 96),
        "paper": Size(0, 0, (1, 2, 3, 4), 100),
    },
)
ITERATED = Plan(
    WHOLE.smallest,
    1.5,
    {
        "smoke": Size(0, 0, (-2,), 8),
        "standard": Size(0, 0, (0, 0), 40),
        "paper": Size(0, 0, (2, 4, 6), 100),
    },
)
FIRST_BIAS = 1 / 64  # relative, where the bias check starts
BIASES = 7  # each half of the one before


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


def schedules(
    problem: PointwiseProblem,
    rate: float | None = None,
    plan: Plan = STREAMED,
    order: float = 1.0,
) -> Mapping[str, Schedule]:
    """The schedule of every preset.

    Along β(N) = c N^rate bias, of the given order in 1/β, and sampling error fall together, like
    N^(-rate·order): 2/(d+6) for a generator, the default, and 2/(d+4) where no gradient enters
    the sampling error. The constant c makes the error at the smallest N about least, among the β
    for which targets are independent and effective degrees suffice there; at still smaller N
    (negative steps) β is held down to what the degrees allow. The sampling check is made on the
    curve, and at its largest N once more at the least β, where errors are smallest and most is
    seen: down to a quarter of c's, or to half where targets may depend on each other. The bias is
    followed from about a percent on, at seven β that halve it each time.
    """
    d = problem.space.dim
    rate = 2 / (d + 6) if rate is None else rate
    smallest = plan.smallest.get(d, plan.smallest[3] * 4 ** (d - 3))
    lowest, highest = _allowed_betas(problem, smallest)
    bias = highest**order * np.abs(problem.expectation(highest) - problem.limit)
    balanced = balanced_beta(problem, smallest, rate, highest, bias, order)
    first_beta = float(np.clip(balanced, lowest, highest))
    start = max(np.max(bias) / np.max(np.abs(problem.limit)), 1e-3)
    base = np.ceil(np.log2(start / FIRST_BIAS))

    def setting(step: int, replicates: int) -> Setting:
        n, beta = round(smallest * plan.growth**step), first_beta * plan.growth ** (rate * step)
        if step < 0:
            beta = min(beta, _allowed_betas(problem, n)[1])
        return Setting(n, float(f"{beta:.6g}"), replicates)

    def sampling(size: Size) -> tuple[Setting, ...]:
        found = [setting(step, size.sampling_replicates) for step in size.sampling_steps]
        if len(found) > 1:
            least = max(lowest, first_beta / (4 if lowest else 2))
            found[-1] = replace(found[-1], beta=min(found[-1].beta, float(f"{least:.6g}")))
        return tuple(found)

    return {
        preset: Schedule(
            betas=tuple(float(2 ** ((base + k) / order)) for k in range(BIASES)),
            sampling=sampling(size),
            joint=tuple(setting(step, size.joint_replicates) for step in range(size.steps)),
        )
        for preset, size in plan.sizes.items()
    }


def least_distance(points: np.ndarray) -> float:
    """The least distance between points, infinite for one."""
    return float(np.min(pdist(points))) if len(points) > 1 else np.inf


def least_place_distance(
    points: np.ndarray, images: Sequence[Callable[[np.ndarray], np.ndarray]]
) -> float:
    """The least distance between places of two points: themselves, and their images."""
    places = np.stack([points, *(image(points) for image in images)])
    apart = np.linalg.norm(places[:, None, :, None] - places[None, :, None, :], axis=-1)
    other = ~np.eye(len(points), dtype=bool)
    return float(np.min(apart[:, :, other], initial=np.inf))


def _allowed_betas(problem: PointwiseProblem, n: int) -> tuple[float, float]:
    """Between independent targets and enough neighbours."""
    lowest = _INDEPENDENT / problem.separation**2
    degree = float(np.min(problem.effective_degree(n, 1.0)))
    highest = (degree / (1.2 * LEAST_EFFECTIVE_DEGREE)) ** (2 / problem.space.dim)
    if lowest >= highest:
        raise InvalidInputError(
            f"{len(problem.targets)} targets on {problem.space} are too close for independent "
            f"errors at any β with enough neighbours at N = {n}; ask for fewer targets"
        )
    return lowest, highest


def balanced_beta(
    problem: PointwiseProblem,
    n: int,
    rate: float,
    beta: float,
    bias: np.ndarray,
    order: float,
) -> float:
    """Where (bias/β^order)² + sd² is least, bias and sd β^-k being those at one β."""
    k = 1 / (2 * rate) - order  # sd² grows like β^2k
    noise = np.mean(problem.sampling_error(n, beta)[1] ** 2) * beta ** (-2 * k)
    return float((order * np.mean(bias**2) / (k * noise)) ** (1 / (2 * order + 2 * k)))
