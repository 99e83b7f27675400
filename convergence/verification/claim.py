"""A claim: an operator built from N samples at inverse bandwidth β converges to a known limit.

Three different objects are held apart: the LIMIT (N = ∞, β = ∞), the EXPECTATION (N = ∞, finite β)
and the ESTIMATE (finite N and β):

    estimate - limit = (estimate - expectation) + (expectation - limit)
                        sampling error, N^-1/2      bias, usually β^-1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from ..errors import InvalidInputError, require_positive, require_tuple, require_whole


class Sampler(Protocol):
    """Where samples come from; every `convergence.spaces.Space` is one."""

    @property
    def dim(self) -> int: ...
    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray: ...


@dataclass(frozen=True)
class Setting:
    """N samples at inverse bandwidth β, drawn `replicates` times."""

    n: int
    beta: float
    replicates: int

    def __post_init__(self) -> None:
        for name in ("n", "replicates"):
            value = require_whole(f"{name} of a setting", getattr(self, name), least=1)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "beta", require_positive("beta of a setting", self.beta))


@dataclass(frozen=True)
class Schedule:
    """Where a claim is measured.

    Attributes
    ----------
    betas : tuple of float
        Increasing by a common factor; for the bias check, which samples nothing.
    sampling : tuple of Setting
        For the sampling check (and the faults).
    joint : tuple of Setting
        Increasing N with β = β(N); for the joint check.
    identity : tuple of Setting
        For the identity check.
    """

    betas: tuple[float, ...] = ()
    sampling: tuple[Setting, ...] = ()
    joint: tuple[Setting, ...] = ()
    identity: tuple[Setting, ...] = ()

    def __post_init__(self) -> None:
        for name in ("sampling", "joint", "identity"):
            settings = require_tuple(f"the {name} settings", getattr(self, name), Setting)
            if len({(s.n, s.beta) for s in settings}) < len(settings):
                raise InvalidInputError(f"the {name} settings of a schedule repeat an (n, beta)")
        given = require_tuple("the betas of a schedule", self.betas)
        betas = [require_positive("beta of a schedule", beta) for beta in given]
        ratios = np.divide(betas[1:], betas[:-1])
        if len(betas) > 1 and not (ratios[0] > 1 and np.allclose(ratios, ratios[0], rtol=1e-6)):
            raise InvalidInputError(f"betas must increase by a common factor, not {self.betas}")
        object.__setattr__(self, "betas", tuple(betas))


Reference = Callable[[float], np.ndarray]
"""β → an array (targets, functions)."""

# The normal law and the leading-order variance hold up to relative errors of order 1/degree:
# measured, under 2/degree, so 200 neighbours keep them under a percent.
LEAST_EFFECTIVE_DEGREE = 200.0

CHECKS = ("bias", "sampling", "joint", "faults", "identity")


@dataclass(frozen=True)
class Fault:
    """A wrong reference that the data must reject.

    Holding the right estimate against a wrong reference is the same test as holding a wrong
    operator against the right one, so a fault needs no samples of its own.

    Attributes
    ----------
    name : str
    expectation : callable
        β → the wrong N = ∞ value, shape (targets, functions).
    """

    name: str
    expectation: Reference


@dataclass(frozen=True)
class Batch:
    """Estimates measured at one setting, shape (replicates, targets, functions)."""

    setting: Setting
    values: np.ndarray


class Expansion(NamedTuple):
    """How a bias goes on for β → ∞: c₁ h^p + c₂ h^{p+s} + ..., h = 1/β.

    Attributes
    ----------
    order, step : float
        p and s.
    logarithm : bool
        Whether it is an expansion in h^p and h^p log h.
    """

    order: float
    step: float = 1.0
    logarithm: bool = False

    def exponents(self, count: int) -> list[float]:
        """For a Richardson table: h^{kp} comes with powers of log h up to the k-th."""
        if not self.logarithm:
            return [self.order + self.step * k for k in range(count)]
        return [k * self.order for k in range(1, count + 1) for _ in range(k + 1)][:count]


@dataclass(frozen=True)
class Claim:
    """An estimate with its references and the checks that apply to it.

    Attributes
    ----------
    id : str
        Unique within a study.
    statement, source : str
        One sentence with symbols (LaTeX between dollars), and where it is from.
    space : Sampler
    functions : tuple of str
        LaTeX labels of the test functions, the columns of every array.
    estimate : callable
        (points, β) → (targets, functions); points is an array (N, D), or where `streamed` is set
        an iterator over arrays (N_k, D).
    streamed : bool
        Whether the estimate takes its sample in chunks.
    expectation : callable
        β → (targets, functions), N = ∞.
    limit : ndarray, shape (targets, functions)
    schedules : mapping from preset to Schedule
    sampling_error : callable, optional
        (N, β) → (mean shift, standard deviation), each (targets, functions). None: replicate
        errors are used, and the scale of the errors is not tested.
    effective_degree : callable, optional
        (N, β) → (targets,), the number of samples a kernel row sees.
    least_degree : float
        What the effective degrees must be for a sampling check.
    bias_order : float or tuple of float, optional
        expectation - limit = O(β^-order), one for all functions or each its own. None: smaller
        than every power.
    bias_step : float
        Between the exponents of its expansion: c₁ β^-order + c₂ β^-(order + step) + ...
    bias_logarithm : bool
        Whether it starts with β^-order log β.
    slope : float, optional
        Predicted exponent of the error in N along the joint schedule, for β → ∞.
    error_weights : callable, optional
        (N, β) → sizes of the errors up to a common factor, (targets, functions), for weights where
        there is no `sampling_error`. Any positive sizes are valid; right ones see most.
    parts : mapping from name to callable
        β → what the expectation loses without one of its parts, (targets, functions), for example
        "drift". Each is tested by a factor of its own.
    slope_is_bound : bool
        True where theory gives "at least as fast" only. Without `sampling_error` the bound is the
        slower of `slope` and the slope of |expectation - limit| over the same N; the sampling error
        must then fall at least like N^-1/2.
    faults : tuple of Fault
    tolerance : float
        Of an exact identity: machine epsilon times a stated condition number.
    wrong : tuple of str
        Of an exact identity: those of `functions` that hold residuals of wrong identities.
    refutes : str
        A printed claim that a PASS refutes.
    configuration : str
        Everything the estimates depend on, in words; part of a cell's identity.
    checks : tuple of str
    """

    id: str
    statement: str
    source: str
    space: Sampler
    functions: tuple[str, ...]
    estimate: Callable[..., np.ndarray]
    expectation: Reference
    limit: np.ndarray
    schedules: Mapping[str, Schedule]
    sampling_error: Callable[[int, float], tuple[np.ndarray, np.ndarray]] | None = None
    effective_degree: Callable[[int, float], np.ndarray] | None = None
    least_degree: float = LEAST_EFFECTIVE_DEGREE
    bias_order: float | tuple[float, ...] | None = 1.0
    bias_step: float = 1.0
    bias_logarithm: bool = False
    slope: float | None = None
    error_weights: Callable[[int, float], np.ndarray] | None = None
    parts: Mapping[str, Reference] = field(default_factory=dict)
    slope_is_bound: bool = False
    faults: tuple[Fault, ...] = ()
    tolerance: float = 0.0
    wrong: tuple[str, ...] = ()
    refutes: str = ""
    configuration: str = ""
    streamed: bool = False
    checks: tuple[str, ...] = field(default=("bias", "sampling", "joint", "faults"))

    def __post_init__(self) -> None:
        if isinstance(self.functions, str) or not isinstance(self.functions, tuple | list):
            raise InvalidInputError(
                f"the functions of claim {self.id!r} are a tuple of labels: (label,), not "
                f"{self.functions!r}"
            )
        require_tuple(f"the faults of claim {self.id!r}", self.faults, Fault)
        require_tuple(f"the checks of claim {self.id!r}", self.checks, str)
        if np.ndim(self.limit) != 2 or np.shape(self.limit)[1] != len(self.functions):
            raise InvalidInputError(
                f"the limit of claim {self.id!r} must have shape (targets, {len(self.functions)} "
                f"functions), not {np.shape(self.limit)}"
            )
        if not np.all(np.isfinite(self.limit)):
            raise InvalidInputError(f"the limit of claim {self.id!r} is not finite")
        unknown = [check for check in self.checks if check not in CHECKS]
        if unknown:
            raise InvalidInputError(
                f"claim {self.id!r} lists unknown checks: {', '.join(map(repr, unknown))}; "
                f"known are {', '.join(CHECKS)}"
            )

    def expansion(self, j: int) -> Expansion | None:
        """That of one function's bias; None where it is smaller than every power."""
        order = self.bias_order[j] if isinstance(self.bias_order, tuple) else self.bias_order
        return None if order is None else Expansion(order, self.bias_step, self.bias_logarithm)

    @property
    def sized(self) -> list[int]:
        """Columns of which a relative error can be told.

        Those whose limit is at least a hundredth of the largest column's: a vanishing component is
        a matter of absolute size.
        """
        sizes = np.max(np.abs(self.limit), axis=0)
        return [j for j, size in enumerate(sizes) if size > 1e-2 * np.max(sizes)]

    def error_scale(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
        """(mean shift, size of the errors), each (targets, functions).

        The size is the predicted standard deviation; without one, what is proportional to it, for
        weights alone, and the shift is zero.
        """
        if self.sampling_error is not None:
            return self.sampling_error(n, beta)
        zero = np.zeros(np.shape(self.limit))
        if self.error_weights is not None:
            return zero, self.error_weights(n, beta)
        return zero, zero + n**-0.5

    def standardised(
        self, batch: Batch, expectation: np.ndarray | None = None
    ) -> np.ndarray | None:
        """(estimate - expectation - shift) / sd, or None where theory gives no sd.

        A wrong `expectation` may be put in place of the claim's own.
        """
        if self.sampling_error is None:
            return None
        n, beta = batch.setting.n, batch.setting.beta
        shift, sd = self.sampling_error(n, beta)
        reference = self.expectation(beta) if expectation is None else expectation
        return (batch.values - reference - shift) / sd
