"""The exact weight of the keys at N = ∞ and finite β, for every normalisation.

What a sample estimates by log-weights c_j is here a function log h(y) of the point. Put beside
the kernel under ν, it gives the exact step law.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

import numpy as np

from ..errors import NoReferenceError, require_positive
from ..scores import CoifmanLafon, Distance, KeyPotential, Normalisation, Sinkhorn, TargetMeasure
from ..spaces import Space
from .law import step_law
from .potentials import sinkhorn_potential
from .profile import profile_of

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
    potential = sinkhorn_potential(profile, beta)
    return lambda y: potential(profile.coordinate(y))


def _log_mass(space: Space, beta: float) -> LogWeight:
    """log q_β, from the step law of the plain kernel."""
    require_positive("beta", beta)
    law = step_law(space, Distance())
    return lambda y: law.log_mass(y, beta, 1)
