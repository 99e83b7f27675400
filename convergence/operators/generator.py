"""The estimate of the generator, 4ħβ (f - P f), from a sample."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.special import softmax

from ..arrays import real_array
from ..errors import InvalidInputError, NoMassError, require_flag, require_positive
from ..kernels import gaussian_sums, score_sums
from ..scores import Distance, GaussianScore, Score

# exp(-708) is the smallest normal float64
UNDERFLOW = -708.0
# of a few targets with a block of keys: temporaries that stay in the cache
_PAIRS = 1 << 15


def generator(
    points: np.ndarray,
    values: np.ndarray,
    score: Score,
    beta: float,
    hbar: float = 1.0,
    *,
    targets: np.ndarray | None = None,
    target_values: np.ndarray | None = None,
    self_loops: bool | None = None,
    log_weights: np.ndarray | None = None,
) -> np.ndarray:
    """Estimate 4ħβ (f(x) - P f(x)) at targets outside the sample, or at the sample itself.

    With K_ij = exp(-β|x_i - y_j|² + x_iᵀMy_j) h(y_j), or exp(s(x_i, y_j)) of another score,
    and P_ij = K_ij / Σ_k K_ik,

        𝒞f(x_i) = -4ħβ Σ_j P_ij (f(y_j) - f(x_i)),

    the difference formed inside the sum, so that nothing is lost for large β.

    Parameters
    ----------
    points : ndarray, shape (N, D)
        The sample y_j (on a chart its features).
    values : ndarray, shape (N,) or (N, F)
        f(y_j), one column a function.
    score : Distance, GeneralLink, Mixture, IndefiniteHead, PerPointMetric or Causal
        The kernel and, for a distance, its link and the weight on its keys.
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
    log_weights : ndarray, shape (N,), optional
        log h(y_j) at the sample, in place of the score's own: needed where the weights are
        themselves estimated from the sample (see `sample_log_weights`).

    Returns
    -------
    ndarray, shape (T,) or (T, F) (N rows without targets)

    Raises
    ------
    InvalidInputError
        For wrong shapes, values that are not finite, or a missing choice of self-loops.
    NoMassError
        When some rows have no key within reach at this β; the message names them. Within reach is
        a key whose kernel does not underflow beside the heaviest one, exp(-708). At the sample with
        self-loops a row's own point is one, and 𝒞f = 0 far from all others; see
        `MarkovOperator.lonely_rows`.
    """
    points, values = real_array("points", points), real_array("values", values)
    _refuse_shapes("points", points, "values", values)
    if targets is not None:
        if target_values is None or self_loops is not None:
            raise InvalidInputError(
                "targets outside the sample need target_values, and have no self_loops to choose"
            )
        return streamed_generator(
            [(points, values, log_weights)],
            score,
            beta,
            hbar,
            targets=targets,
            target_values=target_values,
        )
    if self_loops is None or target_values is not None:
        raise InvalidInputError(
            "at the sample itself say self_loops=True or False and give no target_values; "
            "elsewhere give targets and target_values"
        )
    require_positive("beta", beta)
    require_positive("hbar", hbar)
    columns = _columns(values)
    exclude = None if require_flag("self_loops", self_loops) else np.arange(len(points))
    reach, log_masses, means = _sums(
        points, columns, score, beta, points, columns, log_weights, exclude
    )
    refuse_empty_rows(reach >= UNDERFLOW, beta)
    return _scaled(log_masses, means, beta, hbar).reshape(values.shape)


def streamed_generator(
    chunks: Iterable[tuple[np.ndarray | None, ...]],
    score: Score,
    beta: float,
    hbar: float = 1.0,
    *,
    targets: np.ndarray,
    target_values: np.ndarray,
) -> np.ndarray:
    """The same estimate at targets outside the sample, from a sample that comes in chunks.

    Only one chunk is held at a time; partial sums are merged as log-sum-exp.

    Parameters
    ----------
    chunks : iterable of (points, values) or (points, values, log_weights)
        Shapes (N_k, D), (N_k,) or (N_k, F), and (N_k,); without log-weights, or where they are
        None, those of the score are taken.
    score, beta, hbar, targets, target_values
        As in `generator`.

    Returns
    -------
    ndarray, the shape of `target_values`
    """
    require_positive("hbar", hbar)
    log_masses, means = streamed_parts(
        chunks, score, beta, targets=targets, target_values=target_values
    )
    return _scaled(log_masses, means, beta, hbar).reshape(np.shape(target_values))


def streamed_parts(
    chunks: Iterable[tuple[np.ndarray | None, ...]],
    score: Score,
    beta: float,
    *,
    targets: np.ndarray,
    target_values: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Mass and centred mean of every part of a score's kernel, from a sample in chunks.

    A `Mixture` has its local kernel and one part a jump; every other score is one part. A row of
    P is the mixture of its parts with probabilities in proportion to their masses.

    Parameters
    ----------
    chunks, score, beta, targets, target_values
        As in `streamed_generator`.

    Returns
    -------
    log_masses : ndarray, shape (T, parts)
        log Σ_j K_m(x, y_j).
    means : ndarray, shape (T, parts, F)
        Σ_j K_m(x, y_j) (V_j - V⁰) / Σ_j K_m(x, y_j), V⁰ the value at the target.
    """
    require_positive("beta", beta)
    targets, target_values = (
        real_array("targets", targets),
        real_array("target_values", target_values),
    )
    _refuse_shapes("targets", targets, "target_values", target_values)
    centers = _columns(target_values)
    reach = np.full(len(targets), -np.inf)
    log_masses, means = np.full((len(targets), 1), -np.inf), np.zeros((len(targets), 1, 1))
    for points, values, *given in chunks:
        points, values = real_array("points", points), real_array("values", values)
        _refuse_shapes("points", points, "values", values)
        if values.shape[1:] != target_values.shape[1:]:
            raise InvalidInputError(
                f"values of shape {values.shape} and target_values of shape "
                f"{target_values.shape} have different columns"
            )
        log_weights = given[0] if given else None
        part_reach, part_masses, part_means = _sums(
            points, _columns(values), score, beta, targets, centers, log_weights
        )
        total = np.logaddexp(log_masses, part_masses)
        kept, added = (
            np.exp(m - np.where(total > -np.inf, total, 0)) for m in (log_masses, part_masses)
        )
        means = kept[..., None] * means + added[..., None] * part_means
        reach, log_masses = np.maximum(reach, part_reach), total
    refuse_empty_rows(reach >= UNDERFLOW, beta)
    return log_masses, means


