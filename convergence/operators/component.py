"""The arrays of one Markov kernel, checked and copied."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from ..arrays import real_array
from ..backend import array_module
from ..errors import InvalidInputError
from ..kernels import gaussian_sums
from ..scores import Distance, GaussianScore
from .normalisations import sample_log_weights


@dataclass(frozen=True)
class Component:
    """One Markov kernel P_ij = exp(-β|u_i - v_j|² + c_j) / Σ_k exp(-β|u_i - v_k|² + c_k).

    Arrays are copied, so that a change of the caller's own leaves the operator as it is; one array
    as queries and keys stays one array.

    Attributes
    ----------
    queries, keys : ndarray, shapes (n_queries, D) and (n_keys, D)
    log_weights : ndarray, shape (n_keys,), or None
        c, minus infinity for weight zero; None is zero.
    share : ndarray, shape (n_queries,), or None
        Weight of this component in a mixture, row by row; None is one.

    Raises
    ------
    InvalidInputError
        For arrays that are not real and finite, masked entries, or shapes that do not fit.
    """

    queries: np.ndarray
    keys: np.ndarray
    log_weights: np.ndarray | None = None
    share: np.ndarray | None = None

    def __post_init__(self) -> None:
        queries = own_copy("queries", self.queries)
        keys = queries if self.keys is self.queries else own_copy("keys", self.keys)
        if not queries.ndim == keys.ndim == 2 or queries.shape[1] != keys.shape[1]:
            raise InvalidInputError(
                f"queries and keys need shapes (n_queries, D) and (n_keys, D), not {queries.shape} "
                f"and {keys.shape}"
            )
        log_weights, share = self.log_weights, self.share
        if log_weights is not None:
            log_weights = own_copy("log_weights", log_weights, finite=False)
            if not bool((log_weights < np.inf).all()):
                raise InvalidInputError("log_weights are below infinity, minus infinity for none")
            if log_weights.shape != (len(keys),):
                raise InvalidInputError(
                    f"log_weights need one number a key, ({len(keys)},), not {log_weights.shape}"
                )
        if share is not None:
            share = own_copy("share", share)
            if share.shape != (len(queries),) or bool((share < 0).any()):
                raise InvalidInputError("shares must be non-negative, one number a query")
        for name, array in (
            ("queries", queries), ("keys", keys), ("log_weights", log_weights), ("share", share),
        ):  # fmt: skip
            object.__setattr__(self, name, array)


def is_cupy(array: Any) -> bool:
    """Whether the array lives on a CUDA device."""
    return hasattr(array, "__cuda_array_interface__")


def own_copy(name: str, array: Any, *, finite: bool = True) -> Any:
    """A checked copy on the device where the array is.

    Raises
    ------
    InvalidInputError
    """
    xp = array_module("cuda" if is_cupy(array) else "cpu")
    return real_array(name, array, xp=xp, finite=finite, copy=True)


def on_sample(name: str, values: Any, n: int, dimensions: tuple[int, ...] = (1, 2)) -> Any:
    """Values at the n points of a sample, in float64 on the device where they are.

    Raises
    ------
    InvalidInputError
        For another shape than (n,), or (n, F) where two dimensions are allowed.
    """
    found = real_array(name, values, xp=array_module("cuda" if is_cupy(values) else "cpu"))
    if found.ndim not in dimensions or found.shape[0] != n:
        shapes = f"({n},)" + (f" or ({n}, F)" if 2 in dimensions else "")
        raise InvalidInputError(f"{name} need shape {shapes}, not {found.shape}")
    return found


def components_of_sample(
    features: np.ndarray,
    score: GaussianScore,
    beta: float,
    self_loops: bool,
    points: np.ndarray | None,
) -> tuple[list[Component], np.ndarray | float]:
    """Those of a score on a sample, and log K(x, x) of the local kernel less its component's.

    Parameters
    ----------
    features, score, beta, self_loops, points
        As in `MarkovOperator.of_sample`.

    Raises
    ------
    InvalidInputError
    """
    if not isinstance(score, GaussianScore):
        raise InvalidInputError(
            f"{type(score).__name__} is no distance kernel: sum it with kernels.score_sums"
        )
    if is_cupy(features):
        features = array_module("cuda").asnumpy(features)
    features = real_array("features", features)
    if features.ndim != 2 or not features.size:
        raise InvalidInputError(f"features need shape (N, D), not {features.shape}")
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
        Component(p.queries if s == 1 else s * p.queries, keys if s == 1 else s * keys, log_weights)
        for p, s in zip(parts, stretch, strict=True)
    ]
    if len(parts) > 1:
        exclude = None if self_loops else np.arange(len(features))
        masses = [
            gaussian_sums(c.queries, c.keys, beta, log_weights, exclude=exclude)[0] + p.log_weight
            for c, p in zip(components, parts, strict=True)
        ]
        components = [
            replace(c, share=share)
            for c, share in zip(components, softmax(np.stack(masses), axis=0), strict=True)
        ]
    return components, parts[0].log_weight
