"""Gaussian sums over all keys: the public operation, and the choice between its two paths.

Few queries stream over the keys as they come, because sorting the keys would cost more than the
sums; many queries pay for sorting once and then see their neighbourhoods only. Both paths share
the innermost loops and give the same numbers up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..backend import array_module, current_device
from .inputs import Inputs, checked_inputs, checked_values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .tiles import Tiles

_FEW_QUERIES = 256  # sorting a key costs about as much as this many exponentials
_FEW_PAIRS = 1 << 17  # below this even the smallest tree is not worth building
_MOST_CHUNKS = 1024
_SMALLEST_CHUNK = 4096


class FusedSums(NamedTuple):
    """Result of one evaluation and the number of pairs whose distance was formed."""

    log_mass: np.ndarray
    means: np.ndarray
    pairs: int


def gaussian_sums(
    queries: ArrayLike,
    keys: ArrayLike,
    beta: float,
    log_weights: ArrayLike | None = None,
    values: ArrayLike | None = None,
    centers: ArrayLike | None = None,
    *,
    exclude: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Log-mass and weighted means of a Gaussian kernel over all keys.

    .. math::

        K_{ij} = \exp(-\beta |u_i - v_j|^2 + c_j), \qquad
        \text{log\_mass}_i = \log \sum_j K_{ij}, \qquad
        \text{means}_{ik} = \frac{\sum_j K_{ij} (V_{jk} - V^0_{ik})}{\sum_j K_{ij}}

    Parameters
    ----------
    queries : array_like, shape (n_queries, D)
        Points :math:`u_i`. Passing the same array as `keys` sorts it once.
    keys : array_like, shape (n_keys, D)
        Points :math:`v_j`, at least one.
    beta : float
        Inverse bandwidth, positive.
    log_weights : array_like, shape (n_keys,), optional
        :math:`c_j`, of any size and sign; minus infinity is weight zero. Zero if absent.
    values : array_like, shape (n_keys,) or (n_keys, n_values), optional
        :math:`V_{jk}`; one dimension is one column.
    centers : array_like, shape (n_queries,) or (n_queries, n_values), optional
        :math:`V^0_{ik}`, subtracted inside the sum. Zero if absent.
    exclude : array_like of int, shape (n_queries,), optional
        Key left out of each row, -1 for none; ``arange(n)`` removes self-loops.

    Returns
    -------
    log_mass : ndarray, shape (n_queries,)
    means : ndarray, shape (n_queries, n_values)
        ``n_values`` is zero without `values`.

    Raises
    ------
    InvalidInputError
        No keys, wrong shapes, NaN or infinity in points, values or centers, a log-weight that is
        NaN or plus infinity, `beta` not positive and finite, `exclude` outside the keys.

    Notes
    -----
    Guaranteed, for any log-weights and any `beta`:

    - What pruning leaves out of a row is at most :math:`e^{-37} \approx 10^{-16}` of its mass,
      and so moves a mean by at most that times the largest :math:`|V_{jk} - V^0_{ik}|` left out.
    - Sums are formed in float64 relative to the largest term of the row: no overflow, and a row far
      from every key keeps its finite log-mass. Its exponents carry the rounding of
      :math:`\beta |u_i - v_j|^2`, as they do in any float64 evaluation.
    - A row with no key left, or only weights zero, has log-mass minus infinity and means zero.
    - The result is the same, bit for bit, for any number of threads.
    - Memory beyond the inputs is proportional to ``n_queries + n_keys``.

    On a CUDA device (`convergence.backend.use_device`) the same tiles are summed there, above 16
    dimensions the plain block engine runs through CuPy; results come back as NumPy arrays.

    The first call compiles for some seconds and leaves the machine code on disk.
    """
    if current_device() == "cuda":
        from .cuda import gaussian_sums_cuda

        sums = gaussian_sums_cuda(
            queries, keys, beta, log_weights, values, centers, exclude=exclude
        )
        xp = array_module("cuda")
        return xp.asnumpy(sums[0]), xp.asnumpy(sums[1])
    data = checked_inputs(np, queries, keys, beta, log_weights, values, centers, exclude)
    result = fused_sums(data)
    return result.log_mass, result.means


