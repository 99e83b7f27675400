"""The estimate of the generator, 4ħβ (f - P f), from a sample."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidInputError, NoMassError
from ..kernels import gaussian_sums
from ..scores import Distance

# exp(-708) is the smallest normal float64
_UNDERFLOW = -708.0


def generator(
    points: np.ndarray,
    values: np.ndarray,
    score: Distance,
    beta: float,
    hbar: float = 1.0,
    *,
    targets: np.ndarray | None = None,
    target_values: np.ndarray | None = None,
    self_loops: bool | None = None,
) -> np.ndarray:
    """Estimate 4ħβ (f(x) - P f(x)) at targets outside the sample, or at the sample itself.

    With K_ij = exp(-β|x_i - y_j|²) h(y_j) and P_ij = K_ij / Σ_k K_ik,

        𝒞f(x_i) = -4ħβ Σ_j P_ij (f(y_j) - f(x_i)),

    the difference formed inside the sum, so that nothing is lost for large β.

    Parameters
    ----------
    points : ndarray, shape (N, D)
        The sample y_j.
    values : ndarray, shape (N,) or (N, F)
        f(y_j), one column a function.
    score : Distance
        The kernel, random-walk normalised, with or without a Doob weight.
    beta : float
        Inverse squared bandwidth.
    hbar : float
        Diffusion constant ħ.
    targets : ndarray, shape (T, D), optional
        Points outside the sample; then `target_values` is needed too. Without them the generator
        is evaluated at every sample point.
    target_values : ndarray, shape (T,) or (T, F)
        f at the targets.
    self_loops : bool, optional
        Only, and always, at the sample itself: whether the pair (i, i) belongs to the kernel. It
        multiplies 𝒞 by 1 - P_ii, so it is never chosen silently.

    Returns
    -------
    ndarray, shape (T,) or (T, F) (N rows without targets)

    Raises
    ------
    InvalidInputError
        For wrong shapes, values that are not finite, or a missing choice of self-loops.
    NoMassError
        When some rows have no key within reach at this β; the message names them.
    """
    points = np.asarray(points, dtype=float)
    values = np.asarray(values, dtype=float)
    if points.ndim != 2 or values.shape[:1] != points.shape[:1] or values.ndim > 2:
        raise InvalidInputError(
            f"points of shape (N, D) and values of shape (N,) or (N, F) are needed, "
            f"not {points.shape} and {values.shape}"
        )
    exclude = None
    if targets is None:
        if self_loops is None or target_values is not None:
            raise InvalidInputError(
                "at the sample itself say self_loops=True or False and give no target_values; "
                "elsewhere give targets and target_values"
            )
        targets, target_values = points, values
        exclude = None if self_loops else np.arange(len(points))
    elif target_values is None or self_loops is not None:
        raise InvalidInputError(
            "targets outside the sample need target_values, and have no self_loops to choose"
        )
    targets = np.asarray(targets, dtype=float)
    centers = np.asarray(target_values, dtype=float)
    if centers.shape != (len(targets), *values.shape[1:]):
        raise InvalidInputError(
            f"target_values must have shape {(len(targets), *values.shape[1:])}, "
            f"not {centers.shape}"
        )
    log_weights = score.log_weights(points)
    log_mass, means = gaussian_sums(
        score.queries(targets, beta),
        score.keys(points),
        beta,
        log_weights=log_weights,
        values=values,
        centers=centers.reshape(len(targets), -1),
        exclude=exclude,
    )
    heaviest = 0.0 if log_weights is None else float(np.max(log_weights))
    refuse_empty_rows(log_mass - heaviest >= _UNDERFLOW, beta)
    return (-4 * hbar * beta * means).reshape(centers.shape)


def refuse_empty_rows(occupied: np.ndarray, beta: float) -> None:
    """Raise NoMassError naming the rows that are not occupied."""
    empty = np.flatnonzero(~occupied)
    if len(empty):
        named = ", ".join(str(i) for i in empty[:10]) + (", ..." if len(empty) > 10 else "")
        raise NoMassError(
            f"{len(empty)} of {len(occupied)} rows have no sample point within reach at "
            f"beta = {beta:g} (rows {named}); take a smaller beta or more points"
        )
