"""Named errors: each says what was wrong and what to do about it.

Everything a user can cause derives from `ConvergenceError`; the command line turns it into one
line on stderr and exit code 2.
"""


class ConvergenceError(Exception):
    """Base of every error this package raises on purpose."""


class InvalidInputError(ConvergenceError, ValueError):
    """Points, weights, β or a parameter have a wrong shape, sign or value."""


def require_positive(name: str, value: float) -> float:
    """The value as a float, where it is finite and positive.

    Raises
    ------
    InvalidInputError
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 < number < float("inf"):
        raise InvalidInputError(f"{name} must be a finite number > 0, not {value!r}")
    return number


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
