"""Kernels of the angle between query and key, on the uniform circle: an indefinite head."""

from __future__ import annotations

import numpy as np

from ..arrays import real_array
from ..errors import InvalidInputError, NoReferenceError, require_positive
from ..scores import IndefiniteHead
from ..spaces import Circle, Polynomial, SmoothFunction, Space
from .law import StepLaw, log_density, score_law
from .witten import jump_part, second_and_first_order


class CircularLaw(StepLaw):
    """The step law ∝ exp(pβ s(δ)), δ = y - x, on the uniform unit circle.

    By the trapezoid rule in δ, which for Fourier modes is the FFT of exp(pβs); smooth and periodic,
    so spectrally accurate.

    Raises
    ------
    NoReferenceError
        On another space.
    """

    def __init__(self, score: IndefiniteHead, space: Space) -> None:
        if not isinstance(space, Circle) or space.kappa or space.radius != 1:
            raise NoReferenceError(
                f"the expectation of an indefinite head is known on Circle(), not on {space}"
            )
        self.score = score

    def _steps(self, beta: float, power: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Angles δ, weights that sum to one, and the mean of exp(pβ(s - s(0)))."""
        require_positive("beta", beta)
        coefficients = self.score.coefficients(beta)
        steepest = np.abs(coefficients) @ np.arange(1, 4) ** 2
        # six nodes a standard deviation of the narrowest peak, an even number: δ = π is one
        count = 64 + 2 * int(20 * np.sqrt(power * beta * steepest))
        delta = 2 * np.pi * np.arange(count) / count
        exponent = power * beta * ((np.cos(np.outer(delta, np.arange(1, 4))) - 1) @ coefficients)
        mass = np.exp(exponent - np.max(exponent))
        return delta, mass / np.sum(mass), np.log(np.mean(mass)) + np.max(exponent)

    def log_mass(self, x: np.ndarray, beta: float, power: int) -> np.ndarray:
        return np.full(np.shape(x)[:-1], self._steps(beta, power)[2])

    def _moment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int, moment: int
    ) -> np.ndarray:
        if not isinstance(f, Polynomial):
            raise InvalidInputError(f"a Polynomial test function is needed, not {f!r}")
        x = real_array("points", x, finite=False)[..., None, :]
        delta, weights, _ = self._steps(beta, power)
        across = np.stack([-x[..., 1], x[..., 0]], axis=-1)
        step = np.sin(delta)[:, None] * across - 2 * (np.sin(delta / 2) ** 2)[:, None] * x
        return f.increment(x, step) ** moment @ weights

    def mean_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        return self._moment(f, x, beta, power, 1)

    def mean_squared_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        return self._moment(f, x, beta, power, 2)


@score_law.register
def _(score: IndefiniteHead, space: Space) -> CircularLaw:
    return CircularLaw(score, space)


@log_density.register
def _(score: IndefiniteHead, space: Space, x: np.ndarray) -> np.ndarray:
    """Against the length that exp(-½βκ₀δ²) = exp(-β·length²) measures with."""
    return space.log_density(x) - 0.5 * np.log(score.curvatures[0] / 2)


@second_and_first_order.register
def _(score: IndefiniteHead, space: Space, f: SmoothFunction, x: np.ndarray):
    """Diffusion (2/κ₀)f'' on the uniform circle, no drift."""
    second = -2 / score.curvatures[0] * space.laplacian(f, x)
    return second, np.zeros_like(second)


@jump_part.register
def _(score: IndefiniteHead, space: Space, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
    """λ sqrt(κ₀/κ_π) (f(x) - f(-x)): the rate has the widths of both maxima in it."""
    near, far = score.curvatures
    return score.rate * np.sqrt(near / far) * (f(x) - f(-np.asarray(x)))
