"""The exact N = ∞ expectation and the sampling constants, from the law of one step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import singledispatch

import numpy as np

from ..errors import NoReferenceError, require_positive
from ..scores import RANDOM_WALK, Distance, Score
from ..spaces import Polynomial, SmoothFunction, Space


class StepLaw(ABC):
    """The law of y given x proportional to (K_β(x, y) h(y))^p dν(y), for p = 1 and 2.

    p = 1 is one step of the Markov operator P_β; p = 2 governs the sampling error. A family of
    spaces on which both can be computed exactly is one subclass.
    """

    @abstractmethod
    def log_mass(self, x: np.ndarray, beta: float, power: int) -> np.ndarray:
        """log ∫ (K h)^p dν, shape (...)."""

    @abstractmethod
    def mean_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        """E[f(y) - f(x)] without cancellation, shape (...)."""

    @abstractmethod
    def mean_squared_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        """E[(f(y) - f(x))²], shape (...)."""


class PolynomialLaw(StepLaw):
    """A step law under which the mean of every polynomial is known."""

    def mean_squared_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        """E f² - f(x)² - 2 f(x) E[f - f(x)]; both differences are free of cancellation."""
        polynomial = as_polynomial(f)
        square = self.mean_increment(polynomial.squared, x, beta, power)
        return square - 2 * f(x) * self.mean_increment(f, x, beta, power)


def as_polynomial(f: SmoothFunction) -> Polynomial:
    """f itself, where it is a polynomial; the closed forms know no others."""
    if not isinstance(f, Polynomial):
        raise NoReferenceError(
            f"the closed-form expectation needs a Polynomial test function, not {f!r}"
        )
    return f


def refuse_normalisation(space: Space, score: Distance) -> None:
    """Raise NoReferenceError where the score has a normalisation other than the random walk.

    For the step laws that have no closed form of it.
    """
    if score.normalisation != RANDOM_WALK:
        raise NoReferenceError(
            f"no closed-form expectation is known on {type(space).__name__} for "
            f"{score.normalisation!r}; use a chart: Ellipse(1, 1) for a circle, "
            "Ellipsoid(1, 1, 1) for a sphere"
        )


@singledispatch
def step_law(space: Space, score: Distance) -> StepLaw:
    """The exact step law of a score on a space.

    Raises
    ------
    NoReferenceError
        When no closed form is known for this kind of space.
    """
    raise NoReferenceError(
        f"no exact expectation is known on {type(space).__name__}; register one with "
        "convergence.limits.step_law.register"
    )


@singledispatch
def score_law(score: Score, space: Space) -> StepLaw:
    """The exact step law of a score on a space; for a distance that of `step_law`.

    Raises
    ------
    NoReferenceError
        When none is known for this kind of score.
    """
    raise NoReferenceError(f"no exact expectation is known for the score {score!r}")


@score_law.register
def _(score: Distance, space: Space) -> StepLaw:
    return step_law(space, score)


@singledispatch
def log_density(score: Score, space: Space, x: np.ndarray) -> np.ndarray:
    """log ρ(x) against the volume of the metric that the score measures with, shape (...)."""
    return space.log_density(x)


def expectation(
    space: Space, score: Score, f: SmoothFunction, x: np.ndarray, beta: float, hbar: float = 1.0
) -> np.ndarray:
    """The exact N = ∞ value of 4ħβ (f(x) - P_β f(x)).

    Parameters
    ----------
    space, score : the problem
    f : test function
    x : ndarray
        Points of the space, shape (..., D), or (..., d) on a chart.
    beta : float
        Inverse squared bandwidth, > 0.
    hbar : float

    Returns
    -------
    ndarray, shape (...)
        From closed forms accurate to about 1e-13 relative to 4ħβ E|f(y) - f(x)| (absolute error
        below 1e-9 for harmonics of moderate degree up to β = 1e6); from quadrature on charts to
        1e-9 relative to |∇f|.

    Raises
    ------
    InvalidInputError, NoReferenceError
    """
    return expectation_of(score_law(score, space), f, space.located(x), beta, hbar)


def expectation_of(
    law: StepLaw, f: SmoothFunction, x: np.ndarray, beta: float, hbar: float = 1.0
) -> np.ndarray:
    """`expectation` from the law of one step, where no (space, score) says it all."""
    require_positive("beta", beta)
    require_positive("hbar", hbar)
    return -4 * hbar * beta * law.mean_increment(f, x, beta, 1)


def sampling_constants(
    space: Space, score: Score, f: SmoothFunction, x: np.ndarray, beta: float, hbar: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """N·(mean shift) and N·(variance) of the estimate of 𝒞_β f(x) from N samples.

    For a target x that is not in the sample, to leading order in 1/N,

        N shift = 4ħβ ∫ (K h)² (f - P f(x)) dν / (∫ K h dν)²
        N var   = (4ħβ)² ∫ (K h)² (f - P f(x))² dν / (∫ K h dν)²

    (the ratio bias and the delta method for a self-normalised mean).

    Returns
    -------
    shift, variance : ndarray, shape (...)
        To be divided by N.

    Raises
    ------
    InvalidInputError
    NoReferenceError
        Also where the weights are estimated from the sample, which these constants leave out.
    """
    if isinstance(score, Distance) and score.reuses_sample:
        raise NoReferenceError(
            f"the weights of {score.normalisation!r} are estimated from the sample: its errors are "
            "correlated with them, so use the spread over replicates instead"
        )
    return sampling_constants_of(score_law(score, space), f, space.located(x), beta, hbar)


def sampling_constants_of(
    law: StepLaw, f: SmoothFunction, x: np.ndarray, beta: float, hbar: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """`sampling_constants` from the law of one step."""
    require_positive("beta", beta)
    require_positive("hbar", hbar)
    ratio = np.exp(law.log_mass(x, beta, 2) - 2 * law.log_mass(x, beta, 1))
    step = law.mean_increment(f, x, beta, 1)  # P f(x) - f(x)
    first = law.mean_increment(f, x, beta, 2)
    second = law.mean_squared_increment(f, x, beta, 2)
    scale = 4 * hbar * beta
    shift = scale * ratio * (first - step)
    variance = scale**2 * ratio * (second - 2 * step * first + step**2)
    return shift, variance


def effective_degree(space: Space, score: Score, x: np.ndarray, n: int, beta: float) -> np.ndarray:
    """N ρ(x) (π/β)^{d/2}, the number of samples that a kernel row effectively sees.

    ρ is the density against the volume of the metric that the score measures with.
    """
    require_positive("beta", beta)
    require_positive("n", n)
    return (
        n * np.exp(log_density(score, space, space.located(x))) * (np.pi / beta) ** (space.dim / 2)
    )
