"""Eigenpairs of largest real part by a block Krylov-Schur method.

A block of at least as many random columns as pairs are wanted meets every direction of a repeated
eigenvalue, which a single vector never does: in its Krylov space an eigenvalue occurs once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from scipy import linalg
from threadpoolctl import ThreadpoolController

from ..errors import SpectrumError

# columns more than pairs wanted: they bring the last pair away from those that are left out
_SPARE = 6
# blocks of the basis; a restart keeps the better half
_BLOCKS = 12
_LARGEST_BASIS = 400  # columns, unless that is less than four blocks
_STEPS = 3000  # products with a block


@dataclass(frozen=True)
class KrylovPairs:
    """Approximate eigenpairs, largest real part first.

    Attributes
    ----------
    values : ndarray, shape (k,)
    vectors : ndarray, shape (n, k)
        Of norm one; on the device of the start block.
    products : int
        Blocks that went through the operator.
    """

    values: np.ndarray
    vectors: Any
    products: int


def random_block(n: int, k: int, seed: int) -> np.ndarray:
    """Start columns for k pairs of an operator on n points."""
    return np.random.default_rng(seed).standard_normal((n, min(k + _SPARE, n)))


def largest_eigenpairs(
    apply: Callable[[Any], Any],
    start: Any,
    k: int,
    tolerance: float,
    *,
    symmetric: bool,
    xp: ModuleType = np,
) -> KrylovPairs:
    """The k eigenpairs of largest real part of an operator, repeated ones as often as they occur.

    The whole basis is kept orthogonal. Restarts keep the leading invariant space of the projected
    matrix, for a symmetric operator its Ritz vectors.

    Parameters
    ----------
    apply : callable
        The operator on columns, (n, b) → (n, b).
    start : array, shape (n, b)
        Random columns, b at least k: an eigenvalue is found at most b times.
    k : int
    tolerance : float
        Largest residual norm, of vectors of norm one and relative to |λ|.
    symmetric : bool
        Whether the operator is real symmetric; values and vectors are then real.
    xp : module
        `numpy`, or `cupy` where `start` is on a CUDA device.

    Returns
    -------
    KrylovPairs

    Raises
    ------
    SpectrumError
        When the residuals do not reach the tolerance.
    """
    with _blas().limit(limits=1, user_api="blas"):
        return _iterated(apply, start, k, tolerance, symmetric, xp)


@cache
def _blas() -> ThreadpoolController:
    """One thread for the small matrices: more only wait, and change the last digits."""
    return ThreadpoolController()


def _iterated(
    apply: Callable[[Any], Any],
    start: Any,
    k: int,
    tolerance: float,
    symmetric: bool,
    xp: ModuleType,
) -> KrylovPairs:
    n, width = start.shape
    allowed = max(tolerance, float(np.finfo(float).eps))
    # a restart must leave room for a block
    room = min(n, max(4 * width, min(_BLOCKS * width, _LARGEST_BASIS)))
    basis, matrix, tail = xp.zeros((n, 0)), np.zeros((0, 0)), np.zeros((width, 0))
    block = _orthonormal(start, basis, xp)
    for step in range(1, _STEPS + 1):
        # apply(basis) = basis @ matrix + block @ tail, first without and then with the block
        new = apply(block)
        basis = xp.concatenate([basis, block], axis=1)
        inside, new = _split(basis, new)
        matrix = np.hstack([np.vstack([matrix, tail]), _host(inside, xp)])
        if symmetric:
            matrix = 0.5 * (matrix + matrix.T)
        left = n - basis.shape[1]
        block = _orthonormal(new, basis, xp)[:, :left]
        earlier = np.zeros((block.shape[1], len(matrix) - new.shape[1]))
        tail = np.hstack([earlier, _host(block.T @ new, xp)])
        values, small = _ordered(matrix, symmetric)
        residuals = np.linalg.norm(tail @ small[:, :k], axis=0)
        if left == 0 or np.all(residuals <= allowed * np.abs(values[:k])):
            return KrylovPairs(values[:k], basis @ xp.asarray(small[:, :k]), step)
        if basis.shape[1] + width > room:
            kept, matrix = _leading(matrix, max(k, room // 2), symmetric)
            basis, tail = basis @ xp.asarray(kept), tail @ kept
    raise SpectrumError(
        f"residuals of {np.max(residuals):.1e} after {_STEPS} block products, not {tolerance:.1e}: "
        "ask for a larger tolerance or a smaller beta"
    )


def _host(array: Any, xp: ModuleType) -> np.ndarray:
    return array if xp is np else xp.asnumpy(array)


def _split(basis: Any, columns: Any) -> tuple[Any, Any]:
    """Coefficients of columns in an orthonormal basis, and what is orthogonal to it."""
    inside = basis.T @ columns
    rest = columns - basis @ inside
    again = basis.T @ rest  # what rounding left
    return inside + again, rest - basis @ again


def _orthonormal(columns: Any, basis: Any, xp: ModuleType) -> Any:
    """An orthonormal block that spans the columns and is orthogonal to the basis.

    Columns that are zero to rounding, as in an invariant space, become new directions.
    """
    block = xp.linalg.qr(columns)[0]
    for _ in range(2):
        block = xp.linalg.qr(_split(basis, block)[1])[0]
    return block


def _ordered(matrix: np.ndarray, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs of a small matrix, largest real part first, of a conjugate pair +i first."""
    if symmetric:
        values, vectors = linalg.eigh(matrix)
        return values[::-1], vectors[:, ::-1]
    values, vectors = linalg.eig(matrix)
    order = np.lexsort((-values.imag, np.abs(values.imag), -values.real))
    return values[order], vectors[:, order]


def _leading(matrix: np.ndarray, count: int, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal basis of a leading invariant space of about `count`, and the matrix there."""
    values, vectors = _ordered(matrix, symmetric)
    if symmetric:
        return vectors[:, :count], np.diag(values[:count])
    # cut in the widest of the next gaps, which no conjugate pair has
    gaps = -np.diff(values.real[count - 1 : count + 4])
    cut = count - 1 + int(np.argmax(gaps))
    least = 0.5 * (values.real[cut] + values.real[cut + 1])
    upper, basis, size = linalg.schur(matrix, sort=lambda re, im: re > least)
    return basis[:, :size], upper[:size, :size]
