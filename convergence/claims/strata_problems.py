"""One step from places near or off the singular set of a stratified space, and its schedules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq

from .. import limits
from ..errors import InvalidInputError
from ..operators import streamed_generator
from ..scores import Distance
from ..spaces import Ray, StrataFunction, StratifiedSpace
from ..verification import Schedule, Setting
from ..verification.claim import LEAST_EFFECTIVE_DEGREE
from .remembered import remembered
from .schedules import BIASES, FIRST_BIAS, Plan, Size, balanced_beta

PLAIN_KERNEL = Distance()
Function = Callable[[np.ndarray], np.ndarray]
Places = tuple[tuple[Ray, float], ...]

# samples a target, each of which has a share of its own
_SIZES = {
    "smoke": Size(3, 8, (1,), 12),
    "standard": Size(5, 24, (1, 3), 48),
    "paper": Size(8, 100, (2, 4), 400),
}
SHARES = {1: Plan({1: 6_000}, 2.0, _SIZES), 2: Plan({2: 10_000}, 1.6, _SIZES)}
# smallest β: a bandwidth of a fifth of these spaces' size
LOWEST_BETA = 12.0
# times the effective degree that is needed
SPARE = 1.2
# in bandwidths; what lies further apart than exp(-745) is exactly zero
_APART = 64.0


@dataclass(frozen=True)
class StrataProblem:
    """factor · β^power · P[f(y) - f(x)] at places that may move with β.

    The i-th of T targets sees every T-th point of each chunk only, from the i-th on, so that errors
    at targets within one layer are independent. Every method returns an array (targets, functions).

    Parameters
    ----------
    space : StratifiedSpace
    places : tuple of (Ray, float)
        A target lies at distance s β^-width along its ray.
    functions : tuple of StrataFunction
    values : tuple of tuples of float
        The limit, one row a target.
    factor, power, width : float
    """

    space: StratifiedSpace
    places: Places
    functions: tuple[StrataFunction, ...]
    values: tuple[tuple[float, ...], ...]
    factor: float
    power: float
    width: float = 0.5

    @property
    def limit(self) -> np.ndarray:
        """N = ∞ and β = ∞."""
        return np.array(self.values)

    def scale(self, beta: float) -> float:
        """factor · β^power."""
        return self.factor * beta**self.power

    def targets(self, beta: float, width: float | None = None) -> np.ndarray:
        """Evaluation points outside every sample, rows (targets, 1 + d).

        Raises
        ------
        InvalidInputError
            When one lies off its stratum.
        """
        shrink = beta ** -(self.width if width is None else width)
        x = np.stack([self.space.along(ray, np.array(s * shrink)) for ray, s in self.places])
        self.law().refuse_outside(x)
        return x

    def functions_at(self, x: np.ndarray) -> tuple[Function, ...]:
        """What is averaged over a step from x."""
        return self.functions

    def estimate(self, chunks: Iterable[np.ndarray], beta: float) -> np.ndarray:
        """The values from a sample in chunks."""
        x = self.targets(beta)
        own = np.arange(len(x))

        def columns(y: np.ndarray, share: np.ndarray) -> np.ndarray:
            found = np.empty((len(y), self.limit.shape[1]))
            for i, target in enumerate(x):
                mine = share == i
                found[mine] = np.stack([g(y[mine]) for g in self.functions_at(target)], axis=-1)
            return found

        def apart(y: np.ndarray, share: np.ndarray) -> np.ndarray:
            shifts = share * _APART / np.sqrt(beta)
            return np.column_stack([self.space.features(y), shifts])

        shares = ((y, np.arange(len(y)) % len(x)) for y in chunks)
        found = streamed_generator(
            ((apart(y, share), columns(y, share)) for y, share in shares),
            PLAIN_KERNEL,
            beta,
            targets=apart(x, own),
            target_values=columns(x, own),
        )
        return -self.scale(beta) / (4 * beta) * found

    @cached_property
    def _laws(self) -> dict[Any, limits.StratifiedLaw]:
        return {}

    def law(self, strata: tuple[int, ...] | None = None) -> limits.StratifiedLaw:
        """The exact step law, of a kernel that sees all strata or only some."""
        if strata not in self._laws:
            self._laws[strata] = limits.StratifiedLaw(self.space, PLAIN_KERNEL, strata)
        return self._laws[strata]

    def _each(self, number: Callable[[Any, np.ndarray], Any], x: np.ndarray) -> np.ndarray:
        return np.array([[number(g, target) for g in self.functions_at(target)] for target in x])

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(beta, 1.0, None, None)

    @remembered
    def expectation_of(
        self,
        beta: float,
        ratio: float,
        strata: tuple[tuple[int, ...], ...] | None,
        width: float | None,
    ) -> np.ndarray:
        """With the kernel of ratio·β, of some strata for each target, or at another width."""
        x = self.targets(beta, width)
        found = []
        for i, target in enumerate(x):
            law: Any = self.law(None if strata is None else strata[i])
            found.append(
                [law.mean_increment(g, target, ratio * beta, 1) for g in self.functions_at(target)]
            )
        return self.scale(beta) * np.array(found)

    @remembered
    def sampling_error(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
        """Mean shift and standard deviation of the estimate."""
        pairs = self._each(
            lambda g, y: limits.sampling_constants_of(self.law(), g, y, beta), self.targets(beta)
        )
        shift, variance = np.moveaxis(pairs, -1, 0) * len(self.places) / n
        scale = -self.scale(beta) / (4 * beta)
        return scale * shift, abs(scale) * np.sqrt(variance)

    @remembered
    def _masses(self, beta: float) -> np.ndarray:
        return np.exp(self.law().log_mass(self.targets(beta), beta, 1))

    def effective_degree(self, n: int, beta: float) -> np.ndarray:
        """N q_β(x)/T: the kernel's mass on a target's share of the sample."""
        return n / len(self.places) * self._masses(beta)


class DimensionProblem(StrataProblem):
    """2β P|F(y) - F(x)|² = -2 dlog q_β/dlog β, the dimension that the kernel sees around x."""

    def functions_at(self, x: np.ndarray) -> tuple[Function, ...]:
        """The squared distance from x."""
        place = self.space.features(x)
        return (lambda y: np.sum((self.space.features(y) - place) ** 2, axis=-1),)


def highest_beta(problem: Any, n: int, lowest: float) -> float:
    """Up to where the effective degrees that are needed are there, from `lowest` on."""

    def spare(log_beta: float) -> float:
        degree = float(np.min(problem.effective_degree(n, np.exp(log_beta))))
        return np.log(degree / (SPARE * LEAST_EFFECTIVE_DEGREE))

    high = start = np.log(lowest)
    while spare(high) > 0:
        high += 1.0
    return float(np.exp(brentq(spare, max(high - 1, start), high, xtol=1e-3)))


def strata_schedules(
    problem: Any,
    rate: float,
    order: float | None,
    betas: tuple[float, ...],
    lowest: float,
    samples: int,
) -> Mapping[str, Schedule]:
    """The schedule of every preset.

    Along β(N) = c N^rate the error falls like N^(-rate·order); c makes it about least at the
    smallest N, which is `samples` times the plan's, or what gives enough neighbours at `lowest`,
    the smallest β. Without an order (a bias below every power) β is the first of `betas` throughout
    and only the sampling error is left, like N^-1/2.
    """
    dim = problem.space.dim
    if dim not in SHARES:
        raise InvalidInputError(
            f"claims on stratified spaces have sample sizes for dimensions 1 and 2, not {dim}: add "
            "a plan to SHARES"
        )
    plan, first_beta, checked = SHARES[dim], lowest if order else betas[0], betas
    smallest = samples * plan.smallest[dim] * len(problem.limit)
    degree = float(np.min(problem.effective_degree(smallest, first_beta)))
    smallest = round(smallest * max(1.0, 1.1 * SPARE * LEAST_EFFECTIVE_DEGREE / degree))
    if order is not None:
        highest = highest_beta(problem, smallest, lowest)
        bias = highest**order * np.abs(problem.expectation(highest) - problem.limit)
        balanced = balanced_beta(problem, smallest, rate, highest, bias, order)
        first_beta = float(np.clip(balanced, lowest, highest))
        start = max(np.max(bias) / np.max(np.abs(problem.limit)), 1e-3)
        # not before bandwidths fit into the strata
        base = np.ceil(max(np.log2(start / FIRST_BIAS), order * np.log2(lowest)))
        checked = tuple(float(2 ** ((base + k) / order)) for k in range(BIASES))

    def setting(step: int, replicates: int) -> Setting:
        beta = first_beta * plan.growth ** (rate * step)
        return Setting(round(smallest * plan.growth**step), float(f"{beta:.6g}"), replicates)

    return {
        preset: Schedule(
            betas=checked,
            sampling=tuple(setting(step, size.sampling_replicates) for step in size.sampling_steps),
            joint=tuple(setting(step, size.joint_replicates) for step in range(size.steps)),
        )
        for preset, size in plan.sizes.items()
    }
