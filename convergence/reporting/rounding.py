"""Numbers with uncertainties, to matching digits."""

from __future__ import annotations

import numpy as np


def with_uncertainty(value: float, error: float) -> str:
    """value(error) with the error's two leading digits in units of the last place: -0.2857(31).

    An error of zero, or none, gives four significant digits.
    """
    if not np.isfinite(value):
        return "-"
    if not (np.isfinite(error) and error > 0):
        return f"{value:.4g}"
    decimals = max(0, 1 - int(np.floor(np.log10(error))))
    digits = round(error * 10**decimals)
    if digits >= 100 and decimals > 0:  # 0.0996 → 0.10
        decimals -= 1
        digits = round(error * 10**decimals)
    return f"{value:.{decimals}f}({digits})"


def percent(value: float) -> str:
    """A fraction in percent, two significant digits."""
    if not np.isfinite(value):
        return "-"
    return np.format_float_positional(100 * value, 2, fractional=False, trim="-") + " %"
