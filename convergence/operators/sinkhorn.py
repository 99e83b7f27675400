"""Sinkhorn's scaling of a symmetric kernel, matrix-free and in the log domain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching, maximum_flow
from scipy.spatial import cKDTree

from ..errors import InfeasibleError, InvalidInputError
from ..kernels import gaussian_sums
from .generator import UNDERFLOW

# Near the solution the residual log(u Ku) changes by I + P, and a Gaussian kernel with self-loops
# has 0 <= P <= 1: the heavy-ball method for a spectrum in [1, 2], rate (√2-1)/(√2+1) = 0.17.
STEP = 4 / (1 + np.sqrt(2)) ** 2
MOMENTUM = ((np.sqrt(2) - 1) / (np.sqrt(2) + 1)) ** 2

UNSEEN = 37.0  # a pair below exp(-37) of both its rows cannot be seen in float64
_MOST_PAIRS = 50_000_000
_FLOW_UNITS = 2**30  # that a marginal's total is counted in, where a flow decides


@dataclass(frozen=True)
class Scaling:
    """A symmetric scaling u_i K_ij u_j with given row sums.

    Attributes
    ----------
    log_weights : ndarray, shape (n,)
        log u: the log-weights of the keys, ready for ``Component(points, points, log_weights)``.
    converged : bool
        Whether the tolerance was reached; nothing else may be used if not.
    iterations : int
        Kernel sums used.
    marginal_error : float
        Largest |log(row sum / marginal)|, the relative error of the worst row.
    """

    log_weights: np.ndarray
    converged: bool
    iterations: int
    marginal_error: float


def sinkhorn(
    points: np.ndarray,
    beta: float,
    *,
    self_loops: bool,
    marginal: np.ndarray | None = None,
    tolerance: float = 1e-12,
    max_iterations: int = 500,
) -> Scaling:
    r"""Scale K_ij = exp(-β|x_i - x_j|²) to a symmetric matrix with given row sums.

    .. math::

        u_i \sum_j K_{ij} u_j = a_i

    by :math:`x \leftarrow x - \omega (x + \log K e^x - \log a) + \mu (x - x_{old})`,
    :math:`x = \log u`; ω = ½ and μ = 0 would be the damped iteration u ← sqrt(u a / Ku). One
    kernel sum an iteration, about 15 in all where self-loops are kept.

    Parameters
    ----------
    points : ndarray, shape (n, D)
    beta : float
    self_loops : bool
        Whether the pairs (i, i) belong to the kernel. With them a scaling always exists.
    marginal : ndarray, shape (n,), optional
        a, positive; ones by default, the doubly stochastic scaling.
    tolerance : float
        On `Scaling.marginal_error`; never asked below the rounding of the potentials.
    max_iterations : int
        Kernel sums allowed; one is always used, and says how far u = 1 is off.

    Returns
    -------
    Scaling

    Raises
    ------
    InvalidInputError
    InfeasibleError
        When a row has no mass or, without self-loops, no matrix supported on the pairs that
        float64 can see has the row and column sums a (for a = 1: they hold no perfect matching).

    References
    ----------
    Sinkhorn and Knopp, 1967. Marshall and Coifman, Manifold learning with bi-stochastic kernels,
    2019.
    """
    points = np.asarray(points, dtype=float)
    log_a = log_marginal("marginal", marginal, len(points))
    exclude = None if self_loops else np.arange(len(points))
    log_mass, _ = gaussian_sums(points, points, beta, exclude=exclude)
    refuse_no_mass("rows", log_mass, beta)
    if not self_loops:
        _refuse_infeasible(points, beta, log_mass, np.exp(log_a))
    if max_iterations < 2:  # that first sum says how far u = 1 is off
        error = float(np.max(np.abs(log_mass - log_a)))
        return Scaling(np.zeros(len(points)), error <= tolerance, 1, error)
    x = old = 0.5 * (log_a - log_mass)
    for iteration in range(2, max_iterations + 1):
        log_mass, _ = gaussian_sums(points, points, beta, x, exclude=exclude)
        residual = x + log_mass - log_a
        error = float(np.max(np.abs(residual)))
        if error <= max(tolerance, 4 * np.finfo(float).eps * np.max(np.abs(x))):
            return Scaling(x, True, iteration, error)
        x, old = x - STEP * residual + MOMENTUM * (x - old), x
    return Scaling(old, False, max_iterations, error)


def log_marginal(name: str, marginal: np.ndarray | None, n: int) -> np.ndarray:
    """log of a positive marginal of n masses, zeros where there is none."""
    if marginal is None:
        return np.zeros(n)
    masses = np.asarray(marginal, dtype=float)
    if masses.shape != (n,) or not (np.all(masses > 0) and np.all(np.isfinite(masses))):
        raise InvalidInputError(
            f"{name} needs one positive mass a point, ({n},): drop the points without mass"
        )
    return np.log(masses)


def refuse_no_mass(which: str, log_mass: np.ndarray, beta: float) -> None:
    """Raise InfeasibleError naming the rows or columns whose kernel underflows everywhere."""
    empty = np.flatnonzero(log_mass < UNDERFLOW)
    if len(empty):
        raise InfeasibleError(
            f"no scaling exists: {len(empty)} {which} of the kernel have no mass at beta = "
            f"{beta:g} ({which} {', '.join(map(str, empty[:10]))}); take a smaller beta, or keep "
            "the self-loops"
        )


def _refuse_infeasible(
    points: np.ndarray, beta: float, log_mass: np.ndarray, marginal: np.ndarray
) -> None:
    """Raise InfeasibleError where the pairs seen without self-loops cannot carry the marginal.

    The nearest neighbours nearly always can; more are taken only where they do not.
    """
    n = len(points)
    tree, own = cKDTree(points), np.arange(n)[:, None]
    count = min(16, n - 1)
    while True:
        distance, other = tree.query(points, count + 1)
        seen = (other != own) & (-beta * distance**2 >= log_mass[:, None] - UNSEEN)
        row, column = np.nonzero(seen)[0], np.asarray(other)[seen]
        pairs = np.concatenate([row, column]), np.concatenate([column, row])
        lacking = _lacking(pairs, marginal)
        if not lacking:
            return
        if count == n - 1 or not np.any(seen[:, -1]):
            raise InfeasibleError(
                f"no scaling with these row sums exists without self-loops at beta = {beta:g}: "
                f"the pairs within reach leave {lacking}; keep the self-loops or take a smaller "
                "beta"
            )
        count = min(4 * count, n - 1)
        if n * count > _MOST_PAIRS:
            return  # left to the iteration, which says whether it converged


def _lacking(pairs: tuple[np.ndarray, np.ndarray], marginal: np.ndarray) -> str:
    """What no matrix with entries at these pairs can give its rows and columns; "" for nothing."""
    n = len(marginal)
    if np.all(marginal == marginal[0]):
        graph = csr_array((np.ones(len(pairs[0]), dtype=bool), pairs), shape=(n, n))
        unmatched = int(np.sum(maximum_bipartite_matching(graph) < 0))
        return f"{unmatched} of {n} points without a partner" if unmatched else ""
    # from a source, 0, through the rows 1, ... and the columns n + 1, ... to a sink
    units = np.floor(marginal / np.sum(marginal) * _FLOW_UNITS).astype(np.int32)
    own, ends = 1 + np.arange(n), np.zeros(n, dtype=int)
    start = np.concatenate([ends, 1 + pairs[0], n + own])
    stop = np.concatenate([own, n + 1 + pairs[1], ends + 2 * n + 1])
    capacity = np.concatenate([units, np.minimum(units[pairs[0]], units[pairs[1]]), units])
    _, kept = np.unique(start * (2 * n + 2) + stop, return_index=True)  # a pair counts once
    graph = csr_array((capacity[kept], (start[kept], stop[kept])), shape=(2 * n + 2, 2 * n + 2))
    missing = int(np.sum(units)) - maximum_flow(graph, 0, 2 * n + 1).flow_value
    return f"{missing / _FLOW_UNITS:.1%} of the marginal without a partner" if missing > n else ""
