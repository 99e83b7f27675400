"""Kernel sums in plain array blocks, on any array library and for any score.

The slow and obvious engine: a loop over blocks of keys with a running maximum, written against
the array-API standard. It needs no compiler, runs where its input arrays live, prunes nothing,
takes scores that are no distance, and is what the compiled engine is held to in the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays import real_array
from ..errors import InvalidInputError
from .inputs import Inputs, array_namespace, checked_inputs

Score = Callable[[Any, Any, float], Any]
"""(queries (a, D), keys (b, D), β) → scores (a, b), of the same array library."""


def squared_distance_score(queries: Any, keys: Any, beta: float) -> Any:
    """s(x, y) = -β |x - y|², differences formed first."""
    total = 0.0
    for d in range(queries.shape[1]):
        difference = queries[:, d][:, None] - keys[:, d][None, :]
        total = total + difference * difference
    return -beta * total


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
    `convergence.kernels.gaussian_sums`; every pair is summed. It is `score_sums` with the score
    -β|x - y|².
    """
    return score_sums(
        squared_distance_score,
        queries,
        keys,
        beta,
        log_weights,
        values,
        centers,
        exclude=exclude,
        block_size=block_size,
        xp=xp,
    )


def score_sums(
    score: Score,
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
    """Log-mass and weighted means of the kernel K_ij = exp(s(x_i, y_j) + c_j) of any score.

    Parameters
    ----------
    score : callable
        (x_block, y_block, β) → s of shape (len(x_block), len(y_block)), real, of any size and
        sign; minus infinity removes a pair.
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
        Both arrays of `xp`, float64. An empty row has log-mass minus infinity and means zero.

    Raises
    ------
    InvalidInputError
        As `convergence.kernels.gaussian_sums`; and for scores of another shape, complex ones, and
        those that are NaN or plus infinity, whose rows the message names.
    """
    if xp is None:
        xp = array_namespace(queries, keys, log_weights, values, centers)
    data = checked_inputs(xp, queries, keys, beta, log_weights, values, centers, exclude)
    n_queries = data.queries.shape[0]
    log_mass = xp.zeros((n_queries,), dtype=xp.float64)
    means = xp.zeros((n_queries, data.values.shape[1]), dtype=xp.float64)
    for start in range(0, n_queries, block_size):
        rows = slice(start, min(start + block_size, n_queries))
        log_mass[rows], means[rows, :] = _rows(xp, score, data, rows, block_size)
    return log_mass, means


def _rows(xp: Any, score: Score, data: Inputs, rows: slice, block_size: int) -> tuple[Any, Any]:
    """Sums of some queries over all key blocks."""
    infinity = float("inf")
    n_keys, n_rows = data.keys.shape[0], rows.stop - rows.start
    centers = data.centers[rows, :]
    top = xp.full((n_rows,), -infinity, dtype=xp.float64)
    mass = xp.zeros((n_rows,), dtype=xp.float64)
    moments = xp.zeros(centers.shape, dtype=xp.float64)
    for first in range(0, n_keys, block_size):
        keys = slice(first, min(first + block_size, n_keys))
        exponents = _exponents(xp, score, data, rows, keys)
        largest = xp.max(exponents, axis=1)
        _refuse_undefined(xp, largest, rows.start)
        new_top = xp.maximum(top, largest)
        shift = xp.where(new_top > -infinity, new_top, xp.zeros_like(new_top))
        weights = xp.exp(exponents - shift[:, None])
        scale = xp.exp(top - shift)
        mass = mass * scale + xp.sum(weights, axis=1)
        moments = moments * scale[:, None]
        for k in range(centers.shape[1]):
            differences = data.values[keys, k][None, :] - centers[:, k][:, None]
            moments[:, k] = moments[:, k] + xp.sum(weights * differences, axis=1)
        top = new_top
    occupied = mass > 0.0
    safe = xp.where(occupied, mass, xp.ones_like(mass))
    finite = data.reference + (top + xp.log(safe))
    log_mass = xp.where(occupied, finite, xp.full((n_rows,), -infinity, dtype=xp.float64))
    return log_mass, moments / safe[:, None]


def _exponents(xp: Any, score: Score, data: Inputs, rows: slice, keys: slice) -> Any:
    """s(x_i, y_j) + c_j - reference of one block."""
    given = score(data.queries[rows, :], data.keys[keys, :], data.beta)
    exponents = real_array("scores", given, xp=xp, finite=False)
    if exponents.shape != (rows.stop - rows.start, keys.stop - keys.start):
        raise InvalidInputError(
            f"a score gave an array of shape {tuple(exponents.shape)} for "
            f"{rows.stop - rows.start} queries and {keys.stop - keys.start} keys: one number a "
            "pair is needed"
        )
    if data.log_weights is not None:
        exponents = exponents + (data.log_weights[keys] - data.reference)[None, :]
    if data.exclude is not None:
        columns = xp.arange(keys.start, keys.stop)
        left_out = data.exclude[rows][:, None] == columns[None, :]
        exponents = xp.where(left_out, xp.full_like(exponents, -float("inf")), exponents)
    return exponents


def _refuse_undefined(xp: Any, largest: Any, start: int) -> None:
    """Raise InvalidInputError naming the rows whose largest exponent is NaN or plus infinity."""
    undefined = ~(largest < float("inf"))
    if bool(xp.any(undefined)):
        rows = [start + i for i in range(undefined.shape[0]) if bool(undefined[i])]
        named = ", ".join(str(i) for i in rows[:10]) + (", ..." if len(rows) > 10 else "")
        raise InvalidInputError(
            f"the scores of {len(rows)} rows are NaN or plus infinity (rows {named}): a score is a "
            "number below infinity, or minus infinity to remove a pair"
        )
