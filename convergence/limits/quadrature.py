"""The step law on any chart, by adaptive quadrature local to the target.

With keys v(y), query u(x) and log-weights c of the score, and an optional further weight log w,

    E g = ∫ g exp(p(-β|u - v|² + c + log w)) q dy / ∫ exp(p(-β|u - v|² + c + log w)) q dy

over the box of coordinates, q the sampling density against them. The box is subdivided until a
cell's keys extend over about a bandwidth; cells that the kernel does not see are left out; the
rest take a tensor Gauss-Legendre rule. Periodic coordinates need no care, since distances are
those of the features. Every value is computed with two orders, on smaller cells until they agree.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.polynomial.legendre import leggauss

from ..arrays import real_array
from ..errors import InvalidInputError, QuadratureError, require_positive
from ..scores import Distance
from ..spaces import Chart, SmoothFunction
from ..spaces.box import tensor
from .cells import CUTOFF, Cells, base_cells, visible_cells
from .law import StepLaw

# nodes a cell and direction, and for comparison
ORDERS = (16, 14)
# a cell's extent in bandwidths (pβ)^-1/2, halved up to so many times
SIZE = 3.0
REFINEMENTS = 3
# agreement asked for, and accepted when the last refinement does not reach it
GOAL, ACCEPTED = 1e-10, 1e-9
# nodes of rules kept by all laws together (about 100 MB), and evaluated at once
KEPT_NODES = 4_000_000
CHUNK_NODES = 200_000


@dataclass(frozen=True)
class Rule:
    """Points with weights that sum to one, for averages over a step; and log of the mass."""

    points: np.ndarray
    weights: np.ndarray
    log_mass: float

    def mean(self, values: np.ndarray) -> float:
        """Σ weights·values, by pairwise summation."""
        return float(np.sum(self.weights * values))


class QuadratureLaw(StepLaw):
    """The step law on a chart, to 1e-9.

    Parameters
    ----------
    space : Chart
    score : Distance
    log_weight : callable, optional
        A further log-weight of the keys, points (..., d) → (...); for example -α log q_β.

    Notes
    -----
    An increment f(y) - f(x) carries the rounding of f, about 1e-16 |f|: 4e-12 in the expectation
    at β = 1e4, growing like β. Values are refused whose two orders differ by more than 1e-9, for
    an increment in units of E|f(y) - f(x)|/sqrt β, which 4ħβ turns into units of |∇f|.
    """

    _rules: ClassVar[OrderedDict[tuple, tuple[Rule, Rule]]] = OrderedDict()

    def __init__(
        self,
        space: Chart,
        score: Distance,
        log_weight: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self.space, self.score, self.log_weight = space, score, log_weight

    @cached_property
    def _base(self) -> Cells:
        return base_cells(self._keys, self.space.coordinates)

    def _keys(self, points: np.ndarray) -> np.ndarray:
        return self.score.keys(self.space.features(points))

    def _log_weights(self, points: np.ndarray) -> np.ndarray:
        """c + log w, shape (...)."""
        total = np.zeros(points.shape[:-1])
        features = self.space.features(points).reshape(-1, self.space.ambient_dim)
        weights = self.score.log_weights(features)
        if weights is not None:
            total = total + weights.reshape(total.shape)
        if self.log_weight is not None:
            total = total + self.log_weight(points)
        return total

    def _rule(self, cells: Cells, order: int, query: np.ndarray, beta: float, power: int) -> Rule:
        """The tensor Gauss-Legendre rule on all cells, its negligible nodes left out."""
        d = self.space.dim
        nodes, weights = leggauss(order)
        offsets = tensor([nodes] * d)
        log_tensor = np.sum(np.log(tensor([weights] * d)), axis=1)
        points, logs = [], []
        step = max(1, CHUNK_NODES // len(offsets))
        for start in range(0, len(cells[0]), step):
            centre, half = (array[start : start + step] for array in cells)
            y = (centre[:, None] + half[:, None] * offsets).reshape(-1, d)
            kernel = -beta * np.sum((query - self._keys(y)) ** 2, axis=1) + self._log_weights(y)
            measure = np.sum(np.log(half), axis=1)[:, None] + log_tensor
            log = power * kernel + self.space.log_coordinate_density(y) + measure.ravel()
            seen = log >= np.max(log) - CUTOFF
            points.append(y[seen])
            logs.append(log[seen])
        log = np.concatenate(logs)
        top = float(np.max(log))
        mass = np.exp(log - top)
        total = float(np.sum(mass))
        return Rule(np.concatenate(points), mass / total, top + float(np.log(total)))

    def _pair(self, x: np.ndarray, beta: float, power: int, level: int) -> tuple[Rule, Rule]:
        """The rules of both orders for one target."""
        return self.pair(self._query(x, beta), beta, power, level)

    def _query(self, x: np.ndarray, beta: float) -> np.ndarray:
        return self.score.queries(self.space.features(x[None]), beta)[0]

    def pair(self, query: np.ndarray, beta: float, power: int, level: int) -> tuple[Rule, Rule]:
        """The rules of both orders for one query anywhere in R^D; cells shrink by 2^level."""
        key = (self, query.tobytes(), beta, power, level)
        pair = self._rules.get(key)
        if pair is None:
            cells = visible_cells(
                self._base,
                self._keys,
                lambda y: power * self._log_weights(y) + self.space.unnormalised_log_density(y),
                query,
                power * beta,
                SIZE / np.sqrt(power * beta) / 2**level,
            )
            fine, coarse = (self._rule(cells, m, query, beta, power) for m in ORDERS)
            self._rules[key] = pair = fine, coarse
            kept = sum(len(r.weights) for rules in list(self._rules.values()) for r in rules)
            while kept > KEPT_NODES and len(self._rules) > 1:
                kept -= sum(len(r.weights) for r in self._rules.popitem(last=False)[1])
        return pair

    def _agreed(
        self,
        value: Callable[[Rule, np.ndarray], tuple[float, float]],
        x: np.ndarray,
        beta: float,
        power: int,
    ) -> np.ndarray:
        """value(rule, target) = (number, unit of its error) at every target, to ACCEPTED units."""
        require_positive("beta", beta)
        x = real_array("points", x, finite=False)
        self.refuse_outside(x)
        found = np.empty(x.shape[:-1])
        for index in np.ndindex(found.shape):
            target = x[index]
            for level in range(REFINEMENTS + 1):
                fine, coarse = self._pair(target, beta, power, level)
                found[index], unit = value(fine, target)
                error = abs(found[index] - value(coarse, target)[0])
                if error <= GOAL * unit:
                    break
            if not error <= ACCEPTED * unit:
                raise QuadratureError(
                    f"the step from {target} on {self.space} at beta = {beta:g} is known to "
                    f"{error / unit:.1e} only, {ACCEPTED:g} is needed: give a smoother density, "
                    "embedding or test function"
                )
        return found

    def refuse_outside(self, x: np.ndarray) -> None:
        """Say which coordinate of points (..., d) does not lie in the chart.

        Raises
        ------
        InvalidInputError
        """
        if x.shape[-1:] != (self.space.dim,):
            raise InvalidInputError(
                f"points of {self.space} are rows of {self.space.dim} coordinates, not an array "
                f"of shape {x.shape}"
            )
        self.space.refuse_outside(x)

    def log_mass(self, x: np.ndarray, beta: float, power: int) -> np.ndarray:
        mass = self._agreed(lambda rule, _: (rule.log_mass, 1.0), x, beta, power)
        # -β|x-y|² + xᵀMy = -β|u-y|² + β(|u|²-|x|²)
        start = self.space.features(real_array("points", x, finite=False))
        moved = self.score.queries(start, beta)
        return mass + power * beta * np.sum((moved - start) * (moved + start), axis=-1)

    def mean_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        def value(rule: Rule, target: np.ndarray) -> tuple[float, float]:
            values, start = f(rule.points), float(f(target))
            steps = values - start
            rounding = 1e-15 * float(np.max(np.abs(values), initial=abs(start)))
            unit = rule.mean(np.abs(steps)) / np.sqrt(beta)
            return rule.mean(steps), unit + rounding / GOAL

        return self._agreed(value, x, beta, power)

    def mean_squared_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        def value(rule: Rule, target: np.ndarray) -> tuple[float, float]:
            mean = rule.mean((f(rule.points) - float(f(target))) ** 2)
            return mean, mean

        return self._agreed(value, x, beta, power)
