"""Check 1, bias: expectation → limit with the stated order in 1/β. Deterministic."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .claim import Claim, Expansion, Schedule
from .verdict import Outcome, Verdict

# promised absolute accuracy of every reference (ħ = 1), relative to values of order one
REFERENCE_ACCURACY = 1e-9


def richardson(
    values: np.ndarray, ratio: float, order: float | list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Extrapolate a sequence with errors c₁ h^p + c₂ h^{p+1} + ... as h shrinks by `ratio`.

    Parameters
    ----------
    values : ndarray, shape (B, ...)
        One row a step size, B ≥ 2.
    ratio : float
        Factor > 1 between neighbouring step sizes.
    order : float or list of float
        p > 0, or the exponents of all terms; one that is listed j + 1 times takes h^p (log h)^j out
        with h^p, since each step of the table lowers the power of the logarithm by one.

    Returns
    -------
    extrapolated : ndarray, shape (...)
    change : ndarray, shape (...)
        What the last column of the table changed: the estimate of the error left.
    """
    column, previous = values, values[-1]
    exponents = order if isinstance(order, list) else [order + k for k in range(len(values) - 1)]
    for exponent in exponents[: len(values) - 1]:
        previous = column[-1]
        column = column[1:] + (column[1:] - column[:-1]) / (ratio**exponent - 1)
    return column[-1], np.abs(column[-1] - previous)


def bias_check(claim: Claim, schedule: Schedule) -> list[Verdict]:
    """Two decisions a function: the extrapolated value and the order.

    The value passes when it meets the limit within the extrapolation's own error estimate plus
    the rounding of the references; the order when the stated one lies within the error estimate
    of the measured orders, themselves extrapolated. A claim whose bias is below every power
    passes when the difference at the largest β is below the rounding.
    """
    if not schedule.betas:
        return []
    betas = np.asarray(schedule.betas)
    expectations = np.stack([claim.expectation(beta) for beta in betas])
    verdicts = []
    for j, label in enumerate(claim.functions):
        values, limit = expectations[:, :, j], claim.limit[:, j]
        scale = max(1.0, float(np.max(np.abs(limit))))
        expansion = claim.expansion(j)
        if expansion is not None and len(betas) < 3:
            reason = "an order needs at least three β"
            verdicts.append(
                Verdict("bias", "order", label, Outcome.INCONCLUSIVE, np.nan, np.nan, reason=reason)
            )
        elif expansion is None:
            verdicts.append(_no_bias(values[-1], limit, scale, label))
        else:
            verdicts += _value_and_order(expansion, values, limit, scale, betas, label)
    return verdicts


def _no_bias(value: np.ndarray, limit: np.ndarray, scale: float, label: str) -> Verdict:
    difference = float(np.max(np.abs(value - limit)))
    tolerance = REFERENCE_ACCURACY * scale
    outcome = Outcome.PASS if difference <= tolerance else Outcome.FAIL
    reason = f"the expectation differs from the limit by {difference:.1e} (at most {tolerance:.1e})"
    return Verdict("bias", "value", label, outcome, difference, 0.0, high=tolerance, reason=reason)


def _value_and_order(
    expansion: Expansion,
    values: np.ndarray,
    limit: np.ndarray,
    scale: float,
    betas: np.ndarray,
    label: str,
) -> list[Verdict]:
    ratio = float(betas[1] / betas[0])
    exponents = expansion.exponents(len(betas) - 1)
    # the weights of a Richardson table sum to at most Π (r^k + 1)/(r^k - 1) in absolute value
    powers = ratio ** np.array(exponents)
    rounding = REFERENCE_ACCURACY * scale * float(np.prod((powers + 1) / (powers - 1)))
    extrapolated, change = _extrapolated(values, ratio, exponents)
    miss, tolerance = float(np.max(np.abs(extrapolated - limit))), float(np.max(change)) + rounding
    if tolerance > 1e-3 * scale:
        reason = "β is too small for the extrapolation"
        return [
            Verdict("bias", quantity, label, Outcome.INCONCLUSIVE, np.nan, predicted, reason=reason)
            for quantity, predicted in (("value", 0.0), ("order", expansion.order))
        ]
    meets = miss <= tolerance
    value = Verdict(
        "bias",
        "value",
        label,
        Outcome.PASS if meets else Outcome.FAIL,
        miss,
        0.0,
        high=tolerance,
        reason=f"the extrapolated expectation {'meets the limit' if meets else 'lies elsewhere'} "
        f"(off by {miss:.1e}, at most {tolerance:.1e})",
    )
    return [value, _order(expansion, values, limit, ratio, rounding, label)]


def _extrapolated(
    values: np.ndarray, ratio: float, exponents: list[float]
) -> tuple[np.ndarray, np.ndarray]:
    """The Richardson value, and its error, of the table from the first, second, ... β on.

    What is no power of 1/β, such as a boundary that the first β still see, shows where leaving one
    out changes the value; that change is part of the error, and the table with the least error is
    taken.
    """
    tables = [
        richardson(values[start:], ratio, exponents) for start in range(max(1, len(values) - 2))
    ]
    found = [
        (value, change + np.abs(value - shorter))
        for (value, change), (shorter, _) in pairwise(tables)
    ]
    return min(found or tables, key=lambda pair: float(np.max(pair[1])))


def _order(
    expansion: Expansion,
    values: np.ndarray,
    limit: np.ndarray,
    ratio: float,
    rounding: float,
    label: str,
) -> Verdict:
    """The order of a sequence of errors, extrapolated, against the stated one.

    Of β^-p log β one step of the table leaves β^-p; the next terms are then β^-2p (log β)².
    """
    stated, correction, count = expansion.order, [expansion.step, 2 * expansion.step], 3
    if expansion.logarithm:
        values = values[1:] + (values[1:] - values[:-1]) / (ratio**stated - 1)
        correction, count = 3 * [stated], 4
    norms = np.sqrt(np.mean((values - limit) ** 2, axis=1))
    if norms[-1] <= rounding:
        reason = "the bias is below the rounding of the references: no order can be measured"
        return Verdict("bias", "order", label, Outcome.INCONCLUSIVE, np.nan, stated, reason=reason)
    orders = np.log(norms[:-1] / norms[1:]) / np.log(ratio)
    best, change = richardson(orders[-count:], ratio, correction)
    # two errors, each known to `rounding`, enter a logarithm
    error = float(change) + 2 * rounding / norms[-1] / np.log(ratio)
    if error > 0.1:
        outcome = Outcome.INCONCLUSIVE
    else:
        outcome = Outcome.PASS if abs(best - stated) <= error else Outcome.FAIL
    return Verdict(
        "bias",
        "order",
        label,
        outcome,
        float(best),
        stated,
        float(best) - error,
        float(best) + error,
        reason=f"measured {best:.4f} ± {error:.1e}, stated {stated:g}",
    )
