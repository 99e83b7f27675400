"""Exact weights at N = ∞ where they depend on one coordinate: circles and surfaces of revolution.

On a surface of revolution with points (r(s) cos φ, r(s) sin φ, z(s)) and a density of s alone, the
kernel averaged over the rotation is

    K̄(s, t) = exp(-β [(r(s) - r(t))² + (z(s) - z(t))²]) I₀ₑ(2β r(s) r(t)),   I₀ₑ(w) = e^-w I₀(w),

smooth in both coordinates also at a pole, so q_β, Sinkhorn's potential and bridge potentials solve
equations in one variable. A plane curve is the same without the rotation. Integrals are sums over
a trapezoid (closed profile) or Gauss-Legendre (open one) rule that resolves the bandwidth, refined
until the answer no longer changes; the answer is the smooth function of s that the equation
itself extends from the nodes (Nyström), stored as a Fourier or Chebyshev series.

References: Kress, Linear Integral Equations, ch. 12 (Nyström); Peyré and Cuturi, Computational
Optimal Transport, 2019, ch. 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial, singledispatch

import numpy as np
import sympy
from numpy.polynomial import Chebyshev, polynomial
from scipy import special

from ..arrays import real_array
from ..errors import NoReferenceError, NotConvergedError, QuadratureError, require_positive
from ..spaces import Chart, Circle, Space, Sphere
from ..spaces.expressions import symbol

Function = Callable[[np.ndarray], np.ndarray]
"""Values at coordinates s of any shape, in the same shape."""

TOLERANCE = 1e-12
_NODES_A_SIGMA = 1.4  # leaves exp(-2π² 1.4²) = 2e-17 to a trapezoid rule
_MOST_NODES = 8192
_PLENTY = 1000  # nodes from which on refinements must fall fast enough to arrive in time
_TAIL = 1e-13  # coefficients of a series that count as rounding


@dataclass(frozen=True)
class Profile:
    """A plane curve, or the profile of a surface of revolution, with a density along it.

    Parameters
    ----------
    curve : callable
        Coordinates s (...) → (r, z), shape (..., 2); r ≥ 0 where rotating.
    log_density : callable
        s → log of the law's density per unit of s (all of the rotation included), up to a
        constant; read inside the interval only.
    interval : (float, float)
        Range of s.
    periodic : bool
        Whether the profile is closed and everything on it a smooth periodic function of s.
    rotating : bool
        Whether the surface or the curve itself is meant.
    coordinate : callable
        Points (..., D) → s (...).
    point : callable, optional
        s (...) → a point with that coordinate.
    """

    curve: Function
    log_density: Function
    interval: tuple[float, float]
    periodic: bool
    rotating: bool
    coordinate: Function
    point: Function | None = None


def revolution(
    radius: Function, height: Function, log_density: Function, coordinate: Function
) -> Profile:
    """A closed profile r(v), z(v), v in [0, 2π), rotated about the axis r = 0.

    Parameters
    ----------
    radius, height : callable
        r(v) > 0 and z(v), smooth and 2π-periodic.
    log_density : callable
        v → log of the density per unit of v, up to a constant: log(ρ(v) r(v) |(r', z')(v)|).
    coordinate : callable
        Points (..., 3) → v (...).
    """
    return Profile(
        lambda v: np.stack([radius(v), height(v)], axis=-1),
        log_density, (0.0, 2 * np.pi), True, True, coordinate,
    )  # fmt: skip


@singledispatch
def profile_of(space: Space) -> Profile:
    """The profile of a space whose kernel and density depend on one coordinate.

    Raises
    ------
    NoReferenceError
        When no such coordinate is known.
    """
    raise NoReferenceError(
        f"no profile is known for {type(space).__name__}; register one with "
        "convergence.limits.profile_of.register"
    )


@profile_of.register
def _(space: Circle) -> Profile:
    def log_density(theta: np.ndarray) -> np.ndarray:
        return space.at(theta) @ space.concentration / space.radius

    return Profile(space.at, log_density, (-np.pi, np.pi), True, False, space.angle, space.at)


@profile_of.register
def _(space: Sphere) -> Profile:
    """s is the angle to the density's axis: near a pole its cosine would lose digits."""
    if space.d != 2:
        raise NoReferenceError(f"a rotation profile is known for S^2, not for S^{space.d}")
    axis = space.concentration / space.kappa if space.kappa else np.array([0.0, 0.0, 1.0])

    def curve(s: np.ndarray) -> np.ndarray:
        return space.radius * np.stack([np.sin(s), np.cos(s)], axis=-1)

    def log_density(s: np.ndarray) -> np.ndarray:
        return space.kappa * np.cos(s) + np.log(np.sin(s))

    def coordinate(x: np.ndarray) -> np.ndarray:
        along = x @ axis
        return np.arctan2(np.linalg.norm(x - along[..., None] * axis, axis=-1), along)

    return Profile(curve, log_density, (0.0, np.pi), False, True, coordinate)


