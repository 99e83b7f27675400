"""Which points of a walk communicate: classes of its directed graph, decided before any solver.

A step i → j is *seen* where P_ij >= exp(-37): less cannot change a sum of row i in float64, and the
products leave out as much. Two points are in one class where each is reached from the other. A
reversible walk goes back wherever it goes, so there direction is left out.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..errors import LARGEST_DENSE, DisconnectedError, InvalidInputError
from .entries import log_block, log_matrix
from .markov import Component, MarkovOperator
from .scored import ScoreOperator

SEEN = -37.0
"""Least log P_ij that the sums of a row see."""

POSITIVE = float(np.log(np.finfo(float).tiny))
"""Least log P_ij that is a number of full accuracy in float64."""

_DENSE = 1 << 25  # bytes up to which the graph is taken from the dense matrix
_BLOCK = 1 << 20  # pairs
_NAMED = 8  # rows and classes that a message names


class _Search(Protocol):
    def reach(self, frontier: np.ndarray, open_: np.ndarray) -> np.ndarray: ...


def communicating_classes(operator: MarkovOperator, least: float = SEEN) -> np.ndarray:
    """Label of the communicating class of every point, 0, 1, ... in order of first appearance.

    Parameters
    ----------
    operator : MarkovOperator
        Square.
    least : float
        Least log P_ij of a step: `SEEN`, or down to `POSITIVE` where the dense matrix of n² numbers
        fits into 1 GiB.

    Returns
    -------
    ndarray of int, shape (n,)

    Raises
    ------
    InvalidInputError
        For an operator that is not square, or too large for `least`.
    NoMassError
        When a row has no mass.
    """
    if not operator.square:
        raise InvalidInputError("classes are those of a square operator")
    scored = isinstance(operator, ScoreOperator)
    if operator.reversible and not scored and least == SEEN:
        return operator.components()
    if least != SEEN or 8 * operator.shape[0] ** 2 <= _DENSE:
        graph = csr_array(log_matrix(operator, LARGEST_DENSE) >= least)
        kind = "weak" if operator.reversible else "strong"
        labels = connected_components(graph, directed=True, connection=kind)[1]
        return _by_appearance(labels)
    if scored:
        forward, backward = _BlockSearch(operator, False), _BlockSearch(operator, True)
        if operator.reversible:
            both = _AnyOf([forward, backward])
            return _strong(operator.shape[0], both, both)
        return _strong(operator.shape[0], forward, backward)
    return _strong(operator.shape[0], *_tree_searches(operator))


def refuse_reducible(operator: MarkovOperator, labels: np.ndarray, what: str) -> None:
    """Raise DisconnectedError, with the sizes and the rows, where there are several classes."""
    if np.max(labels) == 0:
        return
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    smaller = [named_rows(np.flatnonzero(labels == c)) for c in order[1 : 1 + _NAMED]]
    more = "" if len(smaller) == len(order) - 1 else f" and {len(order) - 1 - len(smaller)} more"
    raise DisconnectedError(
        f"{what} is not unique: the operator has {len(sizes)} components at beta = "
        f"{operator.beta:g}, of sizes {sizes[order].tolist()[:_NAMED]}; all but the largest are "
        f"rows {'; '.join(smaller)}{more}. Take a smaller beta, leave these rows out, or treat "
        "each class by itself (communicating_classes, restricted, stationary_by_class)"
    )


def named_rows(rows: np.ndarray) -> str:
    """Ascending rows as a short text of ranges: [0-3, 7]."""
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    shown = [f"{r[0]}" if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs[:_NAMED]]
    return f"[{', '.join(shown)}]" if len(runs) <= _NAMED else f"[{', '.join(shown)}, ...]"


def restricted(operator: MarkovOperator, rows: np.ndarray) -> MarkovOperator:
    """The walk kept within some of its points: their rows and columns, normalised again.

    Parameters
    ----------
    operator : MarkovOperator
        Square.
    rows : integer ndarray
    """

    def taken(array: Any) -> Any:
        return None if array is None else operator.on_host(array)[rows]

    parts = [
        Component(taken(c.queries), taken(c.keys), taken(c.log_weights), taken(c.share))
        for c in operator.components_
    ]
    if not isinstance(operator, ScoreOperator):
        found = MarkovOperator(parts, operator.beta, self_loops=operator.self_loops)
        own = operator._own_log_kernel  # None, a number, or one a row
        found._own_log_kernel = own if np.ndim(own) == 0 else taken(own)
        return found
    only = parts[0]
    return ScoreOperator(
        operator.score,
        only.queries,
        only.keys,
        operator.beta,
        only.log_weights,
        self_loops=operator.self_loops,
    )


def closed_classes(operator: MarkovOperator, labels: np.ndarray) -> list[np.ndarray]:
    """Rows of the classes that no seen step leaves; every law is a mixture of theirs."""
    found, everything = [], np.arange(operator.shape[0])
    for label in range(int(np.max(labels)) + 1):
        rows = np.flatnonzero(labels == label)
        outside = everything[labels != label]
        height = max(1, _BLOCK // max(1, len(outside)))
        blocks = (rows[s : s + height] for s in range(0, len(rows), height))
        if not any(np.any(log_block(operator, b, outside) >= SEEN) for b in blocks):
            found.append(rows)
    return found


def _by_appearance(labels: np.ndarray) -> np.ndarray:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def _strong(n: int, forward: _Search, backward: _Search) -> np.ndarray:
    """Strongly connected components: of every pivot, what it reaches and is reached from."""
    labels, count = np.full(n, -1), 0
    while np.any(labels < 0):
        pivot = np.flatnonzero(labels < 0)[:1]
        reached = []
        for search in (forward, backward):
            open_ = labels < 0
            open_[pivot] = False
            search.reach(pivot, open_)
            reached.append((labels < 0) & ~open_)
        labels[reached[0] & reached[1]] = count
        count += 1
    return labels


class _AnyOf:
    """Steps of any of several searches."""

    def __init__(self, searches: list[_Search]) -> None:
        self.searches = searches

    def reach(self, frontier: np.ndarray, open_: np.ndarray) -> np.ndarray:
        fresh = [frontier for _ in self.searches]  # what each search has not started from
        every = []
        while any(len(f) for f in fresh):
            for m, search in enumerate(self.searches):
                new = search.reach(fresh[m], open_) if len(fresh[m]) else fresh[m]
                fresh[m] = new[:0]
                fresh = [f if k == m else np.concatenate([f, new]) for k, f in enumerate(fresh)]
                every.append(new)
        return np.concatenate(every)


class _BlockSearch:
    """Steps of a score, block by block."""

    def __init__(self, operator: MarkovOperator, backward: bool) -> None:
        self.operator, self.backward = operator, backward

    def reach(self, frontier: np.ndarray, open_: np.ndarray) -> np.ndarray:
        every = [frontier[:0]]
        while len(frontier) and np.any(open_):
            level = []
            height = max(1, _BLOCK // len(open_))
            for start in range(0, len(frontier), height):
                rest, rows = np.flatnonzero(open_), frontier[start : start + height]
                if self.backward:
                    seen = np.any(log_block(self.operator, rest, rows) >= SEEN, axis=1)
                else:
                    seen = np.any(log_block(self.operator, rows, rest) >= SEEN, axis=0)
                level.append(rest[seen])
                open_[rest[seen]] = False
            frontier = np.concatenate(level)
            every.append(frontier)
        return np.concatenate(every)


def _tree_searches(operator: MarkovOperator) -> tuple[_Search, _Search]:
    """Forward and backward steps of Gaussian kernels, each over a tree of points."""
    from ..kernels.connectivity import KernelSearch

    forward: list[_Search] = []
    backward: list[_Search] = []
    for c, log_mass in zip(operator.components_, operator.log_degrees.T, strict=True):
        u, v = operator.on_host(c.queries), operator.on_host(c.keys)
        weights = np.zeros(len(v)) if c.log_weights is None else operator.on_host(c.log_weights)
        with np.errstate(divide="ignore"):
            share = np.log(1.0 if c.share is None else operator.on_host(c.share))
        # shares of zero have an infinite threshold: no step
        least = np.broadcast_to(log_mass - share + SEEN, len(u))
        forward.append(KernelSearch(u, v, operator.beta, weights, least))
        backward.append(KernelSearch(v, u, operator.beta, -least, -weights))
    return _AnyOf(forward), _AnyOf(backward)