def streamed_degree(
    chunks: Iterable[np.ndarray], score: Distance, beta: float, *, targets: np.ndarray
) -> np.ndarray:
    """The degree q_β(x) = (1/N) Σ_j K(u, y_j) h(y_j), from a sample that comes in chunks.

    u is the query x, moved where the score has a link; K(u, y) = exp(-β|u - y|²).

    Parameters
    ----------
    chunks : iterable of ndarray, shapes (N_k, D)
    score, beta
        As in `generator`.
    targets : ndarray, shape (T, D)

    Returns
    -------
    ndarray, shape (T,)
    """
    require_positive("beta", beta)
    if not isinstance(score, Distance) or score.reuses_sample:
        raise InvalidInputError(
            f"the degree of {score!r} is not the mean of a kernel over the sample: use a Distance "
            "with the random walk's normalisation or a key potential"
        )
    targets = real_array("targets", targets)
    if targets.ndim != 2 or not targets.size:
        raise InvalidInputError(f"targets of shape (T, D) are needed, not {targets.shape}")
    log_mass, count = np.full(len(targets), -np.inf), 0
    for points in (real_array("points", chunk) for chunk in chunks):
        queries, keys = score.queries(targets, beta), score.keys(points)
        part, _ = gaussian_sums(queries, keys, beta, score.log_weights(points))
        log_mass, count = np.logaddexp(log_mass, part), count + len(points)
    if not count:
        raise InvalidInputError("the sample has no points: pass at least one chunk")
    return np.exp(log_mass) / count


def _refuse_shapes(name: str, points: np.ndarray, of: str, values: np.ndarray) -> None:
    wrong = points.ndim != 2 or not points.size or values.ndim not in (1, 2)
    if wrong or len(values) != len(points):
        raise InvalidInputError(
            f"{name} of shape (N, D) and {of} of shape (N,) or (N, F) are needed, not "
            f"{points.shape} and {values.shape}"
        )


def _columns(values: np.ndarray) -> np.ndarray:
    """One column a function, also where there is a single one."""
    return values[:, None] if values.ndim == 1 else values


def _sums(
    points: np.ndarray,
    values: np.ndarray,
    score: Score,
    beta: float,
    targets: np.ndarray,
    centers: np.ndarray,
    log_weights: np.ndarray | None,
    exclude: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-mass (T,) of the first part relative to the heaviest key, and every part's sums.

    Log-masses have the shape (T, parts), centred means (T, parts, F).
    """
    if not isinstance(score, GaussianScore):  # scores ≤ 0 that are no distance
        log_mass, means = score_sums(
            score, targets, points, beta, log_weights, values, centers,
            exclude=exclude, block_size=max(2048, _PAIRS // len(targets)),
        )  # fmt: skip
        first, found = log_mass, [(log_mass, means)]
    else:
        if log_weights is None:
            log_weights = score.log_weights(points)
        keys, found = score.keys(points), []
        for part in score.parts(targets, beta):
            log_mass, means = gaussian_sums(
                part.queries, keys, part.beta, log_weights, values, centers, exclude=exclude
            )
            found.append((log_mass + part.log_weight, means))
        first = found[0][0]
    heaviest = 0.0 if log_weights is None else float(np.max(log_weights))
    log_masses, columns = (np.stack(each, axis=1) for each in zip(*found, strict=True))
    return first - heaviest, log_masses, columns


def _scaled(log_masses: np.ndarray, means: np.ndarray, beta: float, hbar: float) -> np.ndarray:
    """-4ħβ times the mean over all parts."""
    mean = np.einsum("tm,tmf->tf", softmax(log_masses, axis=1), means)
    return -4 * hbar * beta * mean + 0.0  # no -0


def refuse_empty_rows(occupied: np.ndarray, beta: float) -> None:
    """Raise NoMassError naming the rows that are not occupied."""
    empty = np.flatnonzero(~occupied)
    if len(empty):
        named = ", ".join(str(i) for i in empty[:10]) + (", ..." if len(empty) > 10 else "")
        raise NoMassError(
            f"{len(empty)} of {len(occupied)} rows have no sample point within reach at "
            f"beta = {beta:g} (rows {named}); take a smaller beta, more points, the self-loops, "
            "or a mask that leaves every row a key"
        )
