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

from ..errors import InvalidInputError
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

    Raises
    ------
    InvalidInputError
        When the rays start at different points, are not of unit speed, or a function is not
        continuous there.
    """
    starts = np.concatenate([space.along(ray, np.zeros(1)) for ray in rays])
    places = space.features(starts)
    values = np.array([[f(start[None])[0] for f in functions] for start in starts])
    directions = np.stack(
        [
            space.charts[r.stratum].jacobian(np.asarray(r.start)) @ np.asarray(r.direction)
            for r in rays
        ]
    )
    if not np.allclose(places, places[0], rtol=0, atol=1e-12):
        raise InvalidInputError("the rays of a layer start at one point")
    if not np.allclose(np.linalg.norm(directions, axis=1), 1, rtol=0, atol=1e-9):
        raise InvalidInputError("the rays of a layer have unit speed among the features")
    if not np.allclose(values, values[0], rtol=0, atol=1e-9):
        raise InvalidInputError("the test functions of a layer are continuous where strata meet")
    slopes = np.array([[f.slope(ray) for f in functions] for ray in rays])
    return Layer(directions, np.exp(space.log_density(starts)), slopes)


def tangent_share(s: float) -> float:
    """e^{-s⁴}/(1 + e^{-s⁴}): the other sheet's part at distance s β^-1/4 from where two touch.

    For sheets of curvature one on either side of their common tangent plane, with equal densities.
    """
    return float(special.expit(-(s**4)))


def strata_generator(
    space: StratifiedSpace, f: StrataFunction, x: np.ndarray, hbar: float = 1.0
) -> np.ndarray:
    """The limit of 𝒞_β f away from the singular set: each stratum's own generator, shape (...)."""
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
    """
    x = np.concatenate([space.along(ray, np.zeros(1)) for ray in rays])
    weights = np.exp(space.log_density(x))
    return float(weights @ strata_generator(space, f, x, hbar) / np.sum(weights))
