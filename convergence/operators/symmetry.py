"""Which walks are reversible though nothing says so: kernels that are symmetric up to factors.

P is reversible where s(x_i, y_j) - s(x_j, y_i) = a_i - a_j for some a; then
π_i ∝ exp(c_i - a_i) Σ_j exp(s_ij + c_j). Equality is to the rounding of the scores themselves.
"""

from __future__ import annotations

import numpy as np

from .markov import MarkovOperator

_ROUNDING = 64 * float(np.finfo(float).eps)
_BLOCK = 1 << 20  # pairs


def score_factors(operator: MarkovOperator) -> np.ndarray | None:
    """a of a score on its own points, or None where the score is not symmetrisable.

    Every pair is looked at, once: as much as one product. Pairs left out must be so both ways.
    """
    only, n = operator.components_[0], operator.shape[0]
    x, y = operator.on_host(only.queries), operator.on_host(only.keys)
    score = operator.score  # type: ignore[attr-defined]
    factors = score(x, y[:1], operator.beta)[:, 0] - score(x[:1], y, operator.beta)[0]
    if not np.all(np.isfinite(factors)):  # masked pairs: then of a symmetric score alone
        factors = np.zeros(n)
    height = max(1, _BLOCK // n)
    for start in range(0, n, height):
        rows = slice(start, start + height)
        ahead = score(x[rows], y, operator.beta)
        back = score(x, y[rows], operator.beta).T
        present = np.isfinite(ahead)
        if not np.array_equal(present, np.isfinite(back)):
            return None
        size = np.max(np.abs(np.where(present, ahead, 0)), initial=0.0)
        wanted = factors[rows, None] - factors
        excess = np.abs(np.where(present, ahead, 0) - np.where(present, back, 0) - wanted)
        if np.max(excess, where=present, initial=0.0) > _ROUNDING * (size + np.max(np.abs(wanted))):
            return None
    return factors


def gaussian_factors(operator: MarkovOperator) -> np.ndarray | None:
    """a of a Gaussian kernel from queries u to keys v, or None where it is not symmetrisable.

    Of several components, with shares p_m and degrees d_m, each must be so, and all with one law:
    π_i ∝ exp(c_i - a_i) d_m,i / p_m,i for every m, up to a factor. The a of the first then holds
    log p too.
    """
    found, laws = [], []
    for m, part in enumerate(operator.components_):
        factors = _component_factors(operator, m)
        if factors is None:
            return None
        if part.share is not None:
            share = operator.on_host(part.share)
            if not np.all(share > 0):
                return None
            factors = factors + np.log(share)
        weights = 0.0 if part.log_weights is None else operator.on_host(part.log_weights)
        found.append(factors)
        with np.errstate(invalid="ignore"):  # of weights -inf
            laws.append(weights + operator.log_degrees[:, m] - factors)
    for law in laws[1:]:
        change = law - laws[0]
        allowed = _ROUNDING * (10 + np.max(np.abs(law)) + np.max(np.abs(laws[0])))
        if not np.ptp(change) <= allowed:  # NaN too
            return None
    return found[0]


def _component_factors(operator: MarkovOperator, m: int) -> np.ndarray | None:
    """a of one component.

    s_ij - s_ji = |v|²-terms of one point + 2β (u_i·v_j - u_j·v_i). With centred coordinates the
    antisymmetric part is U Vᵀ - V Uᵀ, which must vanish; its norm is that of a matrix of the size
    of the dimension, by a QR decomposition.
    """
    only, beta = operator.components_[m], operator.beta
    u, v = operator.on_host(only.queries), operator.on_host(only.keys)
    mean_u, mean_v = np.mean(u, axis=0), np.mean(v, axis=0)
    cu, cv = u - mean_u, v - mean_v
    d = u.shape[1]
    triangle: np.ndarray = np.linalg.qr(np.hstack([cu, cv]), mode="r")  # type: ignore[assignment]
    ru, rv = triangle[:, :d], triangle[:, d:]
    allowed = _ROUNDING * np.linalg.norm(ru) * np.linalg.norm(rv)
    if np.linalg.norm(ru @ rv.T - rv @ ru.T) > allowed:
        return None
    # u_i·v_j - u_j·v_i = b_i - b_j with b_i = u'_i·v̄ - v'_i·ū
    b = cu @ mean_v - cv @ mean_u
    factors: np.ndarray = beta * (np.sum(v * v, axis=1) - np.sum(u * u, axis=1) + 2 * b)
    return factors
