"""The Schrödinger bridge between two marginals, matrix-free and in the log domain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from ..errors import InvalidInputError
from ..kernels import gaussian_sums
from .markov import Component, MarkovOperator
from .sinkhorn import UNSEEN, log_marginal, refuse_no_mass, sinkhorn

_SWEEPS = 8  # of Sinkhorn's alternating updates, before Newton's method
_HALVINGS = 30
_LEAST_SHARE = 1e-4  # of its mass that a column counts as having
_COLDER = 2.0  # from one β of the fallback to the next, up from where the kernel is flat
_FLAT = 4.0  # β times the squared diameter there
_ROUGHLY = 1e-2  # the error accepted at each β before the last


@dataclass(frozen=True)
class Bridge:
    """The coupling A_ij = exp(φ_i - β|u_i - v_j|² + ψ_j) with row sums a and column sums b.

    Attributes
    ----------
    query_potential, key_potential : ndarray, shapes (n_queries,) and (n_keys,)
        φ and ψ.
    operator : MarkovOperator
        P with A = diag(a) P: the log-weights of its keys are ψ.
    row_marginal : ndarray, shape (n_queries,)
        a.
    converged : bool
    iterations : int
        Kernel sums used.
    marginal_error : float
        Largest |log(column sum / b)|; the row sums are exact.
    """

    query_potential: np.ndarray
    key_potential: np.ndarray
    operator: MarkovOperator
    row_marginal: np.ndarray
    converged: bool
    iterations: int
    marginal_error: float

    def coupling(self) -> np.ndarray:
        """A as a dense matrix, where it is small enough for `MarkovOperator.toarray`."""
        return self.row_marginal[:, None] * self.operator.toarray()


def bridge(
    queries: np.ndarray,
    keys: np.ndarray,
    beta: float,
    row_marginal: np.ndarray,
    column_marginal: np.ndarray,
    *,
    self_loops: bool = True,
    symmetric: bool | None = None,
    tolerance: float = 1e-12,
    max_iterations: int = 2000,
) -> Bridge:
    """The coupling closest to a Gaussian kernel among those with two given marginals.

    Equal marginals on equal points are scaled symmetrically (φ = ψ), so the coupling is symmetric
    and carries no current. Otherwise the concave dual Σ b_j ψ_j - Σ a_i log(K e^ψ)_i is maximised
    by a few alternating updates and then Newton's method with conjugate gradients, because at
    large β alternating updates alone need a number of sweeps proportional to β. Where a step
    leaves the range in which potentials can lie, the problem is solved anew for 2, 4, 8, ... times
    a β at which the kernel is flat: potentials grow like β, so each starts the next.

    Parameters
    ----------
    queries, keys : ndarray, shapes (n_queries, D) and (n_keys, D)
    beta : float
    row_marginal, column_marginal : ndarray, shapes (n_queries,) and (n_keys,)
        a and b, positive, of equal total.
    self_loops : bool
        As in `MarkovOperator`.
    symmetric : bool, optional
        Whether to scale symmetrically; by default where points and marginals are equal.
    tolerance : float
        On `Bridge.marginal_error`; never asked below the rounding of the potentials.
    max_iterations : int
        Kernel sums allowed; a few are always used, and say how far the marginals are off.

    Returns
    -------
    Bridge

    Raises
    ------
    InvalidInputError
    InfeasibleError
        When a row or column of the kernel has no mass.

    References
    ----------
    Peyré and Cuturi, Computational Optimal Transport, 2019, ch. 4.
    """
    queries, keys = np.asarray(queries, dtype=float), np.asarray(keys, dtype=float)
    log_a = log_marginal("row_marginal", row_marginal, len(queries))
    log_b = log_marginal("column_marginal", column_marginal, len(keys))
    a, b = np.exp(log_a), np.exp(log_b)
    if abs(np.sum(a) - np.sum(b)) > 1e-9 * np.sum(a):
        raise InvalidInputError(
            f"the marginals need equal totals, not {np.sum(a):g} and {np.sum(b):g}: scale one"
        )
    equal = np.array_equal(queries, keys) and np.array_equal(log_a, log_b)
    if symmetric and not equal:
        raise InvalidInputError("a symmetric scaling needs equal points and equal marginals")
    if equal and symmetric is not False:
        found = sinkhorn(
            keys, beta, self_loops=self_loops, marginal=a,
            tolerance=tolerance, max_iterations=max_iterations,
        )  # fmt: skip
        phi = psi = found.log_weights
        state = found.converged, found.iterations, found.marginal_error
    else:
        dual = _Dual(queries, keys, beta, log_a, log_b, self_loops)
        phi, psi, *state = dual.maximise(tolerance, max_iterations)
    operator = MarkovOperator([Component(queries, keys, psi)], beta, self_loops=self_loops)
    return Bridge(phi, psi, operator, a, *state)


class _Dual:
    """The dual problem, a function of the key potential ψ alone."""

    def __init__(self, queries, keys, beta, log_a, log_b, self_loops) -> None:
        self.queries, self.keys, self.beta = queries, keys, beta
        self.log_a, self.log_b, self.a, self.b = log_a, log_b, np.exp(log_a), np.exp(log_b)
        self.exclude = None if self_loops else np.arange(len(keys))
        self.sums = 0
        places = np.concatenate([queries, keys])
        self.squared_diameter = max(float(np.sum(np.ptp(places, axis=0) ** 2)), 1e-300)
        refuse_no_mass("rows", self.rows(np.zeros(len(keys)))[0], beta)
        refuse_no_mass("columns", self.columns(np.zeros(len(queries)))[0], beta)

    def rows(self, psi, values=None, centers=None):
        """log Σ_j K_ij e^ψ_j and the means of values under it."""
        self.sums += 1
        return gaussian_sums(
            self.queries, self.keys, self.beta, psi, values, centers, exclude=self.exclude
        )

    def columns(self, phi, values=None, centers=None):
        """log Σ_i K_ij e^φ_i and the means of values under it."""
        self.sums += 1
        return gaussian_sums(
            self.keys, self.queries, self.beta, phi, values, centers, exclude=self.exclude
        )

    def maximise(self, tolerance, most):
        """φ, ψ, converged, kernel sums and the error of the column sums."""
        found = self._solve(np.zeros(len(self.keys)), tolerance, most)
        if not found[2] and self.sums < most:
            found = self._cooled(tolerance, most)
        return (*found[:3], self.sums, found[3])

    def _cooled(self, tolerance, most):
        """The solution at β from those at β/2, β/4, ..., every kernel sum in the log domain."""
        beta = self.beta
        steps = max(0, int(np.ceil(np.log(beta * self.squared_diameter / _FLAT) / np.log(_COLDER))))
        psi = np.zeros(len(self.keys))
        for step in range(steps, 0, -1):
            self.beta = beta / _COLDER**step
            psi = _COLDER * self._solve(psi, _ROUGHLY, most)[1]
        self.beta = beta
        return self._solve(psi, tolerance, most)

    def _solve(self, psi, tolerance, most):
        """φ, ψ, converged and the error of the column sums, from a first ψ; stops on escape."""
        phi = self.log_a - self.rows(psi)[0]
        # ψ_j - ψ_k = log b_j/b_k + log of a ratio of kernel sums, which -β|u - v|² bounds
        widest = 2 * (np.ptp(self.log_b) + self.beta * self.squared_diameter) + UNSEEN
        step = 0
        while True:
            log_columns = psi + self.columns(phi)[0]
            residual = self.log_b - log_columns
            error = float(np.max(np.abs(residual)))
            if error <= max(tolerance, 4 * np.finfo(float).eps * np.max(np.abs(psi))):
                return phi, psi, True, error
            if self.sums >= most:
                return phi, psi, False, error
            if step < _SWEEPS:
                new_psi = psi + residual
                new_phi = self.log_a - self.rows(new_psi)[0]
            else:
                change = self._newton(phi, psi, np.exp(log_columns), error, most)
                if not np.all(np.isfinite(change)):
                    return phi, psi, False, error
                new_phi, new_psi = self._ascend(phi, psi, change)
            if not np.ptp(new_psi) <= widest:
                return phi, psi, False, error
            phi, psi, step = new_phi, new_psi, step + 1

    def _newton(self, phi, psi, columns, error, most):
        """δ with (diag(columns) - Aᵀ diag(1/a) A) δ = b - columns, scaled to unit diagonal.

        Where columns have next to nothing of their mass yet, or underflow, a raised diagonal keeps
        the step finite; at the solution nothing is raised.
        """
        diagonal = np.maximum(columns, _LEAST_SHARE * self.b)
        root, mean = np.sqrt(diagonal), np.mean(diagonal)

        def apply(z):
            v = np.ravel(z) / root
            if not np.all(np.isfinite(v)):  # a matrix without any curvature in float64
                return np.full(len(v), np.nan)
            _, ahead = self.rows(psi, v)
            _, back = self.columns(phi, ahead, v)
            constant = np.mean(root * np.ravel(z)) / mean  # kept at 0
            return root * constant + ((diagonal - columns) * v - columns * back[:, 0]) / root

        matrix = LinearOperator((len(root), len(root)), matvec=apply, dtype=float)
        # n products are enough without rounding: far more find nothing in float64 either
        left = max(1, min((most - self.sums) // 2, 2 * len(root) + 20))
        accuracy = min(max(error, 1e-4), 0.1)
        with np.errstate(all="ignore"):  # the caller judges what is not finite
            solution, _ = cg(matrix, (self.b - columns) / root, rtol=accuracy, maxiter=left)
        return solution / root

    def _ascend(self, phi, psi, change):
        """The longest of the steps 1, ½, ¼, ... of `change` on which the dual does not fall."""
        for halving in range(_HALVINGS):
            new_psi = psi + 0.5**halving * change
            new_phi = self.log_a - self.rows(new_psi)[0]
            gain = self.b @ (new_psi - psi) + self.a @ (new_phi - phi)
            if gain >= -1e-13 * np.sum(self.b * (1 + np.abs(psi))):
                break
        return new_phi, new_psi
