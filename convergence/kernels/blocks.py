"""Gaussian sums in plain array blocks, on any array library.

The slow and obvious engine: a loop over blocks of keys with a running maximum, written against
the functions that NumPy, CuPy and the array-API standard share. It needs no compiler, runs where
its input arrays live, prunes nothing, and is what the compiled engine is held to in the tests.
"""

from __future__ import annotations

from typing import Any

from .inputs import Inputs, array_namespace, checked_inputs


def gaussian_sums_blocks(
    queries: Any,
    keys: Any,
    beta: float,
    log_weights: Any | None = None,
    values: Any | None = None,
    centers: Any | None = None,
    *,
    exclude: Any | None = None,
    block_size: int = 2048,
    xp: Any | None = None,
) -> tuple[Any, Any]:
    """Log-mass and weighted means of a Gaussian kernel, block by block.

    Same equations, shapes, errors and treatment of empty rows as
    `convergence.kernels.gaussian_sums`; every pair is summed.

    Parameters
    ----------
    queries, keys, beta, log_weights, values, centers, exclude
        As in `convergence.kernels.gaussian_sums`.
    block_size : int
        Queries and keys per block; temporaries hold ``block_size**2`` numbers.
    xp : module, optional
        Array library; by default that of the inputs, NumPy if they name none.

    Returns
    -------
    log_mass : array, shape (n_queries,)
    means : array, shape (n_queries, n_values)
        Both arrays of `xp`, float64.
    """
    if xp is None:
        xp = array_namespace(queries, keys, log_weights, values, centers)
    data = checked_inputs(xp, queries, keys, beta, log_weights, values, centers, exclude)
    n_queries = data.queries.shape[0]
    rows = [
        _rows(xp, data, start, min(start + block_size, n_queries), block_size)
        for start in range(0, n_queries, block_size)
    ]
    if not rows:
        return xp.zeros((0,), dtype=xp.float64), data.centers
    return xp.concatenate([row[0] for row in rows]), xp.concatenate([row[1] for row in rows])


def _rows(xp: Any, data: Inputs, start: int, stop: int, block_size: int) -> tuple[Any, Any]:
    """Sums of the queries `start` to `stop` over all key blocks."""
    infinity = float("inf")
    n_keys = data.keys.shape[0]
    centers = data.centers[start:stop, :]
    top = xp.full((stop - start,), -infinity, dtype=xp.float64)
    mass = xp.zeros((stop - start,), dtype=xp.float64)
    moments = xp.zeros(centers.shape, dtype=xp.float64)
    for first in range(0, n_keys, block_size):
        last = min(first + block_size, n_keys)
        exponents = _exponents(xp, data, start, stop, first, last)
        new_top = xp.maximum(top, xp.max(exponents, axis=1))
        shift = xp.where(new_top > -infinity, new_top, 0.0)
        weights = xp.exp(exponents - shift[:, None])
        scale = xp.exp(top - shift)
        mass = mass * scale + xp.sum(weights, axis=1)
        columns = [
            xp.sum(weights * (data.values[None, first:last, k] - centers[:, k, None]), axis=1)
            for k in range(centers.shape[1])
        ]
        if columns:
            moments = moments * scale[:, None] + xp.stack(columns, axis=1)
        top = new_top
    occupied = mass > 0.0
    safe = xp.where(occupied, mass, 1.0)
    log_mass = xp.where(occupied, data.reference + (top + xp.log(safe)), -infinity)
    return log_mass, moments / safe[:, None]


def _exponents(xp: Any, data: Inputs, start: int, stop: int, first: int, last: int) -> Any:
    """``c_j - reference - β |u_i - v_j|²`` of one block, differences formed first."""
    squares = xp.zeros((stop - start, last - first), dtype=xp.float64)
    for d in range(data.keys.shape[1]):
        difference = data.queries[start:stop, d, None] - data.keys[None, first:last, d]
        squares = squares + difference * difference
    exponents = -data.beta * squares
    if data.log_weights is not None:
        exponents = exponents + (data.log_weights[None, first:last] - data.reference)
    if data.exclude is not None:
        columns = xp.arange(first, last)
        excluded = data.exclude[start:stop, None] == columns[None, :]
        exponents = xp.where(excluded, -float("inf"), exponents)
    return exponents
