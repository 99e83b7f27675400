"""Named errors: each says what was wrong and what to do about it.

Everything a user can cause derives from `ConvergenceError`; the command line turns it into one
line on stderr and exit code 2.
"""

from numbers import Integral, Real


class ConvergenceError(Exception):
    """Base of every error this package raises on purpose."""


class InvalidInputError(ConvergenceError, ValueError):
    """Points, weights, β or a parameter have a wrong shape, sign or value."""


def _number(value: object) -> object:
    """A plain number where a 0-d array holds one that is not masked."""
    if getattr(value, "ndim", None) == 0 and not getattr(value, "mask", False):
        return value.item()  # type: ignore[attr-defined]
    return value


def require_real(name: str, value: object) -> float:
    """The value as a float, where it is a finite real number.

    Raises
    ------
    InvalidInputError
    """
    number = _number(value)
    if not isinstance(number, Real) or not abs(float(number)) < float("inf"):
        raise InvalidInputError(f"{name} must be a finite real number, not {value!r}")
    return float(number)


def require_positive(name: str, value: object) -> float:
    """The value as a float, where it is finite and positive.

    Raises
    ------
    InvalidInputError
    """
    number = _number(value)
    if not isinstance(number, Real) or not 0 < float(number) < float("inf"):
        raise InvalidInputError(f"{name} must be a finite number > 0, not {value!r}")
    return float(number)


def require_whole(name: str, value: object, least: int = 0) -> int:
    """The value as an int, where it is a whole number from `least` on.

    Raises
    ------
    InvalidInputError
    """
    number = _number(value)
    if not isinstance(number, Integral) or number < least:
        raise InvalidInputError(f"{name} must be a whole number >= {least}, not {value!r}")
    return int(number)


def require_flag(name: str, value: object) -> bool:
    """The value, where it is True or False and nothing that merely counts as one of them.

    Raises
    ------
    InvalidInputError
    """
    flag = _number(value)
    if not isinstance(flag, bool):
        raise InvalidInputError(f"{name} is True or False, not {value!r}")
    return flag


def require_tuple(name: str, values: object, kind: type | None = None) -> tuple:
    """The values as a tuple, where they are several and of one kind.

    Raises
    ------
    InvalidInputError
        For a single thing in their place, and for another kind among them.
    """
    if not isinstance(values, tuple | list):
        raise InvalidInputError(
            f"{name} must be a tuple, (x,) where there is one only, not {values!r}"
        )
    if kind is not None and not all(isinstance(value, kind) for value in values):
        raise InvalidInputError(f"{name} must be a tuple of {kind.__name__}, not {values!r}")
    return tuple(values)


LARGEST_DENSE = 2**30
"""Bytes that a dense matrix may take where nothing else is asked for."""


def refuse_large(size: int, largest: int) -> None:
    """Say how many bytes a dense matrix would take, where that is more than allowed.

    Raises
    ------
    InvalidInputError
    """
    if size > largest:
        raise InvalidInputError(
            f"the dense matrix would take {size:,} bytes, more than {largest:,}; use the "
            "operator as it is, or raise `largest`"
        )


class NoMassError(ConvergenceError, ArithmeticError):
    """A row of the kernel has no mass in float64: no key lies within reach at this β."""


class DisconnectedError(ConvergenceError, ArithmeticError):
    """A unique law or spectrum was asked of an operator with several components."""


class SpectrumError(ConvergenceError, ArithmeticError):
    """An eigenvalue solver did not give what an operator of this kind must have."""


class NoReferenceError(ConvergenceError, LookupError):
    """No exact reference is known for this space and score."""


class DeviceError(ConvergenceError, RuntimeError):
    """A GPU was asked for where none is usable."""


class StudyError(ConvergenceError, LookupError):
    """An unknown study, preset or claim, or a study file that does not define one."""


class CheckpointError(ConvergenceError, OSError):
    """A checkpoint or result cannot be read or written (full disk, foreign file, damage)."""


class WorkerError(ConvergenceError, RuntimeError):
    """A worker process died before its cell was finished."""


class QuadratureError(ConvergenceError, ArithmeticError):
    """An integral could not be computed to the promised accuracy."""


class SamplerError(ConvergenceError, ArithmeticError):
    """A sampler met a density larger than the bound its exactness rests on."""


class InfeasibleError(ConvergenceError, ArithmeticError):
    """No scaling of this kernel has the marginals asked for: its support does not allow them."""


class NotConvergedError(ConvergenceError, ArithmeticError):
    """An iteration did not reach its tolerance, so what it left must not be used."""