def repeated_sums(
    queries: Any,
    keys: Any,
    beta: float,
    log_weights: Any | None = None,
    *,
    exclude: Any | None = None,
) -> Callable[..., tuple[Any, Any]]:
    """Gaussian sums over the same points for value columns that change: sorted once.

    Parameters
    ----------
    queries, keys, beta, log_weights, exclude
        As in `gaussian_sums`.

    Returns
    -------
    callable
        ``(values, centers) -> (log_mass, means)`` as in `gaussian_sums`; on a CUDA device points
        and results are CuPy arrays that stay there.

    Raises
    ------
    InvalidInputError
        As `gaussian_sums`.
    """
    if current_device() == "cuda":
        from .cuda import device_sums

        return device_sums(queries, keys, beta, log_weights, exclude=exclude)
    return _HostSums(checked_inputs(np, queries, keys, beta, log_weights, None, None, exclude))


class _HostSums:
    """Checked points with what the chosen path wants to know of them."""

    def __init__(self, data: Inputs, path: str | None = None, leaf_size: int | None = None) -> None:
        from . import cpu, tiles

        n_queries, n_keys = data.queries.shape[0], data.keys.shape[0]
        if path is None:
            few = n_queries <= _FEW_QUERIES or n_queries * n_keys <= _FEW_PAIRS
            path = "streamed" if few else "tiled"
        self._data, self._tiles = data, None
        order = excluded = np.full(n_queries, -1)
        if path == "tiled" and n_queries:
            self._tiles, order, excluded = _in_tiles(data, leaf_size or tiles.LEAF_SIZE)
        elif data.exclude is not None:
            excluded = _plain(data.exclude)
        self._task = cpu.Task(
            _plain(data.queries), _plain(data.centers), order, excluded, _base_two(data.beta)
        )

    def __call__(
        self, values: ArrayLike | None = None, centers: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        n_queries, n_keys = self._data.queries.shape[0], self._data.keys.shape[0]
        return self.evaluate(*checked_values(np, values, centers, n_queries, n_keys))[:2]

    def evaluate(self, values: np.ndarray, centers: np.ndarray) -> FusedSums:
        """The sums of checked value columns and centres."""
        from . import cpu, tiles

        data, task = self._data, self._task._replace(centers=_plain(centers))
        log_mass, means = np.empty(len(task.queries)), np.empty(centers.shape)
        if not len(log_mass):
            return FusedSums(log_mass, means, 0)
        if self._tiles is not None:
            sorted_keys = tiles.with_values(self._tiles, values)
            pairs = cpu.sum_tiled(sorted_keys, task, data.reference, log_mass, means)
            return FusedSums(log_mass, means, pairs)
        n_keys = data.keys.shape[0]
        chunk = max(_SMALLEST_CHUNK, -(-n_keys // _MOST_CHUNKS))
        log_weights = np.empty(0) if data.log_weights is None else _plain(data.log_weights)
        keys = _plain(data.keys), log_weights, data.reference, _plain(values)
        cpu.sum_streamed(*keys, task, chunk, log_mass, means)
        return FusedSums(log_mass, means, len(log_mass) * n_keys)


def fused_sums(data: Inputs, *, path: str | None = None, leaf_size: int | None = None) -> FusedSums:
    """Evaluate checked inputs on the path "streamed" or "tiled", by default the cheaper one."""
    return _HostSums(data, path, leaf_size).evaluate(data.values, data.centers)


def _plain(array: np.ndarray) -> np.ndarray:
    """The array as contiguous, writeable memory, the one layout that is compiled for."""
    return np.require(array, requirements=["C", "A", "W"])


def _base_two(beta: float) -> float:
    from .tiles import LOG2_E

    return min(beta * LOG2_E, float(np.finfo(np.float64).max))


def _in_tiles(data: Inputs, leaf_size: int) -> tuple[Tiles, np.ndarray, np.ndarray]:
    """Sorted keys, the queries in tile order and the sorted position of each row's excluded key."""
    from . import tiles

    queries, keys = _plain(data.queries), _plain(data.keys)
    sorted_keys = tiles.key_tiles(keys, data.log_weights, data.reference, leaf_size)
    same = queries.shape == keys.shape and np.array_equal(queries, keys)
    order = sorted_keys.order if same else tiles.query_order(queries, leaf_size)
    if data.exclude is None:
        return sorted_keys, order, np.full(queries.shape[0], -1)
    position = np.empty(keys.shape[0] + 1, dtype=np.int64)
    position[sorted_keys.order] = np.arange(keys.shape[0])
    position[-1] = -1  # where an exclude of -1 reads
    return sorted_keys, order, position[data.exclude]
