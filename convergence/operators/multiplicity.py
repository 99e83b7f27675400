"""Extreme eigenpairs with their multiplicities checked.

A Krylov space from one vector holds one direction of every eigenspace, so an iteration may return
a repeated eigenvalue once, with a perfect residual, and the next one in place of its copy. What was
found is therefore moved out of the way and the largest remaining eigenvalue looked for, until none
lies above the last one that is kept.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.sparse import linalg as sparse_linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

from ..backend import array_module
from ..errors import SpectrumError

# where eigenvalues found are moved: those of a Markov operator lie in the unit disc
_BELOW = -2.0
# vectors in Arnoldi's basis: with the solver's own 20 a gap of a percent costs three times the
# products, all in restarts
_BASIS = 40
# residual of the look for more, relative to one minus the last eigenvalue kept: it locates an
# eigenvalue of a symmetric operator to the square of this
_LOOK = 1e-4
_LOOK_DIRECTED = 1e-3


def largest_eigenpairs(
    symmetric: Any,
    k: int,
    start: Any,
    tolerance: float,
    linalg: ModuleType,
    device: str = "cpu",
) -> tuple[Any, Any]:
    """The k largest eigenvalues of a symmetric operator in [-1, 1], and orthonormal vectors.

    Parameters
    ----------
    symmetric : LinearOperator, shape (n, n)
    k : int
        At most n - 2.
    start : array, shape (n,)
        Start vector.
    tolerance : float
        Of the solver, relative to the eigenvalues.
    linalg : module
        `scipy.sparse.linalg` or `cupyx.scipy.sparse.linalg`.
    device : str
        Where the arrays live.

    Returns
    -------
    values : array, shape (k,)
        Descending, every one as often as its multiplicity.
    vectors : array, shape (n, k)

    Raises
    ------
    SpectrumError
        When the solver does not converge.
    """
    xp, n = array_module(device), symmetric.shape[0]
    values, vectors = _eigsh(linalg, symmetric, k, start, tolerance)
    other = _other_start(start, xp)
    while len(values) < n:
        values, vectors = _descending(xp, values, vectors)
        last, rest = float(values[k - 1]), _deflated(linalg, symmetric, vectors)
        if last + 100 * tolerance >= 1:
            break
        resolution = max(tolerance, _LOOK * (1 - last))
        if float(_eigsh(linalg, rest, 1, other, resolution)[0][0]) <= last + 100 * tolerance:
            break
        count = min(k, n - len(values), n - 1)
        more, found = _eigsh(linalg, rest, count, other, tolerance)
        values, vectors = xp.concatenate([values, more]), xp.hstack([vectors, found])
        vectors = xp.linalg.qr(vectors)[0]
    values, vectors = _descending(xp, values, vectors)
    return values[:k], vectors[:, :k]


def _other_start(start: Any, xp: Any) -> Any:
    """A second start vector: the first one reversed, with other signs."""
    signs = xp.where(xp.arange(len(start)) % 3 == 0, -1.0, 1.0)
    return start[::-1] * signs


def _descending(xp: Any, values: Any, vectors: Any) -> tuple[Any, Any]:
    order = xp.argsort(-values)
    return values[order], vectors[:, order]


def _eigsh(
    linalg: ModuleType, operator: Any, k: int, start: Any, tolerance: float
) -> tuple[Any, Any]:
    try:
        return linalg.eigsh(operator, k, which="LA", v0=start, tol=tolerance)  # type: ignore[no-any-return]
    except ArpackError as error:
        raise SpectrumError(f"eigsh did not converge: {error}") from error


def _deflated(linalg: ModuleType, operator: Any, basis: Any) -> Any:
    """The operator on the complement of an orthonormal basis, the basis itself at `_BELOW`."""
    adjoint = basis.T

    def apply(v: Any) -> Any:
        inside = basis @ (adjoint @ v.ravel())
        outside = operator @ (v.ravel() - inside)
        return outside - basis @ (adjoint @ outside) + _BELOW * inside

    return linalg.LinearOperator(operator.shape, matvec=apply, dtype=basis.dtype)


def rightmost_eigenpairs(
    operator: LinearOperator, k: int, start: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """The k eigenvalues of largest real part of a Markov operator, largest first, and vectors.

    The check deflates by a Schur basis: P is block triangular in it, so that the complement holds
    the remaining eigenvalues exactly, however far P is from normal.

    Raises
    ------
    SpectrumError
        When the solver does not converge.
    """
    n = operator.shape[0]
    values, vectors = arnoldi(operator, max(k, 1), start, tolerance)
    other = _other_start(start, np)
    while True:
        basis = _real_basis(vectors)
        if n - basis.shape[1] < 1:
            break
        last = float(np.sort(np.real(values))[::-1][:k][-1])
        if last + 100 * tolerance >= 1:
            break
        rest = _deflated(sparse_linalg, operator, basis)
        resolution = max(tolerance, _LOOK_DIRECTED * (1 - last))
        if np.real(arnoldi(rest, min(2, n - 2), other, resolution)[0][0]) <= last + 100 * tolerance:
            break
        count = min(k, n - basis.shape[1], n - 2)
        more, found = arnoldi(rest, count, other, tolerance)
        lifted = _lifted(operator, basis, more, found)
        values, vectors = np.concatenate([values, more]), np.hstack([vectors, lifted])
    order = np.argsort(-np.real(values), kind="stable")[:k]
    return values[order], vectors[:, order]


def arnoldi(
    operator: LinearOperator, k: int, start: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of largest real part, largest first, and vectors, as the solver gives them."""
    basis = min(operator.shape[0], max(2 * k + 1, _BASIS))
    try:
        values, vectors = eigs(operator, k, which="LR", v0=start, tol=tolerance, ncv=basis)
    except ArpackError as error:
        raise SpectrumError(f"eigs did not converge: {error}") from error
    order = np.argsort(-np.real(values))[:k]
    return values[order], vectors[:, order]


def _real_basis(vectors: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the real span of vectors and their conjugates."""
    parts = np.hstack([vectors.real, vectors.imag])
    basis, triangle, _ = qr(parts, mode="economic", pivoting=True)
    size = np.abs(np.diag(triangle))
    return basis[:, size > 1e-8 * size[0]]


def _lifted(
    operator: LinearOperator, basis: np.ndarray, values: np.ndarray, found: np.ndarray
) -> np.ndarray:
    """Eigenvectors of P from those of its deflated form: w + Qy with (μ - QᵀPQ) y = QᵀPw."""
    block = basis.T @ (operator @ basis)
    lifted = np.empty(found.shape, dtype=complex)
    for j, (value, w) in enumerate(zip(values, found.T, strict=True)):
        w = w - basis @ (basis.T @ w)
        part = basis.T @ (operator @ w)
        system = value * np.eye(len(block)) - block
        # a copy of an eigenvalue in the basis makes the system singular, and consistent unless
        # the eigenvalue is defective, which the residual then shows
        y = np.linalg.lstsq(system, part, rcond=1e-9)[0]
        lifted[:, j] = w + basis @ y
        lifted[:, j] /= np.linalg.norm(lifted[:, j])
    return lifted
