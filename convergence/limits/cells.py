"""Cells of a chart's coordinates that a kernel sees from one query, found by subdivision."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..errors import QuadratureError
from ..spaces import Coordinate
from ..spaces.box import tensor

# a cell goes where its integrand is below exp(-CUTOFF) of the largest met: 6e-19
CUTOFF = 42.0
# what a cell's features may reach beyond those at its 3^d sampled points
MARGIN = 1.25
MOST_CELLS = 200_000

Cells = tuple[np.ndarray, np.ndarray]  # centres and half-widths, (cells, d) each


def base_cells(features: Callable[[np.ndarray], np.ndarray], box: Sequence[Coordinate]) -> Cells:
    """A grid fine enough that the features' extent on a cell shows at its 3^d sampled points.

    Held against the features at random points of every cell.

    Raises
    ------
    QuadratureError
        When the embedding oscillates too fast for every affordable grid.
    """
    d, rng = len(box), np.random.default_rng(0)
    count = 4
    while count**d <= 2**16:
        half = np.broadcast_to([c.length / (2 * count) for c in box], (count**d, d))
        centre = tensor([c.low + c.length * (np.arange(count) + 0.5) / count for c in box])
        sampled = extent(features(sampled_points(centre, half)), features(centre))
        offsets = rng.uniform(-1, 1, (len(centre), 4 * 3**d, d))
        inside = extent(features(centre[:, None] + half[:, None] * offsets), features(centre))
        if np.all(inside <= (1 + MARGIN) / 2 * sampled):
            return centre, half
        count *= 2
    raise QuadratureError(
        "the embedding varies too fast for its coordinates: no grid of 65536 cells resolves it"
    )


def sampled_points(centre: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Corners, centre and the points midway of every cell, shape (cells, 3^d, d)."""
    return centre[:, None] + half[:, None] * tensor([np.array([-1.0, 0.0, 1.0])] * half.shape[1])


def extent(features: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """The largest distance of some of a cell's features (cells, points, D) from its centre's."""
    return np.max(np.linalg.norm(features - middle[:, None], axis=-1), axis=1)


def visible_cells(
    base: Cells,
    keys: Callable[[np.ndarray], np.ndarray],
    tilt: Callable[[np.ndarray], np.ndarray],
    query: np.ndarray,
    beta: float,
    size: float,
) -> Cells:
    """Cells of extent at most `size` among the keys that matter for exp(-β|query - key|² + tilt).

    Left out are cells that lie, by a lower bound of their distance, where the integrand is below
    exp(-42) of its largest value.
    """
    centre, half = base
    d = centre.shape[1]
    middle = (3**d - 1) // 2
    found: list[Cells] = []
    largest, total = -np.inf, 0
    while len(centre):
        points = sampled_points(centre, half)
        places, tilts = keys(points), tilt(points)
        distance = np.linalg.norm(query - places, axis=-1)
        largest = max(largest, float(np.max(tilts - beta * distance**2)))
        reach = MARGIN * extent(places, places[:, middle])
        nearest = np.maximum(distance[:, middle] - reach, 0)
        seen = np.max(tilts, axis=1) - beta * nearest**2 >= largest - CUTOFF
        centre, half, lengths = centre[seen], half[seen], _lengths(places[seen], d)
        small = np.all(lengths <= size, axis=1)
        found.append((centre[small], half[small]))
        total += len(centre)
        if total > MOST_CELLS:
            raise QuadratureError(
                f"the step at beta = {beta:g} needs more than {MOST_CELLS} cells: "
                "take a smaller beta, or a smoother chart"
            )
        centre, half = _split(centre[~small], half[~small], lengths[~small] > size)
    centres, halves = zip(*found, strict=True)
    return np.concatenate(centres), np.concatenate(halves)


def _lengths(places: np.ndarray, d: int) -> np.ndarray:
    """How far each cell reaches along each coordinate, at the widest, shape (cells, d)."""
    grid = places.reshape(len(places), *[3] * d, places.shape[-1])
    found = np.empty((len(places), d))
    for axis in range(d):
        steps = np.linalg.norm(np.diff(grid, axis=1 + axis), axis=-1).sum(axis=1 + axis)
        found[:, axis] = np.max(steps, axis=tuple(range(1, steps.ndim)), initial=0.0)
    return found


def _split(centre: np.ndarray, half: np.ndarray, long: np.ndarray) -> Cells:
    """Cells halved along every coordinate in which they are too long."""
    for axis in range(centre.shape[1]):
        cut = long[:, axis]
        quarter = np.where(cut[:, None], half, 0.0) * np.eye(centre.shape[1])[axis] / 2
        centre = np.concatenate([centre - quarter, (centre + quarter)[cut]])
        half = half - quarter
        half, long = (np.concatenate([array, array[cut]]) for array in (half, long))
    return centre, half
