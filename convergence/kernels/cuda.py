"""Gaussian sums on a CUDA device: sorting and pruning on the host, all sums on the device.

`gaussian_sums.cu` holds the kernel; NVRTC compiles it through CuPy for the number type, dimension
and number of value columns that a call needs, and CuPy keeps the machine code. Keys and queries are
sorted into the same tiles as on the CPU and `plan` lists the leaves that each query tile has to sum
over, with the same guarantee: what is left out of a row is at most exp(-37) of its mass.

CuPy is imported when a sum is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ..backend import array_module, resolve_device
from ..errors import InvalidInputError
from .blocks import gaussian_sums_blocks
from .gaussian_sums import _base_two, _in_tiles
from .inputs import Inputs, checked_inputs, checked_values
from .plan import Lists, pruning_lists
from .tiles import LEAF_SIZE, LOG2_E, Tiles

MAX_DIMENSION = 16
SOURCE = Path(__file__).with_name("gaussian_sums.cu")
OPTIONS = ("-std=c++17", "--ftz=true")
_MAX_COLUMNS = 4  # value columns of one launch
_BLOCKS_WANTED = 4096  # below this the leaves of a query tile are shared out
_FEW_LEAVES = 8  # of a tile are not
_WIDEST = 1e17  # bandwidths; squares of distances stay finite in float32


class DeviceSums:
    """Sums over the same points, kept sorted on the device for any number of value columns.

    Parameters
    ----------
    queries, keys, beta, log_weights, exclude
        As in `convergence.kernels.gaussian_sums`; NumPy or CuPy arrays of at most 16 coordinates.
    dtype : {"float64", "float32"}
        What pairs are computed in. Sums are accumulated in float64 either way; see
        `gaussian_sums_cuda` for the accuracy.

    Attributes
    ----------
    pairs : int
        Pairs that one evaluation forms, incomplete tiles counted as full ones.
    """

    def __init__(
        self,
        queries: Any,
        keys: Any,
        beta: float,
        log_weights: Any | None = None,
        *,
        exclude: Any | None = None,
        dtype: Any = "float64",
    ) -> None:
        resolve_device("cuda")
        self._xp = xp = array_module("cuda")
        data = checked_inputs(xp, queries, keys, beta, log_weights, None, None, exclude)
        self._n_queries, self._dimension = data.queries.shape
        self._n_keys = data.keys.shape[0]
        self._reference = data.reference
        self._beta = _base_two(data.beta)
        self._real = _real_type(dtype)
        if self._dimension > MAX_DIMENSION:
            raise InvalidInputError(
                f"points have {self._dimension} coordinates and the CUDA kernel takes at most "
                f"{MAX_DIMENSION}: use gaussian_sums_cuda, which then runs the block engine"
            )
        self.pairs = 0
        if self._n_queries:
            self._prepare(data)

    def _prepare(self, data: Inputs) -> None:
        """Sort on the host, list the leaves, and copy all of it to the device."""
        xp = self._xp
        host = _on_host(xp, data)
        tiles, order, excluded = _in_tiles(host, LEAF_SIZE)
        queries = tiles.points if order is tiles.order else host.queries[order].T.copy()
        if self._real == "float":
            _check_extent(queries, tiles, self._beta)
        sorted_excluded = excluded[order]
        lists = pruning_lists(tiles, queries, sorted_excluded, self._beta, LEAF_SIZE)
        leaves = lists.n_leaves
        self.pairs = int(leaves.sum()) * LEAF_SIZE**2
        self._grid = (len(leaves), _segments(leaves))
        self._key_order, self._query_order = xp.asarray(tiles.order), xp.asarray(order)
        self._rows = (xp.asarray(sorted_excluded), np.int64(self._n_queries))
        self._keys = (xp.asarray(tiles.points), xp.asarray(tiles.log2_weights))
        self._queries = self._keys[0] if queries is tiles.points else xp.asarray(queries)
        self._lists = Lists(*(xp.asarray(array) for array in lists))

    def __call__(self, values: Any | None = None, centers: Any | None = None) -> tuple[Any, Any]:
        """Log-mass and weighted means, as `convergence.kernels.gaussian_sums` defines them.

        Parameters
        ----------
        values, centers : array_like, optional
            As in `convergence.kernels.gaussian_sums`; CuPy arrays stay on the device.

        Returns
        -------
        log_mass : cupy.ndarray, shape (n_queries,)
        means : cupy.ndarray, shape (n_queries, n_values)
            Both float64.
        """
        xp = self._xp
        values, centers = checked_values(xp, values, centers, self._n_queries, self._n_keys)
        log_mass = xp.empty((self._n_queries,), dtype=xp.float64)
        means = xp.empty(centers.shape, dtype=xp.float64)
        if self._n_queries == 0:
            return log_mass, means
        for first in range(0, max(centers.shape[1], 1), _MAX_COLUMNS):
            columns = slice(first, min(first + _MAX_COLUMNS, centers.shape[1]))
            top, mass, moments = self._launch(
                xp.ascontiguousarray(values[self._key_order, columns].T),
                xp.ascontiguousarray(centers[self._query_order, columns].T),
            )
            sums = merged(xp, top, mass, moments)
            log_mass[self._query_order] = self._reference + sums[0]
            means[self._query_order, columns] = sums[1].T
        return log_mass, means

    def _launch(self, values: Any, centers: Any) -> tuple[Any, Any, Any]:
        """Partial sums over every segment of the leaves, for up to four columns in tile order."""
        xp, n_columns, n_segments = self._xp, values.shape[0], self._grid[1]
        kernel, threads = _kernel(xp, self._real, self._dimension, n_columns)
        top = xp.empty((n_segments, self._n_queries), dtype=xp.float64)
        mass = xp.empty_like(top)
        moments = xp.empty((n_segments, n_columns, self._n_queries), dtype=xp.float64)
        lists = self._lists
        arguments = (
            *(self._queries, centers, *self._rows),
            *(*self._keys, values, np.int64(self._n_keys)),
            *(lists.first_run, lists.runs, lists.middles, lists.levels),
            *(np.float64(self._beta), np.int32(n_segments)),
            *(top, mass, moments),
        )
        kernel(self._grid, (threads,), arguments)
        return top, mass, moments


def gaussian_sums_cuda(
    queries: Any,
    keys: Any,
    beta: float,
    log_weights: Any | None = None,
    values: Any | None = None,
    centers: Any | None = None,
    *,
    exclude: Any | None = None,
    dtype: Any = "float64",
) -> tuple[Any, Any]:
    r"""Log-mass and weighted means of a Gaussian kernel on a CUDA device.

    Parameters
    ----------
    queries, keys, beta, log_weights, values, centers, exclude
        As in `convergence.kernels.gaussian_sums`; NumPy or CuPy arrays.
    dtype : {"float64", "float32"}
        What pairs are computed in.

    Returns
    -------
    log_mass : cupy.ndarray, shape (n_queries,)
    means : cupy.ndarray, shape (n_queries, n_values)
        Both float64.

    Raises
    ------
    DeviceError
        Where no GPU is usable.
    InvalidInputError
        As `convergence.kernels.gaussian_sums`; and for float32, points so far apart that squared
        distances in bandwidths overflow.

    Notes
    -----
    The guarantees are those of `convergence.kernels.gaussian_sums`, bit-for-bit reproducibility on
    one device included. Above 16 dimensions the block engine runs through CuPy, in float64.

    In float32 log-mass and means are off by at most 2e-6, or by one rounding :math:`2^{-24}` of the
    exponents that make up the row where that is more. Exponents count in bits: the squared
    distance, the log-weight below the largest in the tile's reach, and four times the distance
    times the half-width of the tile in bandwidths. The error of a mean is relative to the weighted
    mean of :math:`|V_{jk} - V^0_{ik}|`; differences carry :math:`2^{-24}` of the spread of
    the values in the tile's reach, and may be as large as 3e38.
    """
    return device_sums(queries, keys, beta, log_weights, exclude=exclude, dtype=dtype)(
        values, centers
    )


def device_sums(
    queries: Any,
    keys: Any,
    beta: float,
    log_weights: Any | None = None,
    *,
    exclude: Any | None = None,
    dtype: Any = "float64",
) -> Callable[..., tuple[Any, Any]]:
    """`DeviceSums`, or above 16 dimensions the block engine with the same arguments."""
    resolve_device("cuda")
    shape = np.shape(keys)
    if len(shape) == 2 and shape[1] > MAX_DIMENSION:
        _real_type(dtype)
        points = (queries, keys, beta, log_weights)
        return partial(gaussian_sums_blocks, *points, exclude=exclude, xp=array_module("cuda"))
    return DeviceSums(queries, keys, beta, log_weights, exclude=exclude, dtype=dtype)


def merged(xp: Any, top: Any, mass: Any, moments: Any) -> tuple[Any, Any]:
    """Natural log-mass (n,) and means (n_columns, n) from the partial sums of all segments."""
    largest = xp.max(top, axis=0)
    shift = xp.where(largest > -float("inf"), largest, 0.0)
    scale = xp.exp2(top - shift)
    total = xp.sum(scale * mass, axis=0)
    occupied = total > 0.0
    safe = xp.where(occupied, total, 1.0)
    log_mass = xp.where(occupied, shift / LOG2_E + xp.log(safe), -float("inf"))
    return log_mass, xp.sum(scale[:, None, :] * moments, axis=0) / safe


@cache
def _kernel(xp: Any, real: str, dimension: int, n_columns: int) -> tuple[Any, int]:
    """The compiled kernel and its threads a block; a thread holds two queries where they fit."""
    rows = 2 if real == "float" and dimension <= 8 else 1
    name = f"gaussian_sums<{real}, {dimension}, {n_columns}, {rows}>"
    module = xp.RawModule(
        code=SOURCE.read_text(encoding="utf-8"), options=OPTIONS, name_expressions=(name,)
    )
    return module.get_function(name), LEAF_SIZE // rows


def _real_type(dtype: Any) -> str:
    try:
        return {"float64": "double", "float32": "float"}[np.dtype(dtype).name]
    except (KeyError, TypeError) as error:
        raise InvalidInputError(f"dtype is {dtype!r}: choose float64 or float32") from error


def _on_host(xp: Any, data: Inputs) -> Inputs:
    """The same points, weights and exclusions as NumPy arrays, without value columns."""
    keys = xp.asnumpy(data.keys)
    return Inputs(
        keys if data.queries is data.keys else xp.asnumpy(data.queries),
        keys,
        data.beta,
        None if data.log_weights is None else xp.asnumpy(data.log_weights),
        data.reference,
        np.empty((keys.shape[0], 0)),
        np.empty((data.queries.shape[0], 0)),
        None if data.exclude is None else xp.asnumpy(data.exclude),
    )


def _segments(n_leaves: np.ndarray) -> int:
    """Into how many blocks the leaves of a query tile are shared out."""
    wanted = -(-_BLOCKS_WANTED // len(n_leaves))
    return max(1, min(wanted, int(n_leaves.mean()) // _FEW_LEAVES))


def _check_extent(queries: np.ndarray, tiles: Tiles, beta: float) -> None:
    """Refuse points whose squared distances overflow in float32."""
    low = np.minimum(queries.min(axis=1), tiles.low[0])
    high = np.maximum(queries.max(axis=1), tiles.high[0])
    extent = float(np.sqrt(beta) * (high - low).max())
    if not extent < _WIDEST:
        raise InvalidInputError(
            f"the points span {extent:.1e} bandwidths, more than float32 can square: "
            "use dtype='float64'"
        )