@profile_of.register
def _(space: Chart) -> Profile:
    """A curve, or a surface of revolution about the third feature, recognised symbolically."""
    if space.dim == 1:
        axis, kept = 0, slice(None)
    else:
        axis, kept = _turned_axis(space), slice(0, None, 2)  # r and z where the angle is zero
    coordinate = space.coordinates[axis]

    def point(s: np.ndarray) -> np.ndarray:
        return real_array("s", s, finite=False)[..., None] * np.eye(space.dim)[axis]

    return Profile(
        curve=lambda s: space.features(point(s))[..., kept],
        log_density=lambda s: space.unnormalised_log_density(point(s)),
        interval=(coordinate.low, coordinate.high),
        periodic=coordinate.periodic,
        rotating=space.dim == 2,
        coordinate=lambda x: x[..., axis],
        point=point,
    )


@lru_cache(maxsize=64)
def _turned_axis(space: Chart) -> int:
    """Which coordinate runs along the profile, where the other is an angle of rotation."""
    if space.dim == 2 and space.ambient_dim == 3:
        x, y, z = space.features_expressions
        for axis, angle in ((0, space.coordinates[1]), (1, space.coordinates[0])):
            turn = symbol(angle.name)
            along = sympy.simplify(x * sympy.cos(turn) + y * sympy.sin(turn))
            across = sympy.simplify(x * sympy.sin(turn) - y * sympy.cos(turn))
            free = (z, space.log_density_parsed, along)
            whole = angle.periodic and np.isclose(angle.length, 2 * np.pi, rtol=1e-14)
            if whole and across == 0 and not any(e.has(turn) for e in free):
                return axis
    raise NoReferenceError(
        f"{space} is no surface of revolution about its third feature with a density of the "
        "profile's coordinate alone: no profile is known for it"
    )


class Rule:
    """Quadrature nodes on a profile at one β, with the probability masses of ν."""

    def __init__(self, profile: Profile, beta: float, n: int) -> None:
        self.profile, self.beta = profile, beta
        low, high = profile.interval
        if profile.periodic:
            self.nodes, weights = low + (high - low) * np.arange(n) / n, np.full(n, 1 / n)
        else:
            nodes, weights = special.roots_legendre(n)
            self.nodes = low + 0.5 * (high - low) * (nodes + 1)
        self.places = profile.curve(self.nodes)
        log_density = profile.log_density(self.nodes)
        if not (np.all(np.isfinite(self.places)) and np.isfinite(np.max(log_density))):
            raise QuadratureError(
                "the profile's curve or density is not finite somewhere, or its density vanishes "
                "everywhere: give a finite embedding with a regular metric, and a finite density"
            )
        masses = weights * np.exp(log_density - np.max(log_density))
        self.masses = masses / np.sum(masses)

    @property
    def resolved(self) -> bool:
        """Whether neighbouring nodes lie close enough for the bandwidth 1/sqrt(2β)."""
        gap = np.max(np.linalg.norm(np.diff(self.places, axis=0), axis=1))
        return bool(gap * _NODES_A_SIGMA * np.sqrt(2 * self.beta) <= 1)

    def log_kernel(self, s: np.ndarray) -> np.ndarray:
        """log K̄ from coordinates s (m,) to the nodes, shape (m, n)."""
        places = self.profile.curve(s)
        squares = np.sum((places[:, None] - self.places) ** 2, axis=-1)
        if not self.profile.rotating:
            return -self.beta * squares
        product = 2 * self.beta * places[:, 0, None] * self.places[:, 0]
        return -self.beta * squares + np.log(special.ive(0, product))

    def log_mean(self, log_kernel: np.ndarray, x: np.ndarray) -> np.ndarray:
        """log ∫ K̄(s, t) e^{x(t)} dν(t) from rows of `log_kernel` and x at the nodes."""
        exponents = log_kernel + (x + np.log(self.masses))
        top = np.max(exponents, axis=1)
        return top + np.log(np.sum(np.exp(exponents - top[:, None]), axis=1))

    def extended(self, x: np.ndarray, log_marginal: Function | None = None) -> Function:
        """s → log a(s) - log ∫ K̄(s, t) e^{x(t)} dν(t), stored as a series in s."""

        def exact(s: np.ndarray) -> np.ndarray:
            mean = self.log_mean(self.log_kernel(s), x)
            return -mean if log_marginal is None else log_marginal(s) - mean

        return series(exact, self.profile.interval, self.profile.periodic)


