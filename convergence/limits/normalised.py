"""The exact weight of the keys at N = ∞ and finite β, for every normalisation.

What a sample estimates by log-weights c_j is here a function log h(y) of the point. Put beside
the kernel under ν, it gives the exact step law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, singledispatch

import numpy as np

from ..errors import NoReferenceError, require_positive
from ..scores import (
    RANDOM_WALK,
    CoifmanLafon,
    Distance,
    KeyPotential,
    Normalisation,
    Sinkhorn,
    TargetMeasure,
)
from ..spaces import Chart, SmoothFunction, Space
from .law import StepLaw, step_law
from .potentials import log_mass, sinkhorn_potential
from .profile import Profile, profile_of
from .quadrature import QuadratureLaw

LogWeight = Callable[[np.ndarray], np.ndarray]
"""log h at points of shape (..., D), up to a constant."""


@singledispatch
def log_weight(normalisation: Normalisation, space: Space, beta: float) -> LogWeight:
    """log h of a normalisation, as a function of the point.

    Coifman-Lafon and target measures need q_β(y) = ∫ exp(-β|y - z|²) dν(z) (`step_law`), Sinkhorn
    a space that depends on one coordinate (`profile_of`).

    Parameters
    ----------
    normalisation : Normalisation
    space : Space
    beta : float

    Returns
    -------
    callable
        Points (..., D) → log h (...).

    Raises
    ------
    InvalidInputError
    NoReferenceError
        When the weight is not known on this space.
    """
    raise NoReferenceError(f"no exact weight is known for the normalisation {normalisation!r}")


@log_weight.register
def _(normalisation: CoifmanLafon, space: Space, beta: float) -> LogWeight:
    log_q = _log_mass(space, beta)
    return lambda y: -normalisation.alpha * log_q(y)


@log_weight.register
def _(normalisation: TargetMeasure, space: Space, beta: float) -> LogWeight:
    log_q = _log_mass(space, beta)
    return lambda y: 0.5 * normalisation.log_density(y) - log_q(y)


@log_weight.register
def _(normalisation: KeyPotential, space: Space, beta: float) -> LogWeight:
    return normalisation.log_weight


@log_weight.register
def _(normalisation: Sinkhorn, space: Space, beta: float) -> LogWeight:
    profile = profile_of(space)
    marginal = _along(profile, space, normalisation.log_marginal)
    potential = sinkhorn_potential(profile, beta, marginal)
    return lambda y: potential(profile.coordinate(y))


def _along(profile: Profile, space: Space, f: SmoothFunction | None) -> LogWeight | None:
    """A function of the point as one of the profile's coordinate, which it must depend on alone."""
    if f is None:
        return None
    point, x = profile.point, space.candidates()
    if point is None or not np.allclose(f(x), f(point(profile.coordinate(x))), rtol=0, atol=1e-9):
        raise NoReferenceError(
            "the marginal must depend on the profile's coordinate alone, like the density"
        )
    return lambda s: f(point(s))


def _log_mass(space: Space, beta: float) -> LogWeight:
    """log q_β, from the step law of the plain kernel, on a chart from its profile."""
    require_positive("beta", beta)
    if isinstance(space, Chart):
        profile = profile_of(space)
        along = log_mass(profile, beta)
        return lambda y: along(profile.coordinate(y))
    law = step_law(space, Distance())
    return lambda y: law.log_mass(y, beta, 1)


class NormalisedLaw(StepLaw):
    """The step law on a chart of a kernel whose keys carry the weight of a normalisation.

    Parameters
    ----------
    space : Chart
    score : Distance
    """

    def __init__(self, space: Chart, score: Distance) -> None:
        self.space, self.score = space, score
        self._laws: dict[float, QuadratureLaw] = {}

    def _at(self, beta: float) -> QuadratureLaw:
        if beta not in self._laws:
            weight = log_weight(self.score.normalisation, self.space, beta)
            plain = replace(self.score, normalisation=RANDOM_WALK)
            self._laws[beta] = QuadratureLaw(self.space, plain, weight)
        return self._laws[beta]

    def log_mass(self, x: np.ndarray, beta: float, power: int) -> np.ndarray:
        return self._at(beta).log_mass(x, beta, power)

    def mean_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        return self._at(beta).mean_increment(f, x, beta, power)

    def mean_squared_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        return self._at(beta).mean_squared_increment(f, x, beta, power)


@step_law.register
@lru_cache(maxsize=64)
def _(space: Chart, score: Distance) -> StepLaw:
    plain = score.normalisation == RANDOM_WALK
    return QuadratureLaw(space, score) if plain else NormalisedLaw(space, score)
