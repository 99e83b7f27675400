"""The row-normalised kernel as a matrix-free operator on functions of the sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator
from scipy.special import softmax

from ..backend import array_module, current_device, use_device
from ..errors import (
    LARGEST_DENSE,
    InvalidInputError,
    refuse_large,
    require_positive,
)
from ..kernels import repeated_sums
from ..scores import Distance, GaussianScore
from .generator import checked_floats, refuse_empty_rows
from .normalisations import sample_log_weights

_COLUMNS = 256  # of a dense matrix made at once


@dataclass(frozen=True)
class Component:
    """One Markov kernel P_ij = exp(-β|u_i - v_j|² + c_j) / Σ_k exp(-β|u_i - v_k|² + c_k).

    Attributes
    ----------
    queries, keys : ndarray, shapes (n_queries, D) and (n_keys, D)
    log_weights : ndarray, shape (n_keys,), or None
        c; None is zero.
    share : ndarray, shape (n_queries,), or None
        Weight of this component in a mixture, row by row; None is one.
    """

    queries: np.ndarray
    keys: np.ndarray
    log_weights: np.ndarray | None = None
    share: np.ndarray | None = None


class MarkovOperator(LinearOperator):
    """P = Σ_m diag(share_m) P_m, a mixture of row-normalised Gaussian kernels; O(N) memory.

    A `scipy.sparse.linalg.LinearOperator`: `P @ f`, `P.T @ w`, also with several columns. Points
    are sorted once and stay on the device that is current when the operator is made; functions
    come back as NumPy arrays where they were NumPy arrays, and as CuPy arrays where they were
    those. `on_device` is the same operator for `cupyx.scipy.sparse.linalg`.

    Parameters
    ----------
    components : sequence of Component
        At least one; the shares of every row sum to one.
    beta : float
        Inverse squared bandwidth β.
    self_loops : bool
        Whether the pairs (i, i) belong to the kernel; leaving them out needs as many queries as
        keys.

    Raises
    ------
    InvalidInputError
        For shapes that do not fit, or shares that are no probabilities.
    """

    def __init__(
        self, components: Sequence[Component], beta: float, *, self_loops: bool = True
    ) -> None:
        if not components:
            raise InvalidInputError("a Markov operator needs at least one component")
        shapes = {(len(c.queries), len(c.keys)) for c in components}
        if len(shapes) > 1:
            raise InvalidInputError(f"components of one operator must agree in shape, not {shapes}")
        for c in components:
            if c.log_weights is not None and np.shape(c.log_weights) != (len(c.keys),):
                raise InvalidInputError(
                    f"log_weights need one number a key, ({len(c.keys)},), not "
                    f"{np.shape(c.log_weights)}"
                )
        self.components_ = tuple(components)
        self.beta = require_positive("beta", beta)
        self.device = current_device()
        self.self_loops = self_loops
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
        if not isinstance(score, GaussianScore):
            raise InvalidInputError(
                f"{type(score).__name__} is no distance kernel: sum it with kernels.score_sums"
            )
        if _is_cupy(features):
            features = array_module("cuda").asnumpy(features)
        features = checked_floats("features", features)  # a copy: the caller may change his own
        log_weights: np.ndarray | None
        if isinstance(score, Distance) and score.reuses_sample:
            log_weights = sample_log_weights(
                features, score, beta, self_loops=self_loops, points=points
            )
        else:
            log_weights = score.log_weights(features, points)
        parts, keys = score.parts(features, beta), score.keys(features)
        # exp(-β'|u-v|²) is the kernel of β on points stretched by sqrt(β'/β)
        stretch = [1.0 if p.beta == beta else float(np.sqrt(p.beta / beta)) for p in parts]
        components = [
            Component(
                p.queries if s == 1 else s * p.queries, keys if s == 1 else s * keys, log_weights
            )
            for p, s in zip(parts, stretch, strict=True)
        ]
        if len(parts) > 1:
            masses = [
                cls([c], beta, self_loops=self_loops).log_degrees[:, 0] + p.log_weight
                for c, p in zip(components, parts, strict=True)
            ]
            shares = softmax(np.stack(masses), axis=0)
            components = [
                replace(c, share=share) for c, share in zip(components, shares, strict=True)
            ]
        return cls(components, beta, self_loops=self_loops)

    def _check_shares(self) -> None:
        if len(self.components_) == 1 and self.components_[0].share is None:
            return
        total = np.zeros(self.shape[0])
        for component in self.components_:
            share = 1.0 if component.share is None else self.on_host(component.share)
            if np.any(share < 0) or np.shape(share) not in ((), (self.shape[0],)):
                raise InvalidInputError("shares must be non-negative, one number a query")
            total = total + share
        if not np.allclose(total, 1, rtol=0, atol=1e-12):
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
            return [
                repeated_sums(c.queries, c.keys, self.beta, c.log_weights, exclude=self._exclude)
                for c in self.components_
            ]

    @cached_property
    def _backward(self) -> list[Callable[..., tuple[Any, Any]]]:
        """The sums of each component over its queries, every row weighted by 1/mass."""
        with use_device(self.device):
            return [
                repeated_sums(c.keys, c.queries, self.beta, -log_mass, exclude=self._exclude)
                for c, log_mass in zip(self.components_, self.log_degrees.T, strict=True)
            ]

    @cached_property
    def log_degrees(self) -> np.ndarray:
        """log Σ_j exp(-β|u_i - v_j|² + c_j), shape (n_queries, n_components).

        Raises
        ------
        NoMassError
            When a row has no key left.
        """
        columns = [self.on_host(sums()[0]) for sums in self._forward]
        for log_mass in columns:
            refuse_empty_rows(log_mass > -np.inf, self.beta)
        return np.stack(columns, axis=1)

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
        NoMassError
            When a row has no key left.
        """
        xp = array_module(self.device)
        total = xp.zeros(centers.shape)
        for c, sums in zip(self.components_, self._forward, strict=True):
            log_mass, means = sums(values, centers)
            if not bool(xp.all(log_mass > -np.inf)):  # one number, not the array, leaves the device
                refuse_empty_rows(self.on_host(log_mass) > -np.inf, self.beta)
            total += means if c.share is None else xp.asarray(c.share)[:, None] * means
        return self._like(total, values)

    def _matmat(self, values: Any) -> Any:
        xp = array_module(self.device)
        if values.dtype.kind == "c":
            return self._matmat(values.real) + 1j * self._matmat(values.imag)
        columns = xp.asarray(values, dtype=float)
        # centred at the row's own value, or at the mean: constants are then kept exactly
        centers = columns if self.square else xp.tile(columns.mean(axis=0), (self.shape[0], 1))
        return self._like(centers + self.differences(columns, centers), values)

    def _rmatmat(self, weights: Any) -> Any:
        """Pᵀw: the same kernel with queries and keys exchanged, rows weighted by 1/mass."""
        xp = array_module(self.device)
        if weights.dtype.kind == "c":
            return self._rmatmat(weights.real) + 1j * self._rmatmat(weights.imag)
        columns = xp.asarray(weights, dtype=float)
        total = xp.zeros((self.shape[1], columns.shape[1]))
        for c, sums in zip(self.components_, self._backward, strict=True):
            shared = columns if c.share is None else xp.asarray(c.share)[:, None] * columns
            log_mass, means = sums(shared)
            own = 0.0 if c.log_weights is None else xp.asarray(c.log_weights, dtype=float)
            total += xp.exp(log_mass + own)[:, None] * means
        return self._like(total, weights)

    def _matvec(self, values: Any) -> Any:
        return self._matmat(values.reshape(-1, 1))[:, 0]

    def _rmatvec(self, weights: Any) -> Any:
        return self._rmatmat(weights.reshape(-1, 1))[:, 0]

    def generator(self, values: np.ndarray, hbar: float = 1.0) -> np.ndarray:
        """𝒞f = 4ħβ (f - P f) at the sample, shape of `values`: (n,) or (n, n_columns)."""
        self._need_square("the generator")
        columns = values.reshape(self.shape[0], -1)
        return (-4 * hbar * self.beta * self.differences(columns, columns)).reshape(values.shape)

    def carre_du_champ(self, f: np.ndarray, g: np.ndarray, hbar: float = 1.0) -> np.ndarray:
        """Γ(f, g) = 2ħβ Σ_j P_ij (f_j - f_i)(g_j - g_i), shape (n,).

        As P[fg - f_i g_i] - f_i P[g - g_i] - g_i P[f - f_i], each centred inside the sum.
        """
        self._need_square("Γ")
        xp = array_module(self.device) if _is_cupy(f) else np
        columns = xp.stack([f * g, f, g], axis=1)
        product, first, second = self.differences(columns, columns).T
        return 2 * hbar * self.beta * (product - f * second - g * first)

    def flux(self, stationary: np.ndarray) -> LinearOperator:
        """Ω = A - Aᵀ with A = diag(π) P, antisymmetric, as an operator."""
        self._need_square("the flux")
        pi = np.asarray(stationary, dtype=float)

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
        return dense

    def __getstate__(self) -> dict[str, Any]:
        """Without what was computed: sorted points, which on a device do not pickle."""
        computed = ("_forward", "_backward", "_exclude", "reversible")
        return {name: value for name, value in vars(self).items() if name not in computed}

    def _need_square(self, what: str) -> None:
        if not self.square:
            raise InvalidInputError(f"{what} needs the queries to be the keys' points")


def _is_cupy(array: Any) -> bool:
    return hasattr(array, "__cuda_array_interface__")
