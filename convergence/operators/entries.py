"""Entries of a Markov operator in the log domain: rows and pairs, without the dense matrix."""

from __future__ import annotations

import numpy as np

from ..arrays import index_array
from ..errors import LARGEST_DENSE, InvalidInputError, refuse_large
from ..kernels.blocks import squared_distance_score
from .markov import MarkovOperator

_PAIRS = 32


def log_block(operator: MarkovOperator, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """log P_ij of chosen rows and columns; minus infinity where a pair is left out.

    Parameters
    ----------
    operator : MarkovOperator
    rows, columns : integer ndarray, shapes (r,) and (c,)

    Returns
    -------
    ndarray, shape (r, c)

    Raises
    ------
    InvalidInputError
        For what is no index of a row or column.
    NoMassError
        When a row has no key within reach.
    """
    rows = index_array("rows", rows, operator.shape[0])
    columns = index_array("columns", columns, operator.shape[1])
    parts = []
    score = getattr(operator, "score", squared_distance_score)
    for m, c in enumerate(operator.components_):
        queries, keys = operator.on_host(c.queries)[rows], operator.on_host(c.keys)[columns]
        logs = score(queries, keys, operator.beta) - operator.log_degrees[rows, m][:, None]
        if c.log_weights is not None:
            logs = logs + operator.on_host(c.log_weights)[columns]
        if c.share is not None:
            with np.errstate(divide="ignore"):
                logs = logs + np.log(operator.on_host(c.share)[rows])[:, None]
        parts.append(logs)
    total = parts[0] if len(parts) == 1 else np.logaddexp.reduce(parts)
    if not operator.self_loops:
        total[np.equal.outer(rows, columns)] = -np.inf
    return total


def log_entries(operator: MarkovOperator, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """log P_ij at given pairs, shape (pairs,).

    Raises
    ------
    InvalidInputError
        For what is no index, or as many rows as columns are not given.
    NoMassError
        When a row has no key within reach.
    """
    rows, columns = np.ravel(rows), np.ravel(columns)
    if rows.shape != columns.shape:
        raise InvalidInputError(
            f"pairs need as many rows as columns, not {len(rows)} and {len(columns)}"
        )
    parts = [
        np.diagonal(log_block(operator, rows[k : k + _PAIRS], columns[k : k + _PAIRS]))
        for k in range(0, len(rows), _PAIRS)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def log_matrix(operator: MarkovOperator, largest: int = LARGEST_DENSE) -> np.ndarray:
    """log P as a dense matrix, where it takes at most `largest` bytes.

    Raises
    ------
    InvalidInputError
        Says how many bytes it would take.
    """
    refuse_large(8 * operator.shape[0] * operator.shape[1], largest)
    return log_block(operator, *(np.arange(n) for n in operator.shape))
