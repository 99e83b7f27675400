"""Log-weights c_j of the keys, from the sample: every normalisation in the one primitive.

Row normalisation cancels whatever depends on the query alone, so a two-sided form such as
K_ij / (q_i^α q_j^α) and the one-sided K_ij / q_j^α give the same P: a normalisation is a vector
c in exp(-β|x_i - y_j|² + c_j). It goes into ``Component(points, points, c)`` for an operator on
the sample, and into ``generator(..., log_weights=c)`` for an estimate elsewhere. A Doob transform
by h is c = log h.

q_j = Σ_k K_jk estimates N q_β(y_j); whether k = j belongs to it is always an explicit choice.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ..arrays import real_array
from ..errors import InvalidInputError, NotConvergedError, require_flag, require_real
from ..kernels import gaussian_sums
from ..scores import CoifmanLafon, Distance, KeyPotential, Normalisation, Sinkhorn, TargetMeasure
from .generator import UNDERFLOW, refuse_empty_rows
from .sinkhorn import sinkhorn


def log_row_sums(points: np.ndarray, beta: float, *, self_loops: bool) -> np.ndarray:
    """log q_j = log Σ_k exp(-β|y_j - y_k|²), shape (n,).

    Raises
    ------
    NoMassError
        When a point has no other within reach and self-loops are left out.
    """
    points = real_array("points", points)
    exclude = None if require_flag("self_loops", self_loops) else np.arange(len(points))
    log_q, _ = gaussian_sums(points, points, beta, exclude=exclude)
    refuse_empty_rows(log_q >= UNDERFLOW, beta)
    return log_q


def coifman_lafon(points: np.ndarray, beta: float, alpha: float, *, self_loops: bool) -> np.ndarray:
    """c_j = -α log q_j, the α-normalisation; α = 0 is the random walk.

    Its limit has the potential Φ = -ħ(1-α) log ρ: α = 1 removes the sampling density.

    Parameters
    ----------
    points : ndarray, shape (n, D)
    beta : float
    alpha : float
        Any real number.
    self_loops : bool
        Whether y_j itself counts in q_j.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    InvalidInputError, NoMassError

    References
    ----------
    Coifman and Lafon, Diffusion maps, 2006.
    """
    return -require_real("alpha", alpha) * log_row_sums(points, beta, self_loops=self_loops)


def target_measure(
    points: np.ndarray, beta: float, log_target: np.ndarray, *, self_loops: bool
) -> np.ndarray:
    """c_j = ½ log t(y_j) - log q_j, which makes t dV stationary in the limit.

    The weight h must satisfy (ρh)² ∝ t; q estimates ρ up to a constant, so h = t^½ / q.

    Parameters
    ----------
    points : ndarray, shape (n, D)
    beta : float
    log_target : ndarray, shape (n,)
        log t at the points, against the Riemannian volume, up to a constant.
    self_loops : bool
        Whether y_j itself counts in q_j.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    InvalidInputError, NoMassError
    """
    log_target = real_array("log_target", log_target, finite=False)
    if log_target.shape != (len(points),) or not np.all(np.isfinite(log_target)):
        raise InvalidInputError(
            f"log_target needs one finite number a point, ({len(points)},), "
            f"not an array {log_target.shape}: drop the points where the target vanishes"
        )
    return 0.5 * log_target - log_row_sums(points, beta, self_loops=self_loops)


def sample_log_weights(
    features: np.ndarray,
    score: Distance,
    beta: float,
    *,
    self_loops: bool,
    points: np.ndarray | None = None,
    tolerance: float = 1e-12,
) -> np.ndarray:
    """The complete log-weights c_j of a score at the points of a sample.

    Parameters
    ----------
    features : ndarray, shape (n, D)
    score : Distance
        With its normalisation.
    beta : float
    self_loops : bool
        Whether the pairs (j, j) belong to the kernel that is normalised.
    points : ndarray, optional
        Where functions of the normalisation are evaluated: on a chart its coordinates (n, d);
        the features by default.
    tolerance : float
        Of the marginals, where weights are found by iteration.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    InvalidInputError, NoMassError, InfeasibleError
    NotConvergedError
        When Sinkhorn's iteration does not reach its tolerance.
    """
    features = real_array("features", features)
    points = features if points is None else real_array("points", points)
    require_flag("self_loops", self_loops)
    weights = _weights(score.normalisation, features, points, beta, self_loops, tolerance)
    doob = score.doob_log_weights(features)
    return weights if doob is None else weights + doob


@singledispatch
def _weights(
    normalisation: Normalisation,
    features: np.ndarray,
    points: np.ndarray,
    beta: float,
    self_loops: bool,
    tolerance: float,
) -> np.ndarray:
    raise InvalidInputError(f"{normalisation!r} is no normalisation of convergence.scores")


@_weights.register
def _(normalisation: CoifmanLafon, features, points, beta, self_loops, tolerance) -> np.ndarray:
    if normalisation.alpha == 0:
        return np.zeros(len(features))
    return coifman_lafon(features, beta, normalisation.alpha, self_loops=self_loops)


@_weights.register
def _(normalisation: TargetMeasure, features, points, beta, self_loops, tolerance) -> np.ndarray:
    log_target = normalisation.log_density(points)
    return target_measure(features, beta, log_target, self_loops=self_loops)


@_weights.register
def _(normalisation: KeyPotential, features, points, beta, self_loops, tolerance) -> np.ndarray:
    return normalisation.log_weight(points)


@_weights.register
def _(normalisation: Sinkhorn, features, points, beta, self_loops, tolerance) -> np.ndarray:
    log_a = normalisation.log_marginal
    marginal = None if log_a is None else np.exp(log_a(points))
    found = sinkhorn(features, beta, self_loops=self_loops, marginal=marginal, tolerance=tolerance)
    if not found.converged:
        raise NotConvergedError(
            f"Sinkhorn's marginals are still {found.marginal_error:.1e} off after "
            f"{found.iterations} iterations; take a smaller beta or keep the self-loops"
        )
    return found.log_weights
