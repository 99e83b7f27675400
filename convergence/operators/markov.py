"""The row-normalised kernel as a matrix-free operator on functions of the sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..arrays import common_part, real_array
from ..backend import array_module, current_device, use_device
from ..errors import (
    LARGEST_DENSE,
    InvalidInputError,
    refuse_large,
    require_flag,
    require_positive,
)
from ..kernels import repeated_sums
from ..scores import GaussianScore
from .component import Component, components_of_sample, on_sample
from .component import is_cupy as _is_cupy
from .generator import UNDERFLOW, refuse_empty_rows

_COLUMNS = 256  # of a dense matrix made at once


class MarkovOperator(LinearOperator):
    """P = Σ_m diag(share_m) P_m, a mixture of row-normalised Gaussian kernels; O(N) memory.

    A `scipy.sparse.linalg.LinearOperator`: `P @ f`, `P.T @ w`, also with several columns. Points
    are sorted once and stay on the device that is current when the operator is made; functions
    come back as NumPy arrays where they were NumPy arrays, and as CuPy arrays where they were
    those. `on_device` is the same operator for `cupyx.scipy.sparse.linalg`.

    A row needs a key within reach, one whose kernel does not underflow in float64 beside the
    heaviest key's (exp(-708)). With self-loops its own point is one: far from all others P_ii = 1
    and 𝒞f = 0. Without, using the operator raises NoMassError with the numbers of the rows, as
    `generator` does; neither walks to the nearest point. `lonely_rows` tells beforehand.

    Parameters
    ----------
    components : sequence of Component
        At least one; the shares of every row sum to one. The first is the local kernel.
    beta : float
        Inverse squared bandwidth β.
    self_loops : bool
        Whether the pairs (i, i) belong to the kernel; leaving them out needs as many queries as
        keys.
    reach : bool
        False where only differences within a row mean anything, as in softmax: then a row may lie
        as far as it likes from its keys.

    Raises
    ------
    InvalidInputError
        For shapes that do not fit, or shares that are no probabilities.
    """

    def __init__(
        self,
        components: Sequence[Component],
        beta: float,
        *,
        self_loops: bool = True,
        reach: bool = True,
    ) -> None:
        if not components or not all(isinstance(c, Component) for c in components):
            raise InvalidInputError("a Markov operator needs a sequence of at least one Component")
        shapes = {(len(c.queries), len(c.keys)) for c in components}
        if len(shapes) > 1:
            raise InvalidInputError(f"components of one operator must agree in shape, not {shapes}")
        self.components_ = tuple(components)
        self.beta = require_positive("beta", beta)
        self.device = current_device()
        self.self_loops = require_flag("self_loops", self_loops)
        # log K(x, x) of the local kernel less that of its component, or None: no reach is known
        self._own_log_kernel: Any = 0.0 if require_flag("reach", reach) else None
        super().__init__(dtype=float, shape=shapes.pop())  # type: ignore[call-arg]
        if not self_loops and not self.square:
            raise InvalidInputError("self_loops=False needs the queries to be the keys' points")
        self._check_shares()

    @classmethod
    def of_sample(
        cls,
        features: np.ndarray,
        score: GaussianScore,
        beta: float,
        *,
        self_loops: bool,
        points: np.ndarray | None = None,
    ) -> MarkovOperator:
        """The operator of a score on a sample: queries and keys are the sample's features.

        The components of a `Mixture` are its local kernel and its jumps, `share` the probability
        of each sector, row by row.

        Where the weights of the keys are estimated from the sample, `self_loops` also says
        whether the pairs (j, j) count in them. Functions of a normalisation are evaluated at
        `points`, on a chart its coordinates; at the features by default.
        """
        components, own = components_of_sample(features, score, beta, self_loops, points)
        operator = cls(components, beta, self_loops=self_loops)
        operator._own_log_kernel = own
        return operator

    def _check_shares(self) -> None:
        shares = [self.on_host(1.0 if c.share is None else c.share) for c in self.components_]
        if not np.allclose(np.sum(np.broadcast_arrays(*shares), axis=0), 1, rtol=0, atol=1e-12):
            raise InvalidInputError("the shares of the components must sum to one in every row")

    @property
    def square(self) -> bool:
        """Whether it maps functions of the sample to functions of the sample."""
        return self.shape[0] == self.shape[1]

    @cached_property
    def reversible(self) -> bool:
        """Whether P is reversible by construction: one component, a symmetric kernel.

        Then π_i ∝ exp(c_i) Σ_j K_ij satisfies π_i P_ij = π_j P_ji.
        """
        only = self.components_[0]
        return len(self.components_) == 1 and (
            only.queries is only.keys
            or np.array_equal(self.on_host(only.queries), self.on_host(only.keys))
        )

    @property
    def linalg(self) -> ModuleType:
        """`scipy.sparse.linalg`, or on a CUDA device `cupyx.scipy.sparse.linalg`."""
        return import_module(("cupyx." if self.device == "cuda" else "") + "scipy.sparse.linalg")

    @property
    def on_device(self) -> Any:
        """The operator as a `cupyx.scipy.sparse.linalg.LinearOperator`, for CuPy arrays.

        Raises
        ------
        InvalidInputError
            When the operator was not made on a CUDA device.
        """
        if self.device != "cuda":
            raise InvalidInputError(
                "this operator lives on the CPU: make it inside `with use_device('cuda')`"
            )
        return self.linalg.LinearOperator(
            self.shape,
            matvec=self._matvec,
            rmatvec=self._rmatvec,
            matmat=self._matmat,
            rmatmat=self._rmatmat,
            dtype=np.dtype(float),
        )

    def on_host(self, array: Any) -> np.ndarray:
        """The array as a NumPy array."""
        return array_module(self.device).asnumpy(array) if _is_cupy(array) else np.asarray(array)

    def _like(self, result: Any, argument: Any) -> Any:
        """The result as the kind of array that the argument was."""
        return result if _is_cupy(argument) else self.on_host(result)

    @cached_property
    def _exclude(self) -> np.ndarray | None:
        return None if self.self_loops else np.arange(self.shape[0])

    @cached_property
    def _forward(self) -> list[Callable[..., tuple[Any, Any]]]:
        """The sums of each component over its keys."""
        with use_device(self.device):
            return [self._over_keys(c, self._exclude) for c in self.components_]

    def _over_keys(
        self, component: Component, exclude: np.ndarray | None
    ) -> Callable[..., tuple[Any, Any]]:
        c = component
        return repeated_sums(c.queries, c.keys, self.beta, c.log_weights, exclude=exclude)

    @cached_property
    def _backward(self) -> list[Callable[..., tuple[Any, Any]]]:
        """The sums of each component over its queries, every row weighted by 1/mass."""
        with use_device(self.device):
            return [
                repeated_sums(c.keys, c.queries, self.beta, -log_mass, exclude=self._exclude)
                for c, log_mass in zip(self.components_, self.log_degrees.T, strict=True)
            ]

    @cached_property
    def _log_masses(self) -> np.ndarray:
        return np.stack([self.on_host(sums()[0]) for sums in self._forward], axis=1)

    @cached_property
    def log_degrees(self) -> np.ndarray:
        """log Σ_j exp(-β|u_i - v_j|² + c_j), shape (n_queries, n_components).

        Raises
        ------
        NoMassError
            When a row has no key within reach.
        """
        for m, log_mass in enumerate(self._log_masses.T):
            refuse_empty_rows(self._occupied(log_mass, m), self.beta)
        return self._log_masses

    def _occupied(self, log_mass: Any, m: int) -> Any:
        """Which rows have a key: of the local kernel m = 0 within reach, of others at all."""
        own = self._own_log_kernel
        if m or own is None:
            return log_mass > -np.inf
        xp = array_module("cuda" if _is_cupy(log_mass) else "cpu")
        weights = self.components_[0].log_weights
        heaviest = 0.0 if weights is None else float(weights.max())
        if heaviest == -np.inf:
            return log_mass > heaviest
        return log_mass + xp.asarray(own) - heaviest >= UNDERFLOW

    def lonely_rows(self) -> np.ndarray:
        """The rows that see no key but their own, where the kernels of all others underflow.

        With self-loops P_ii = 1 there and 𝒞f = 0; without, the operator refuses them by name.

        Returns
        -------
        integer ndarray
        """
        sums = self._forward[0]
        if self.self_loops and self.square:
            with use_device(self.device):
                sums = self._over_keys(self.components_[0], np.arange(self.shape[0]))
        return np.flatnonzero(~self._occupied(self.on_host(sums()[0]), 0))

    def differences(self, values: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """Σ_j P_ij (V_jk - V⁰_ik), the difference formed inside the sum.

        Parameters
        ----------
        values : ndarray, shape (n_keys, n_columns)
        centers : ndarray, shape (n_queries, n_columns)

        Returns
        -------
        ndarray, shape (n_queries, n_columns)

        Raises
        ------
        InvalidInputError
        NoMassError
            When a row has no key within reach.
        """
        xp = array_module(self.device)
        if not np.ndim(values) == np.ndim(centers) == 2:
            raise InvalidInputError("values and centers need one column a function, two dimensions")
        total = xp.zeros(np.shape(centers))
        for m, (c, sums) in enumerate(zip(self.components_, self._forward, strict=True)):
            log_mass, means = sums(values, centers)
            occupied = self._occupied(log_mass, m)
            if not bool(xp.all(occupied)):  # one number, not the array, leaves the device
                refuse_empty_rows(self.on_host(occupied), self.beta)
            total += means if c.share is None else xp.asarray(c.share)[:, None] * means
        return self._like(total, values)

    def _matmat(self, values: Any) -> Any:
        xp = array_module(self.device)
        if values.dtype.kind == "c":
            return self._matmat(values.real) + 1j * self._matmat(values.imag)
        columns = real_array("values", values, xp=xp)
        # centred at the row's own value, or at the mean: constants are then kept exactly
        centers = columns if self.square else xp.tile(columns.mean(axis=0), (self.shape[0], 1))
        return self._like(centers + self.differences(columns, centers), values)

    def _rmatmat(self, weights: Any) -> Any:
        """Pᵀw: the same kernel with queries and keys exchanged, rows weighted by 1/mass."""
        xp = array_module(self.device)
        if weights.dtype.kind == "c":
            return self._rmatmat(weights.real) + 1j * self._rmatmat(weights.imag)
        columns = real_array("weights", weights, xp=xp)
        total = xp.zeros((self.shape[1], columns.shape[1]))
        for c, sums in zip(self.components_, self._backward, strict=True):
            shared = columns if c.share is None else xp.asarray(c.share)[:, None] * columns
            log_mass, means = sums(shared)
            own = 0.0 if c.log_weights is None else xp.asarray(c.log_weights)
            total += xp.exp(log_mass + own)[:, None] * means
        return self._like(total, weights)

    def _matvec(self, values: Any) -> Any:
        return self._matmat(values.reshape(-1, 1))[:, 0]

    def _rmatvec(self, weights: Any) -> Any:
        return self._rmatmat(weights.reshape(-1, 1))[:, 0]

    def generator(self, values: np.ndarray, hbar: float = 1.0) -> np.ndarray:
        """𝒞f = 4ħβ (f - P f) at the sample, shape of `values`: (n,) or (n, n_columns).

        Raises
        ------
        InvalidInputError, NoMassError
        """
        self._need_square("the generator")
        values = on_sample("values", values, self.shape[0])
        columns = values.reshape(len(values), -1)
        scale = -4 * require_positive("hbar", hbar) * self.beta
        found = scale * self.differences(columns, columns)
        return (found + 0.0).reshape(values.shape)  # no -0

    def carre_du_champ(self, f: np.ndarray, g: np.ndarray, hbar: float = 1.0) -> np.ndarray:
        """Γ(f, g) = 2ħβ Σ_j P_ij (f_j - f_i)(g_j - g_i), shape (n,).

        As P[fg - f_i g_i] - f_i P[g - g_i] - g_i P[f - f_i], each centred inside the sum, of f and
        g less what all their values share: a constant added to f or g changes nothing.

        Raises
        ------
        InvalidInputError, NoMassError
        """
        self._need_square("Γ")
        f, g = (on_sample(name, h, self.shape[0], (1,)) for name, h in (("f", f), ("g", g)))
        xp = array_module("cuda" if _is_cupy(f) else "cpu")
        f, g = f - common_part(f, xp), g - common_part(g, xp)
        columns = xp.stack([f * g, f, g], axis=1)
        product, first, second = self.differences(columns, columns).T
        scale = 2 * require_positive("hbar", hbar) * self.beta
        return scale * (product - f * second - g * first)

    def flux(self, stationary: np.ndarray) -> LinearOperator:
        """Ω = A - Aᵀ with A = diag(π) P, antisymmetric, as an operator."""
        self._need_square("the flux")
        pi = real_array("stationary", stationary)
        if pi.shape != self.shape[:1]:
            raise InvalidInputError(f"a law needs one number a point, {self.shape[:1]}")

        def apply(v: np.ndarray) -> np.ndarray:
            v = np.reshape(v, (self.shape[0], -1))
            return pi[:, None] * self._matmat(v) - self._rmatmat(pi[:, None] * v)

        return LinearOperator(
            self.shape,
            matvec=lambda v: apply(v)[:, 0],
            rmatvec=lambda v: -apply(v)[:, 0],
            matmat=apply,
            rmatmat=lambda v: -apply(v),
            dtype=float,
        )

    def components(self) -> np.ndarray:
        """Label of the connected component of every point, over pairs visible in float64."""
        from ..kernels.connectivity import kernel_components

        if not self.reversible:
            raise InvalidInputError(
                "components are defined for one symmetric kernel: queries equal to keys"
            )
        only = self.components_[0]
        weights = None if only.log_weights is None else self.on_host(only.log_weights)
        keys, log_mass = self.on_host(only.keys), self.log_degrees[:, 0]
        return kernel_components(keys, self.beta, weights, log_mass)

    def toarray(self, largest: int = LARGEST_DENSE) -> np.ndarray:
        """The dense matrix, where it takes at most `largest` bytes.

        Raises
        ------
        InvalidInputError
            Says how many bytes it would take.
        """
        refuse_large(8 * self.shape[0] * self.shape[1], largest)
        dense, n = np.empty(self.shape), self.shape[1]
        for start in range(0, n, _COLUMNS):
            unit = np.eye(n, min(_COLUMNS, n - start), -start)
            dense[:, start : start + _COLUMNS] = self._matmat(unit)
        return np.maximum(dense, 0.0, out=dense)  # a zero may round to -1e-17

    def __getstate__(self) -> dict[str, Any]:
        """Without what was computed: sorted points, which on a device do not pickle."""
        computed = ("_forward", "_backward", "_exclude", "reversible")
        return {name: value for name, value in vars(self).items() if name not in computed}

    def _need_square(self, what: str) -> None:
        if not self.square:
            raise InvalidInputError(f"{what} needs the queries to be the keys' points")
