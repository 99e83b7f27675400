"""Currents, cycle affinities and entropy production of a Markov operator in its steady state.

A = diag(π) P throughout, with a law π that is given: `stationary(operator).law`, or another.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..errors import LARGEST_DENSE, InvalidInputError, NoMassError
from .entries import log_entries, log_matrix
from .markov import MarkovOperator


def net_flux(
    operator: MarkovOperator,
    law: np.ndarray,
    source: np.ndarray,
    target: np.ndarray | None = None,
) -> float:
    """Net probability per step from one set of points to another, Σ_{i∈S, j∈T} (A_ij - A_ji).

    Two products with P. Through the whole boundary of a set (no `target`) the net flux of a
    stationary law is zero; a current round a ring shows where S and T are the two sides of one cut.

    Parameters
    ----------
    operator : MarkovOperator
    law : ndarray, shape (n,)
        π.
    source, target : bool ndarray, shape (n,)
        S and T; T is the complement of S by default.
    """
    sets = [np.asarray(source), ~np.asarray(source) if target is None else np.asarray(target)]
    if any(s.dtype != bool or s.shape != operator.shape[:1] for s in sets):
        raise InvalidInputError(
            f"a cut needs boolean arrays of shape ({operator.shape[0]},), one entry a point"
        )
    return float(sets[0] @ (operator.flux(law) @ sets[1].astype(float)))


def cycle_affinities(operator: MarkovOperator, cycles: np.ndarray) -> np.ndarray:
    """Kolmogorov's affinities Σ log(P_ij/P_ji) along closed cycles.

    All zero exactly where P is reversible. They do not depend on π, nor on anything a score holds
    of one token alone. Infinite, with a sign, where a cycle is possible one way only.

    Parameters
    ----------
    operator : MarkovOperator
    cycles : integer ndarray, shape (n_cycles, length)
        The points of each cycle in order, closed by the step from the last to the first.

    Returns
    -------
    ndarray, shape (n_cycles,)

    Raises
    ------
    InvalidInputError
    NoMassError
        When a cycle is impossible both ways, as under a causal mask every one is.
    """
    cycles = np.asarray(cycles)
    if cycles.ndim != 2 or cycles.dtype.kind not in "iu" or not operator.square:
        raise InvalidInputError(
            "cycles must be integer rows (n_cycles, length) of points of a square operator"
        )
    ahead, after = cycles, np.roll(cycles, -1, axis=1)
    forward = log_entries(operator, ahead, after).reshape(cycles.shape)
    back = log_entries(operator, after, ahead).reshape(cycles.shape)
    if np.any(np.any(forward == -np.inf, axis=1) & np.any(back == -np.inf, axis=1)):
        raise NoMassError("a cycle is impossible both ways round: leave it out")
    return np.sum(forward - back, axis=1)


def entropy_production(
    operator: MarkovOperator, law: np.ndarray, *, largest: int = LARGEST_DENSE
) -> float:
    r"""Entropy production per step, ½ Σ_ij (A_ij - A_ji) log(A_ij/A_ji).

    Of one Gaussian component without the dense matrix: with w = v - u and
    φ = -β w·(u + v) + c + log Σ_k K_ik - log π,

    .. math::

        \log\frac{A_{ij}}{A_{ji}} = 2\beta (u_i \cdot w_j - u_j \cdot w_i) + φ_j - φ_i,

    so that it is a mean under A of differences. Other operators go through the dense matrix.

    Parameters
    ----------
    operator : MarkovOperator
        Square.
    law : ndarray, shape (n,)
        π, positive where P allows a step there.
    largest : int
        Bytes that a dense matrix may take.

    Returns
    -------
    float
        Not negative up to rounding; infinite where a step of positive probability has no reverse.

    Raises
    ------
    InvalidInputError
        For a law of wrong shape, or a dense matrix that is too large.
    """
    law = np.asarray(law, dtype=float)
    if law.shape != operator.shape[:1] or np.any(law < 0) or not operator.square:
        raise InvalidInputError("entropy production needs one weight π_i >= 0 a point, square P")
    only = operator.components_[0]
    single = len(operator.components_) == 1 and not hasattr(operator, "score")
    if not single or np.any(law == 0) or not _finite(operator, only.log_weights):
        return _dense_entropy_production(log_matrix(operator, largest), law)
    u, v = operator.on_host(only.queries), operator.on_host(only.keys)
    w = v - u
    potential = -operator.beta * np.sum(w * (u + v), axis=1) + operator.log_degrees[:, 0]
    potential = potential - np.log(law)
    if only.log_weights is not None:
        potential = potential + operator.on_host(only.log_weights)
    columns = np.column_stack([u, w, potential])
    steps = operator.differences(columns, columns)
    d = u.shape[1]
    circulation = np.sum(u * steps[:, d : 2 * d] - w * steps[:, :d], axis=1)
    return float(law @ (2 * operator.beta * circulation + steps[:, -1]))


def _finite(operator: MarkovOperator, log_weights: np.ndarray | None) -> bool:
    return log_weights is None or bool(np.all(np.isfinite(operator.on_host(log_weights))))


def _dense_entropy_production(log_p: np.ndarray, law: np.ndarray) -> float:
    with np.errstate(divide="ignore"):
        log_a = log_p + np.log(law)[:, None]
    present = log_a > -np.inf
    if np.any(present & ~present.T):
        return np.inf
    ratio = np.where(present, log_a, 0) - np.where(present, log_a, 0).T
    return float(np.sum(np.exp(log_a) * ratio))


def time_reversal(operator: MarkovOperator, law: np.ndarray) -> LinearOperator:
    """P* = diag(1/π) Pᵀ diag(π), the walk seen backwards in time; Markov where π is stationary.

    Parameters
    ----------
    operator : MarkovOperator
        Square.
    law : ndarray, shape (n,)
        π, positive.
    """
    law = np.asarray(law, dtype=float)
    if law.shape != operator.shape[:1] or not np.all(law > 0) or not operator.square:
        raise InvalidInputError("time reversal needs a positive law on the points of a square P")
    pi = law[:, None]

    def reversed_step(f: np.ndarray) -> np.ndarray:
        return (operator.T @ (pi * f.reshape(len(law), -1))) / pi

    def transposed(f: np.ndarray) -> np.ndarray:
        return pi * (operator @ (f.reshape(len(law), -1) / pi))

    return LinearOperator(
        operator.shape,
        matvec=lambda f: reversed_step(f)[:, 0],
        rmatvec=lambda f: transposed(f)[:, 0],
        matmat=reversed_step,
        rmatmat=transposed,
        dtype=float,
    )


def key_difference(coupling: np.ndarray, f: np.ndarray) -> np.ndarray:
    r"""(D_K f)_ij = √A_ij f_j - √A_ji f_i, a square-root factor of the steady state.

    With A = Ā ⊙ e^θ, θ antisymmetric, Ā = √(A ⊙ Aᵀ), it is
    √Ā_ij (e^{θ_ij/2} f_j - e^{-θ_ij/2} f_i), and with D_Q of `query_difference`

    .. math::

        \tfrac12 \sum_{ij} (D_Q g)_{ij} (D_K f)_{ij} = ⟨g, (\mathrm{diag}(\bar A 1) - A) f⟩.

    Parameters
    ----------
    coupling : ndarray, shape (n, n)
        A = diag(π) P.
    f : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (n, n)
    """
    root = np.sqrt(coupling)
    return root * f[None, :] - root.T * f[:, None]


def query_difference(coupling: np.ndarray, g: np.ndarray) -> np.ndarray:
    """(D_Q g)_ij = √A_ji g_j - √A_ij g_i: `key_difference` of the reversed walk."""
    return key_difference(coupling.T, g)


def elimination_law(matrix: np.ndarray) -> np.ndarray:
    """The stationary law of a dense Markov matrix, every entry to full relative accuracy.

    Gaussian elimination without subtractions, so that nothing cancels however small the entries;
    n³/3 multiplications.

    Parameters
    ----------
    matrix : ndarray, shape (n, n)
        P; its diagonal is not read.

    Raises
    ------
    NoMassError
        When some state cannot reach those before it in float64.

    References
    ----------
    Grassmann, Taksar and Heyman, Operations Research 33 (1985).
    """
    p = np.array(matrix, dtype=float)
    for k in range(len(p) - 1, 0, -1):
        leaving = np.sum(p[k, :k])
        if not leaving > 0:
            raise NoMassError(
                f"state {k} does not lead back to the states before it: the chain has no unique "
                "positive law in float64; soften the scores or drop that state"
            )
        p[:k, k] /= leaving
        p[:k, :k] += np.outer(p[:k, k], p[k, :k])
    law = np.ones(len(p))
    for k in range(1, len(p)):
        law[k] = law[:k] @ p[:k, k]
    return law / np.sum(law)
