"""What a Gaussian sum accepts, checked once and turned into float64 arrays.

Both engines share this page, so that they refuse the same inputs with the same words. The checks
use nothing but the array library they are given.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import real_array, refuse_masked
from ..errors import InvalidInputError, require_positive


@dataclass(frozen=True)
class Inputs:
    """Checked arguments of a Gaussian sum.

    Attributes
    ----------
    queries, keys : array, shapes (n_queries, D) and (n_keys, D)
    beta : float
    log_weights : array, shape (n_keys,), or None where all are zero
    reference : float
        Largest log-weight (zero if there is none); sums are formed relative to it.
    values : array, shape (n_keys, n_values)
    centers : array, shape (n_queries, n_values)
    exclude : integer array, shape (n_queries,), or None
    """

    queries: Any
    keys: Any
    beta: float
    log_weights: Any | None
    reference: float
    values: Any
    centers: Any
    exclude: Any | None


def array_namespace(*arrays: Any) -> Any:
    """Array library of the first argument that names one; NumPy if none does."""
    for array in arrays:
        if hasattr(array, "__array_namespace__"):
            return array.__array_namespace__()
        root = type(array).__module__.partition(".")[0]
        if root == "cupy":
            return importlib.import_module(root)
    return np


def checked_inputs(
    xp: Any,
    queries: Any,
    keys: Any,
    beta: float,
    log_weights: Any | None,
    values: Any | None,
    centers: Any | None,
    exclude: Any | None,
) -> Inputs:
    """Refuse what cannot be summed and convert the rest to float64 arrays of `xp`.

    Raises
    ------
    InvalidInputError
        Names the argument, what is wrong with it and what to do.
    """
    same = keys is queries
    queries = _points(xp, queries, "queries")
    keys = queries if same else _points(xp, keys, "keys")
    if queries.shape[1] != keys.shape[1]:
        raise InvalidInputError(
            f"queries have {queries.shape[1]} coordinates and keys {keys.shape[1]}: "
            "both must lie in the same space"
        )
    n_queries, n_keys = queries.shape[0], keys.shape[0]
    if n_keys == 0:
        raise InvalidInputError("there are no keys to sum over: pass at least one")
    log_weights, reference = _log_weights(xp, log_weights, n_keys)
    values, centers = checked_values(xp, values, centers, n_queries, n_keys)
    return Inputs(
        queries,
        keys,
        require_positive("beta", beta),
        log_weights,
        reference,
        values,
        centers,
        _exclude(xp, exclude, n_queries, n_keys),
    )


def _points(xp: Any, array: Any, name: str) -> Any:
    points = real_array(name, array, xp=xp)
    if points.ndim != 2 or points.shape[1] == 0:
        raise InvalidInputError(
            f"{name} have shape {tuple(points.shape)}: pass (number of points, dimension); "
            "points on a line need reshape(-1, 1)"
        )
    return points


def _log_weights(xp: Any, log_weights: Any | None, n_keys: int) -> tuple[Any | None, float]:
    if log_weights is None:
        return None, 0.0
    weights = real_array("log_weights", log_weights, xp=xp, finite=False)
    if weights.shape != (n_keys,):
        raise InvalidInputError(
            f"log_weights have shape {tuple(weights.shape)}: pass one number a key, ({n_keys},)"
        )
    largest = float(xp.max(weights))
    if not largest < float("inf"):  # NaN too
        raise InvalidInputError(
            "log_weights contain NaN or +infinity: every weight must be finite "
            "(-infinity is allowed and means weight zero)"
        )
    return weights, largest if largest > -float("inf") else 0.0


def checked_values(
    xp: Any, values: Any | None, centers: Any | None, n_queries: int, n_keys: int
) -> tuple[Any, Any]:
    """Values and centers as float64 arrays of `xp`, one column a value; none become no columns.

    Raises
    ------
    InvalidInputError
    """
    if values is None:
        if centers is not None:
            raise InvalidInputError("centers were passed without values: pass both or neither")
        return xp.zeros((n_keys, 0), dtype=xp.float64), xp.zeros((n_queries, 0), dtype=xp.float64)
    columns = _columns(xp, values, "values", n_keys)
    if centers is None:
        return columns, xp.zeros((n_queries, columns.shape[1]), dtype=xp.float64)
    middle = _columns(xp, centers, "centers", n_queries)
    if middle.shape[1] != columns.shape[1]:
        raise InvalidInputError(
            f"centers have {middle.shape[1]} columns and values {columns.shape[1]}: "
            "pass one center a query and value column"
        )
    return columns, middle


def _columns(xp: Any, array: Any, name: str, n_rows: int) -> Any:
    columns = real_array(name, array, xp=xp)
    if columns.ndim == 1:
        columns = xp.reshape(columns, (-1, 1))
    if columns.ndim != 2 or columns.shape[0] != n_rows:
        raise InvalidInputError(
            f"{name} have shape {tuple(columns.shape)}: pass ({n_rows},) or ({n_rows}, n_values)"
        )
    return columns


def _exclude(xp: Any, exclude: Any | None, n_queries: int, n_keys: int) -> Any | None:
    if exclude is None:
        return None
    refuse_masked("exclude", exclude)
    indices = xp.asarray(exclude)
    if indices.shape != (n_queries,) or not _is_integer(xp, indices):
        raise InvalidInputError(
            f"exclude has shape {tuple(indices.shape)} and type {indices.dtype}: "
            f"pass one integer key index a query, ({n_queries},), -1 for none"
        )
    if n_queries and (int(xp.min(indices)) < -1 or int(xp.max(indices)) >= n_keys):
        raise InvalidInputError(
            f"exclude points outside the keys: indices run from 0 to {n_keys - 1}, -1 for none"
        )
    return xp.asarray(indices, dtype=xp.int64)


def _is_integer(xp: Any, array: Any) -> bool:
    if hasattr(xp, "isdtype"):
        return bool(xp.isdtype(array.dtype, "integral"))
    return array.dtype.kind in "iu"
