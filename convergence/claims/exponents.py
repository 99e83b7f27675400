"""Claims on how a value grows or falls near a singular set: like a power of β, like e^{-s²}."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import tee

import numpy as np
from scipy import special

from .. import limits
from ..spaces import Ray, StrataFunction, StratifiedSpace
from ..verification import Claim, Fault
from .remembered import remembered
from .strata import general_faults, rows, shifted, strata_claim
from .strata_problems import LOWEST_BETA, StrataProblem

# the exponent is taken between β and 4β
_RATIO = 4.0


@dataclass(frozen=True)
class ExponentProblem:
    """log(v(4β)/v(β))/log 4 for the values v of a problem, each β on half of the sample.

    With relative errors e = (estimate - v)/v of mean shift m and variance s², to order 1/N,

        mean (m' - m - (s'² - s²)/2)/log 4,    variance (s² + s'²)/log² 4.

    Parameters
    ----------
    local : StrataProblem
        Its values do not vanish.
    exponent : float
        The limit, at every target and of every function.
    """

    local: StrataProblem
    exponent: float

    @property
    def space(self) -> StratifiedSpace:
        return self.local.space

    @property
    def limit(self) -> np.ndarray:
        """β = ∞."""
        return np.full(self.local.limit.shape, self.exponent)

    def estimate(self, chunks: Iterable[np.ndarray], beta: float) -> np.ndarray:
        """From a sample in chunks."""
        first, second = tee(chunks)
        near = self.local.estimate((y[::2] for y in first), beta)
        far = self.local.estimate((y[1::2] for y in second), _RATIO * beta)
        with np.errstate(invalid="ignore", divide="ignore"):  # of opposite signs: no number
            return np.log(far / near) / np.log(_RATIO)

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(beta, None, None)

    def expectation_of(
        self, beta: float, strata: tuple[tuple[int, ...], ...] | None, width: float | None
    ) -> np.ndarray:
        """Of a kernel that sees some strata only, or at targets of another width."""
        near, far = (
            self.local.expectation_of(b, 1.0, strata, width) for b in (beta, _RATIO * beta)
        )
        with np.errstate(invalid="ignore", divide="ignore"):  # of opposite signs: no number
            return np.log(far / near) / np.log(_RATIO)

    @remembered
    def sampling_error(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
        """Mean shift and standard deviation of the estimate."""
        moments = []
        for b in (beta, _RATIO * beta):
            value = self.local.expectation(b)
            shift, sd = self.local.sampling_error(n // 2, b)
            moments.append((shift / value, (sd / value) ** 2))
        (near, near_variance), (far, far_variance) = moments
        shift = far - near - (far_variance - near_variance) / 2
        return shift / np.log(_RATIO), np.sqrt(near_variance + far_variance) / np.log(_RATIO)

    def effective_degree(self, n: int, beta: float) -> np.ndarray:
        """The least of both β."""
        degrees = [self.local.effective_degree(n // 2, b) for b in (beta, _RATIO * beta)]
        return np.minimum(*degrees)


def exponent_claim(
    id: str,
    local: StrataProblem,
    exponent: float,
    *,
    diffusive: float,
    statement: str,
    source: str,
    other_widths: Sequence[float] = (),
    wrong: Mapping[str, float] | None = None,
    lowest: float = LOWEST_BETA,
) -> Claim:
    """The claim that the values of a problem go like β^exponent.

    Parameters
    ----------
    id, statement, source : str
    local : StrataProblem
    exponent : float
    diffusive : float
        What the exponent would be of a step that diffuses only: a fault.
    other_widths : sequence of float
        Further faults: targets at s β^-width for other widths.
    wrong : mapping, optional
        Further faults: a name, and a wrong exponent.
    lowest : float
        The smaller of the two β, at the smallest N.

    Returns
    -------
    Claim
        With all four checks; bias of order β^-1/2.
    """
    problem = ExponentProblem(local, exponent)

    def moved(other: float, beta: float) -> np.ndarray:
        return problem.expectation(beta) + other - exponent

    def widened(width: float, beta: float) -> np.ndarray:
        return problem.expectation_of(beta, None, width)

    names = {
        "a diffusion's exponent": diffusive,
        "a quarter more": exponent + 0.25,
        "a tenth less": exponent - 0.1,
        "the other sign": -exponent,
        **(wrong or {}),
    }
    faults = (
        *(Fault(name, partial(moved, other)) for name, other in names.items()),
        *(Fault(f"a layer of width β^-{w:g}", partial(widened, w)) for w in other_widths),
    )
    labels = tuple(rf"\log {f.label}" for f in local.functions)
    return strata_claim(
        id, problem, labels, statement=statement, source=source, faults=faults,
        rate=2 / (local.space.dim + 2), order=0.5, step=0.5,
        lowest=lowest, samples=2,
    )  # fmt: skip


def decay_claim(
    id: str,
    space: StratifiedSpace,
    ray: Ray,
    distances: Sequence[float],
    f: StrataFunction,
    *,
    statement: str,
    source: str,
    betas: tuple[float, float],
) -> Claim:
    """The claim sqrt β (P - I) f = f' e^{-s²}/(sqrt π (1 + erf s)) at every β, next to one end.

    Exact for a linear f under a uniform density; f' is its slope inwards.

    Parameters
    ----------
    id, statement, source : str
    space : StratifiedSpace
    ray : Ray
        Inwards from the end.
    distances : sequence of float
        The s, in bandwidths.
    f : StrataFunction
    betas : pair of float
        That of the samples, and a last one at which the other end is out of sight.

    Returns
    -------
    Claim
        With all four checks; no bias, and the slope -1/2 at a fixed β.
    """
    s = np.asarray(distances, dtype=float)[:, None]
    near = limits.layer(space, (ray,), (f,))
    right = np.stack([near.profile(0, distance) for distance in distances])
    places = tuple((ray, float(distance)) for distance in distances)
    problem = StrataProblem(space, places, (f,), rows(right), 1.0, 0.5)
    decays = {
        "e^{-2s²}": 2 * s**2,
        "e^{-s²/2}": s**2 / 2,
        "e^{-s}": s,
        "no decay": 0 * s,
        "1 + erf s omitted": s**2 - np.log1p(special.erf(s)),
    }
    faults = (
        *general_faults(problem, False),
        *shifted(problem, {name: right * np.exp(s**2 - d) for name, d in decays.items()}),
    )
    return strata_claim(
        id, problem, (f.label,), statement=statement, source=source, faults=faults,
        rate=0.0, order=None, betas=betas,
    )  # fmt: skip
