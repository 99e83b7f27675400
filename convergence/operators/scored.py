"""Markov operators of scores that are no distance, on the block engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..backend import array_module
from ..errors import InvalidInputError
from ..kernels import score_sums
from ..scores import ProductScore
from .markov import Component, MarkovOperator
from .symmetry import score_factors

PairScore = Callable[[Any, Any, float], Any]


class ScoreOperator(MarkovOperator):
    """P_ij = exp(s(x_i, y_j) + c_j) / Σ_k exp(s(x_i, y_k) + c_k), any score, O(N) memory.

    Everything a `MarkovOperator` does, every pair summed. A score of minus infinity masks a pair.

    Parameters
    ----------
    score : callable
        (queries, keys, β) → scores, as in `convergence.kernels.score_sums`.
    queries, keys : ndarray, shapes (n_queries, D) and (n_keys, D)
    beta : float
    log_weights : ndarray, shape (n_keys,), optional
    self_loops : bool

    Raises
    ------
    InvalidInputError
        As `MarkovOperator`.
    NoMassError
        On use, when every pair of a row is masked; the message names the rows.
    """

    def __init__(
        self,
        score: PairScore,
        queries: np.ndarray,
        keys: np.ndarray,
        beta: float,
        log_weights: np.ndarray | None = None,
        *,
        self_loops: bool = True,
    ) -> None:
        super().__init__(
            [Component(queries, keys, log_weights)], beta, self_loops=self_loops, reach=False
        )
        if self.device != "cpu" and not isinstance(score, ProductScore):
            raise InvalidInputError(
                "scores that are no distance are summed on the CPU: make the operator outside "
                "`with use_device('cuda')`"
            )
        self.score = score

    @cached_property
    def reversible(self) -> bool:
        """Whether the score on its points is symmetric, up to factors of one point, to rounding."""
        return self._factors is not None

    @cached_property
    def _factors(self) -> np.ndarray | None:
        return score_factors(self) if self.square else None

    def components(self) -> np.ndarray:
        """Label of the communicating class of every point, over pairs visible in float64."""
        from .communication import communicating_classes

        return communicating_classes(self)

    def _over_keys(
        self, component: Component, exclude: np.ndarray | None
    ) -> Callable[..., tuple[Any, Any]]:
        c = component

        def sums(values: Any = None, centers: Any = None) -> tuple[Any, Any]:
            return score_sums(
                self.score, c.queries, c.keys, self.beta, c.log_weights, values, centers,
                exclude=exclude, xp=array_module(self.device),
            )  # fmt: skip

        return sums

    @cached_property
    def _backward(self) -> list[Callable[..., tuple[Any, Any]]]:
        only = self.components_[0]

        def transposed(keys: Any, queries: Any, beta: float) -> Any:
            return self.score(queries, keys, beta).T

        def sums(values: Any) -> tuple[Any, Any]:
            return score_sums(
                transposed, only.keys, only.queries, self.beta, -self.log_degrees[:, 0], values,
                exclude=self._exclude, xp=array_module(self.device),
            )  # fmt: skip

        return [sums]
