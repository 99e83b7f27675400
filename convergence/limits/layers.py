"""Limits on stratified spaces: on each stratum, and in the layer around where strata meet.

Half-lines with unit directions u_k, densities ρ_k and slopes f'_k leave one point (half-spaces
that share an edge are the same, seen across it). At distance s/sqrt β along the first, the kernel
sees the k-th, c_k = ⟨u_0, u_k⟩, with the mass and the first moment

    m_k = e^{-s²(1-c_k²)} (sqrt π/2)(1 + erf(s c_k))        t_k = e^{-s²}/2 + s c_k m_k

so that

    sqrt β (P - I) f → Σ_k ρ_k f'_k t_k / Σ_k ρ_k m_k - s f'_0,

with an error of order β^-1/2. One half-line is a boundary: f' e^{-s²}/(sqrt π (1 + erf s)). At
s = 0, sqrt(πβ)(P - I) f is the mean of the outgoing derivatives. Two lines that cross are four
half-lines: the other line has the relative weight e^{-s² sin²ω}.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from ..errors import InvalidInputError, require_real
from ..scores import Distance
from ..spaces import Ray, StrataFunction, StratifiedSpace
from ..spaces.strata import by_stratum
from .witten import generator


@dataclass(frozen=True)
class Layer:
    """Half-lines, or half-spaces with one edge, that meet: what the kernel sees near there.

    Parameters
    ----------
    directions : ndarray, shape (rays, D)
        Of unit length.
    densities : ndarray, shape (rays,)
        ρ_k at the meeting point, each stratum's mass included.
    slopes : ndarray, shape (rays, functions)
        Outgoing derivatives of the test functions.
    """

    directions: np.ndarray
    densities: np.ndarray
    slopes: np.ndarray

    def masses(self, ray: int, s: float) -> np.ndarray:
        """ρ_k m_k, what the kernel sees of every ray from distance s/sqrt β; shape (rays,)."""
        if require_real("s", s) < 0:
            raise InvalidInputError(f"distances from where strata meet are s ≥ 0, not {s!r}")
        cosine = self.directions @ self.directions[ray]
        decay = np.exp(-(s**2) * np.maximum(1 - cosine**2, 0))
        return self.densities * decay * np.sqrt(np.pi) / 2 * (1 + special.erf(s * cosine))

    def profile(self, ray: int, s: float) -> np.ndarray:
        """The limit of sqrt β (P - I) f at distance s/sqrt β along a ray, shape (functions,)."""
        cosine, masses = self.directions @ self.directions[ray], self.masses(ray, s)
        moments = self.densities * np.exp(-(s**2)) / 2 + s * cosine * masses
        return moments @ self.slopes / np.sum(masses) - s * self.slopes[ray]


def layer(
    space: StratifiedSpace, rays: Sequence[Ray], functions: Sequence[StrataFunction]
) -> Layer:
    """The layer where rays meet, one ray for every stratum that ends or passes there each way.

    Parameters
    ----------
    space : StratifiedSpace
    rays : sequence of Ray
        From the meeting point.
    functions : sequence of StrataFunction

    Returns
    -------
    Layer

    Raises
    ------
    InvalidInputError
        When the rays start at different points, on strata of different dimensions or where a
        chart is degenerate (a cone's apex), are not of unit speed, or a function is not
        continuous there.
    """
    starts = _meeting_point(space, rays)
    values = np.array([[f(start[None])[0] for f in functions] for start in starts])
    directions = np.stack(
        [
            space.charts[r.stratum].jacobian(np.asarray(r.start)) @ np.asarray(r.direction)
            for r in rays
        ]
    )
    if not np.allclose(np.linalg.norm(directions, axis=1), 1, rtol=0, atol=1e-9):
        raise InvalidInputError("the rays of a layer have unit speed among the features")
    if not np.allclose(values, values[0], rtol=0, atol=1e-9):
        raise InvalidInputError("the test functions of a layer are continuous where strata meet")
    slopes = np.array([[f.slope(ray) for f in functions] for ray in rays])
    return Layer(directions, np.exp(space.log_density(starts)), slopes)


def _meeting_point(space: StratifiedSpace, rays: Sequence[Ray]) -> np.ndarray:
    """Where rays start, one row (1 + d) each: one regular point of strata of one dimension."""
    starts = np.concatenate([space.along(ray, np.zeros(1)) for ray in rays])
    places = space.features(starts)
    if not np.allclose(places, places[0], rtol=0, atol=1e-12):
        raise InvalidInputError("the rays of a layer start at one point")
    if len(set(space.local_dim(starts))) > 1:
        raise InvalidInputError("the strata of a layer have one dimension")
    for ray in rays:
        jacobian = space.charts[ray.stratum].jacobian(np.asarray(ray.start))
        if not np.linalg.matrix_rank(jacobian) == jacobian.shape[1]:
            raise InvalidInputError(
                f"{space.charts[ray.stratum]} is degenerate at {ray.start}, where a ray starts"
            )
    return starts


def tangent_share(s: float) -> float:
    """e^{-s⁴}/(1 + e^{-s⁴}): the other sheet's part at distance s β^-1/4 from where two touch.

    For sheets of curvature one on either side of their common tangent plane, with equal densities.
    """
    return float(special.expit(-(require_real("s", s) ** 4)))


def strata_generator(
    space: StratifiedSpace, f: StrataFunction, x: np.ndarray, hbar: float = 1.0
) -> np.ndarray:
    """The limit of 𝒞_β f away from the singular set: each stratum's own generator.

    Parameters
    ----------
    space : StratifiedSpace
    f : StrataFunction
    x : ndarray, shape (..., 1 + d)
    hbar : float

    Returns
    -------
    ndarray, shape (...)
    """
    x = space.located(x)
    pieces = [
        (chart.dim, lambda y, c=chart, g=g: generator(c, Distance(), g, y, hbar))
        for chart, g in zip(space.charts, f.pieces, strict=True)
    ]
    return by_stratum(x, pieces)


def crossing_generator(
    space: StratifiedSpace, rays: Sequence[Ray], f: StrataFunction, hbar: float = 1.0
) -> float:
    """The limit of 𝒞_β f exactly where strata of one dimension cross smoothly.

    Σ ρ_k 𝒞_k f / Σ ρ_k; for two lines of equal density -(ħ/2)(f₁'' + f₂'').

    Parameters
    ----------
    space : StratifiedSpace
    rays : sequence of Ray
        From the crossing; one for every stratum that passes.
    f : StrataFunction
    hbar : float

    Returns
    -------
    float

    Raises
    ------
    InvalidInputError
        As in `layer`, and when a stratum ends there.
    """
    x = _meeting_point(space, rays)
    for ray in rays:
        for value, c in zip(ray.start, space.charts[ray.stratum].coordinates, strict=True):
            if not (c.periodic or c.low < value < c.high):
                raise InvalidInputError(
                    f"stratum {ray.stratum} ends where the rays start: there the walk leans "
                    "inwards and has no such limit"
                )
    weights = np.exp(space.log_density(x))
    return float(weights @ strata_generator(space, f, x, hbar) / np.sum(weights))
