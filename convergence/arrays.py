"""The one check of arrays that callers give: real, finite, not masked, in float64.

A conversion to float64 alone would drop imaginary parts and masks, and read text as numbers.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .errors import InvalidInputError

_CHECKED_ROWS = 1 << 16  # at once, so that no temporary is as long as the input


def real_array(
    name: str, array: Any, *, xp: Any = np, finite: bool = True, copy: bool = False
) -> Any:
    """An array of real numbers in float64.

    Parameters
    ----------
    name : str
        For the message.
    array : array_like
    xp : module
        Array library of the result.
    finite : bool
        Whether NaN and infinities are refused.
    copy : bool
        Whether the result must not share memory with what was given.

    Returns
    -------
    array of `xp`, float64

    Raises
    ------
    InvalidInputError
        For complex numbers, text, ragged rows, masked entries, and numbers that are not finite.
    """
    refuse_masked(name, array)
    try:
        given = array if xp is not np and hasattr(array, "dtype") else np.asarray(array)
        if not _is_real(xp, given):
            raise TypeError(f"these are of type {given.dtype}")
        found = xp.asarray(given, dtype=xp.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"{name} must be an array of real numbers ({error})") from error
    if finite and not _all_finite(xp, found):
        raise InvalidInputError(
            f"{name} must be an array of finite numbers, and contain NaN or infinity: drop or "
            "repair those entries"
        )
    return xp.array(found) if copy else found


def complex_array(name: str, array: Any) -> np.ndarray:
    """An array of finite real or complex numbers, in float64 or complex128.

    Raises
    ------
    InvalidInputError
    """
    refuse_masked(name, array)
    found = np.asarray(array)
    if found.dtype.kind != "c":
        return real_array(name, found)
    return real_array(name, found.real) + 1j * real_array(name, found.imag)


def index_array(name: str, array: Any, size: int) -> np.ndarray:
    """An array of whole numbers from 0 to size - 1; negative ones do not count from the end.

    Raises
    ------
    InvalidInputError
    """
    refuse_masked(name, array)
    found = np.asarray(array)
    if found.size and found.dtype.kind not in "iu":
        raise InvalidInputError(f"{name} must be an array of integers, not of type {found.dtype}")
    if found.size and not (found.min() >= 0 and found.max() < size):
        raise InvalidInputError(f"{name} must lie between 0 and {size - 1}")
    return found.astype(np.intp)


def common_part(array: Any, xp: Any = np) -> Any:
    """What all entries of a column share: the smallest, where they lie within a factor of two.

    Else zero. Differences of such numbers are exact (Sterbenz) and no larger than the numbers.

    Parameters
    ----------
    array : array of `xp`, shape (n,) or (n, n_columns)

    Returns
    -------
    array of `xp`, shape () or (n_columns,)
    """
    low, high = xp.min(array, axis=0), xp.max(array, axis=0)
    least = xp.where(low > 0, low, xp.where(high < 0, high, 0.0))
    most = xp.where(low > 0, high, low)
    return xp.where(xp.abs(most) <= 2 * xp.abs(least), least, 0.0)


def refuse_masked(name: str, array: Any) -> None:
    """Raise InvalidInputError where entries are masked: a conversion would bring them back."""
    rows = array if isinstance(array, list | tuple) else [array]
    if any(isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row) for row in rows):
        raise InvalidInputError(
            f"{name} have masked entries: leave those points out, or fill them on purpose"
        )


def _is_real(xp: Any, array: Any) -> bool:
    kind = getattr(array.dtype, "kind", None)
    if kind is None:  # a type of another array library
        return bool(xp.isdtype(array.dtype, ("bool", "integral", "real floating")))
    if kind == "O":
        return all(isinstance(entry, Real) for entry in array.flat)
    return kind in "biuf"


def _all_finite(xp: Any, array: Any) -> bool:
    if array.ndim == 0:
        return bool(xp.isfinite(array))
    return all(
        bool(xp.all(xp.isfinite(array[start : min(start + _CHECKED_ROWS, array.shape[0]), ...])))
        for start in range(0, array.shape[0], _CHECKED_ROWS)
    )
