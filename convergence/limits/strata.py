"""The step law on a stratified space: all strata summed, seen from a target on any of them.

With m_k the mass of stratum k and q_k the density within it,

    E g = Σ_k m_k ∫ g exp(-pβ|x - y|²) q_k dy / Σ_k m_k ∫ exp(-pβ|x - y|²) q_k dy,

each integral by the adaptive quadrature of a chart. A stratum whose kernel lies below exp(-42) of
the mass found is left out.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from ..scores import RANDOM_WALK, Distance
from ..spaces import StratifiedSpace
from .cells import CUTOFF, MARGIN, extent, sampled_points
from .law import refuse_normalisation, step_law
from .quadrature import QuadratureLaw, Rule


class StratifiedLaw(QuadratureLaw):
    """The step law on a stratified space, to 1e-9.

    Parameters
    ----------
    space : StratifiedSpace
    score : Distance
        The random walk's normalisation.
    strata : tuple of int, optional
        Those that the kernel sees; all by default. What is left out is a wrong law.
    """

    space: StratifiedSpace  # type: ignore[assignment]

    def __init__(
        self, space: StratifiedSpace, score: Distance, strata: tuple[int, ...] | None = None
    ) -> None:
        if score.normalisation != RANDOM_WALK:
            refuse_normalisation(space, score)  # type: ignore[arg-type]
        super().__init__(space, score)  # type: ignore[arg-type]
        self.strata = tuple(range(len(space.strata))) if strata is None else strata

    @cached_property
    def _laws(self) -> dict[int, QuadratureLaw]:
        return {k: QuadratureLaw(self.space.charts[k], self.score) for k in self.strata}

    @cached_property
    def _reaches(self) -> dict[int, tuple[np.ndarray, np.ndarray, float]]:
        """Balls that hold each stratum's keys: centres, radii, and the largest log-weight."""
        found = {}
        for k, law in self._laws.items():
            points = sampled_points(*law._base)
            places = law._keys(points)
            centres = places[:, places.shape[1] // 2]
            heaviest = float(np.max(law._log_weights(points)))
            found[k] = centres, MARGIN * extent(places, centres), heaviest
        return found

    def _bound(self, k: int, query: np.ndarray, beta: float, power: int) -> float:
        """An upper bound of log m_k ∫ K^p dν_k."""
        centres, radii, heaviest = self._reaches[k]
        nearest = np.min(np.maximum(np.linalg.norm(query - centres, axis=1) - radii, 0))
        return float(np.log(self.space.masses[k]) + power * (heaviest - beta * nearest**2))

    def _pair(self, x: np.ndarray, beta: float, power: int, level: int) -> tuple[Rule, Rule]:
        query = self._query(x, beta)
        bounds = {k: self._bound(k, query, beta, power) for k in self.strata}
        parts: list[tuple[int, Rule, Rule]] = []
        total = -np.inf
        for k in sorted(bounds, key=lambda k: (k != x[0], -bounds[k])):
            if bounds[k] < total - CUTOFF:
                continue
            fine, coarse = self._laws[k].pair(query, beta, power, level)
            parts.append((k, fine, coarse))
            total = np.logaddexp(total, fine.log_mass + np.log(self.space.masses[k]))
        return (
            self._joined([(k, fine) for k, fine, _ in parts]),
            self._joined([(k, coarse) for k, _, coarse in parts]),
        )

    def _joined(self, parts: list[tuple[int, Rule]]) -> Rule:
        logs = np.array([rule.log_mass + np.log(self.space.masses[k]) for k, rule in parts])
        total = float(np.logaddexp.reduce(logs))
        points = [self.space.points(k, rule.points) for k, rule in parts]
        weights = [
            np.exp(log - total) * rule.weights for log, (_, rule) in zip(logs, parts, strict=True)
        ]
        return Rule(np.concatenate(points), np.concatenate(weights), total)

    def refuse_outside(self, x: np.ndarray) -> None:
        """Say which points (..., 1 + d) lie on no stratum, or off their own.

        Raises
        ------
        InvalidInputError
        """
        self.space.located(x)


@step_law.register
@lru_cache(maxsize=64)
def _(space: StratifiedSpace, score: Distance) -> StratifiedLaw:
    return StratifiedLaw(space, score)