def series(f: Function, interval: tuple[float, float], periodic: bool) -> Function:
    """A smooth function as its Fourier or Chebyshev series, to rounding.

    Raises
    ------
    NotConvergedError
        When the coefficients do not fall to rounding.
    """
    n = 32
    while n <= _MOST_NODES:
        coefficients = _fourier(f, interval, n) if periodic else _chebyshev(f, interval, n)
        size = np.abs(coefficients)
        scale = max(1.0, float(np.max(size)))
        if np.max(size[-(n // 8) :]) <= _TAIL * scale:
            kept = coefficients[: 1 + int(np.flatnonzero(size > 0.1 * _TAIL * scale)[-1])]
            return partial(_fourier_sum, kept, interval) if periodic else Chebyshev(kept, interval)
        n *= 2
    raise NotConvergedError(
        f"the potential is not resolved by {_MOST_NODES} modes; take a smaller beta or a smoother "
        "density"
    )


def _chebyshev(f: Function, interval: tuple[float, float], n: int) -> np.ndarray:
    return np.asarray(Chebyshev.interpolate(f, n, interval).coef)


def _fourier(f: Function, interval: tuple[float, float], n: int) -> np.ndarray:
    low, high = interval
    coefficients = np.fft.rfft(f(low + (high - low) * np.arange(n) / n))[: n // 2] / n
    coefficients[1:] *= 2
    return coefficients


def _fourier_sum(
    coefficients: np.ndarray, interval: tuple[float, float], s: np.ndarray
) -> np.ndarray:
    low, high = interval
    wave = np.exp(2j * np.pi * (real_array("s", s, finite=False) - low) / (high - low))
    return np.real(polynomial.polyval(wave, coefficients))


def _refuse_rough(n: int, before: float, change: float, goal: float) -> None:
    """Raise QuadratureError where changes that go on falling like these do not reach the goal.

    On a smooth profile they fall ever faster, as a kink or a pole in the density does not let them.
    """
    left = np.log(_MOST_NODES / n) / np.log(1.5)
    rate = change / before  # zero where there was none before
    if n >= _PLENTY and not change * rate**left <= goal:
        raise QuadratureError(
            f"{n} nodes on the profile leave a change of {change:.1e}, which falls too slowly: "
            "give a smooth density and embedding"
        )


def refined(
    profile: Profile, beta: float, solve: Callable[[Rule], tuple[Function, ...]]
) -> tuple[Function, ...]:
    """The functions that `solve` finds on a rule fine enough to change nothing any more.

    Raises
    ------
    QuadratureError
        When curve or density are not finite, or so rough that refinement leads nowhere.
    NotConvergedError
        When `_MOST_NODES` nodes are not enough.
    """
    require_positive("beta", beta)
    n, found, change = 64, None, np.inf
    low, high = profile.interval
    s = low + (high - low) * (np.arange(101) + 0.5) / 101
    while n <= _MOST_NODES:
        rule = Rule(profile, beta, n)
        if rule.resolved:
            last, found = found, solve(rule)
            if last is not None:
                new, old = (np.stack([f(s) for f in functions]) for functions in (found, last))
                goal = TOLERANCE * max(1.0, np.max(np.abs(new)))
                before, change = change, np.max(np.abs(new - old))
                if change <= goal:
                    return found
                _refuse_rough(n, before, change, goal)
            n = 3 * n // 2
        else:
            n = 5 * n // 4
    raise NotConvergedError(
        f"{_MOST_NODES} nodes do not resolve the kernel at beta = {beta:g}; take a smaller beta"
    )
