"""Per-point metrics G(x): the two limits, and exact expectations by quadrature.

The one-sided score takes G at the query alone; its kernel is Gaussian in the coordinates with
covariance G(x)⁻¹/(2β), so only the coordinate density q gives a drift (Itô form). The symmetrised
score sees the slope of G too, and what it adds is just what makes the limit geometric:

    one-sided     𝒞f = -ħ G^{ab}(∂_a∂_b f + 2 ∂_a log q ∂_b f)
    symmetrised   𝒞f = -ħ Δ_G f + 2⟨dΦ, df⟩_G,   Φ = -ħ log ρ,   ρ = q / sqrt(det G)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import sympy

from ..arrays import real_array
from ..errors import InvalidInputError, NoReferenceError
from ..scores import PerPointMetric
from ..scores.per_point_metric import metric_coordinates
from ..spaces import Polynomial, SmoothFunction, Space
from .coordinates import Coordinates
from .law import StepLaw, as_polynomial, log_density, score_law
from .witten import second_and_first_order

# exp(-40) = 4e-18: what lies beyond cannot be seen in float64
_CUT = 40.0
# quadratures with the next two numbers of nodes an axis must agree to this accuracy, relative to
# the integral of the absolute value
_ACCURACY = 1e-13
_NODES = {1: (52, 66, 84, 120, 200, 400), 2: (52, 66, 84, 120, 200), 3: (52, 66, 84)}


@lru_cache(maxsize=64)
def _compiled(score: PerPointMetric, slope: bool) -> Callable[..., list[Any]]:
    """A function of the coordinates: the entries of G, or of ∂_c G for every c."""
    symbols, metric = metric_coordinates(score.dim), score.matrix
    parts = [metric.diff(s) for s in symbols] if slope else [metric]
    return sympy.lambdify(symbols, [e for part in parts for e in part], "numpy", cse=True)


def _evaluated(score: PerPointMetric, slope: bool, u: np.ndarray) -> np.ndarray:
    """The compiled entries at coordinates u (..., d), shape (..., entries)."""
    entries = _compiled(score, slope)(*np.moveaxis(u, -1, 0))
    found = np.stack([np.broadcast_to(e, u.shape[:-1]) for e in entries], axis=-1)
    if not np.all(np.isfinite(found)):
        raise InvalidInputError("the metric or its slope is not finite at some points")
    return found


def metric_at(score: PerPointMetric, u: np.ndarray) -> np.ndarray:
    """G at coordinates u (..., d), shape (..., d, d).

    Raises
    ------
    InvalidInputError
        When G is not positive definite, or not finite, at some point.
    """
    metric = _evaluated(score, False, u).reshape(*u.shape, score.dim)
    try:
        np.linalg.cholesky(metric)
    except np.linalg.LinAlgError as error:
        raise InvalidInputError(
            "the metric is not positive definite at some points: choose expressions for a "
            "positive definite G on the whole space"
        ) from error
    return metric


@second_and_first_order.register
def _(
    score: PerPointMetric, space: Space, f: SmoothFunction, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The two parts of the limit, one-sided or symmetrised."""
    x = real_array("points", x, finite=False)
    coordinates = Coordinates(space, score)
    u = coordinates.of(x)
    inverse = np.linalg.inv(metric_at(score, u))
    gradient, hessian = coordinates.gradient(f, x), coordinates.hessian(f, x)
    force = coordinates.log_density_gradient(x)
    second = -np.einsum("...ab,...ab->...", inverse, hessian)
    if score.symmetrised:
        slope = _evaluated(score, True, u).reshape(*u.shape, score.dim, score.dim)  # ∂_c G_ab
        # ∂_c log sqrt(det G) = ½ tr(G⁻¹ ∂_c G),   ∂_c G⁻¹ = -G⁻¹ (∂_c G) G⁻¹
        volume_slope = 0.5 * np.einsum("...ab,...cba->...c", inverse, slope)
        inverse_divergence = -np.einsum("...ab,...abc,...cd->...d", inverse, slope, inverse)
        # Δ_G f = G^{ab} ∂_a∂_b f + (∂_a G^{ab} + G^{ab} ∂_a log sqrt(det G)) ∂_b f
        contracted = inverse_divergence + np.einsum("...ab,...a->...b", inverse, volume_slope)
        second = second - np.einsum("...a,...a->...", contracted, gradient)
        force = force - volume_slope
    return second, -2 * np.einsum("...ab,...a,...b->...", inverse, force, gradient)


@log_density.register
def _(score: PerPointMetric, space: Space, x: np.ndarray) -> np.ndarray:
    """log q - ½ log det G."""
    coordinates = Coordinates(space, score)
    metric = metric_at(score, coordinates.of(x))
    return coordinates.log_density(x) - 0.5 * np.linalg.slogdet(metric)[1]


class MetricLaw(StepLaw):
    """The step law of a per-point metric, by quadrature local to every target.

    Tensor Gauss-Legendre in δ over the box that holds the set where the kernel exceeds exp(-40),
    or over the whole circle where that is larger. The number of nodes grows until two rules agree
    to 1e-13, relative to the integral of the absolute value.

    Raises
    ------
    NoReferenceError
        When the largest rules do not agree, or the dimension exceeds three.
    """

    def __init__(self, score: PerPointMetric, space: Space) -> None:
        self.score, self.space = score, space
        Coordinates(space, score)  # refuses what does not fit
        if score.dim not in _NODES:
            raise NoReferenceError("quadrature for per-point metrics knows dimensions 1 to 3 only")

    def log_mass(self, x: np.ndarray, beta: float, power: int) -> np.ndarray:
        return self._integral(None, x, beta, power)

    def mean_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        return self._integral(as_polynomial(f), x, beta, power)

    def mean_squared_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        return self._integral(as_polynomial(f), x, beta, power, moment=2)

    def _integral(
        self, f: Polynomial | None, x: np.ndarray, beta: float, power: int, moment: int = 1
    ) -> np.ndarray:
        x = real_array("points", x, finite=False)
        points = tuple(map(tuple, x.reshape(-1, x.shape[-1]).tolist()))
        found = _integral(self.score, self.space, f, points, beta, power, moment)
        return np.reshape(found, x.shape[:-1])


@lru_cache(maxsize=2048)
def _integral(
    score: PerPointMetric,
    space: Space,
    f: Polynomial | None,
    points: tuple[tuple[float, ...], ...],
    beta: float,
    power: int,
    moment: int,
) -> tuple[float, ...]:
    """The mean of (f(y) - f(x))^moment at every point, or without f the log-mass."""
    x = np.array(points)
    previous = np.full(len(points), np.inf)
    for nodes in _NODES[score.dim]:
        value, weights, step = _nodes_and_weights(score, space, points, beta, power, nodes)
        scale = np.ones(len(points))
        if f is not None:
            terms = weights * f.increment(x[:, None, :], step) ** moment
            value, scale = np.sum(terms, axis=1), np.sum(np.abs(terms), axis=1)
        if np.all(np.abs(value - previous) <= _ACCURACY * scale):
            return tuple(value.tolist())
        previous = value
    raise NoReferenceError(
        f"the quadrature of a per-point metric does not settle at beta = {beta:g}: take a larger "
        "beta, or smoother functions and metrics"
    )


@lru_cache(maxsize=16)
def _nodes_and_weights(
    score: PerPointMetric,
    space: Space,
    points: tuple[tuple[float, ...], ...],
    beta: float,
    power: int,
    nodes: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """log ∫ Kᵖ dν (T,), normalised weights (T, M) and steps y - x (T, M, D)."""
    coordinates, x = Coordinates(space, score), np.array(points)
    u, d = coordinates.of(x), score.dim
    metric = metric_at(score, u)
    # δᵀGδ ≤ r² implies |δ_a| ≤ r sqrt(G^{aa}); ½(G(x) + G(y)) may be as small as ½G(x)
    reach = (2 if score.symmetrised else 1) * _CUT / (power * beta)
    spread = np.sqrt(np.diagonal(np.linalg.inv(metric), axis1=-2, axis2=-1))
    half = np.minimum(np.sqrt(reach) * spread, coordinates.span)
    unit, weights = _gauss_legendre(nodes, d)
    delta = half[:, None, :] * unit
    step = coordinates.step(x, delta)
    moved = delta @ metric  # Gδ
    if score.symmetrised:
        other = metric_at(score, u[:, None, :] + delta)
        moved = 0.5 * (moved + np.einsum("tmab,tmb->tma", other, delta))
    square = np.sum(delta * moved, axis=-1)
    exponents = coordinates.log_density(x[:, None, :] + step) - power * beta * square
    top = np.max(exponents, axis=1)
    mass = weights * np.exp(exponents - top[:, None])
    total = np.sum(mass, axis=1)
    log_mass = top + np.log(total * np.prod(half, axis=1))
    return log_mass, mass / total[:, None], step


@lru_cache(maxsize=32)
def _gauss_legendre(nodes: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """The tensor rule on [-1, 1]^d: nodes (M, d) and weights (M,)."""
    node, weight = np.polynomial.legendre.leggauss(nodes)
    grids = (np.meshgrid(*[axis] * d, indexing="ij") for axis in (node, weight))
    points, weights = (np.stack(grid, axis=-1).reshape(-1, d) for grid in grids)
    return points, np.prod(weights, axis=-1)


@score_law.register
def _(score: PerPointMetric, space: Space) -> MetricLaw:
    return MetricLaw(score, space)
