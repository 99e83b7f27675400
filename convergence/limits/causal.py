"""The causal mask on a line: transport by one-sided steps, and its exact expectation.

With keys y ≤ x only, a step backwards has mean 1/sqrt(πβ): nothing cancels to first order, and

    sqrt(πβ) (P - I) f → -f',   with an error of order β^-1/2.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import leggauss

from ..arrays import real_array
from ..errors import InvalidInputError, NoReferenceError, require_positive
from ..scores import Causal
from ..spaces import Chart, Gaussian, Polynomial, SmoothFunction, Space
from .law import StepLaw, score_law

# exp(-42) = 6e-19: what lies beyond cannot be seen in float64
_CUT = 42.0
_NODES, _FEWER = 96, 80
_ACCURACY = 1e-11


class CausalLaw(StepLaw):
    """The step law of the causal kernel on a line: of y = x - s, s ≥ 0.

    Gauss-Legendre in s, to where the kernel falls below exp(-42) or to the end of the line. Two
    numbers of nodes must agree to 1e-11, relative to the integral of the absolute value.

    Parameters
    ----------
    score : Causal
    space : Gaussian or Chart
        In one dimension; a chart must be straight, x ↦ x.

    Raises
    ------
    NoReferenceError
    """

    def __init__(self, score: Causal, space: Space) -> None:
        if not isinstance(space, Gaussian | Chart) or space.ambient_dim != 1:
            raise NoReferenceError(
                f"a causal expectation is known on a line, not on {space}: take a Gaussian space "
                "or a chart with one coordinate x and the embedding x"
            )
        self.score, self.space = score, space
        self._sign = 1.0 if score.reversed else -1.0
        bounds = (-np.inf, np.inf)
        if isinstance(space, Chart):
            only = space.coordinates[0]
            ends = space.features(np.array([[only.low], [only.high]]))[:, 0]
            if only.periodic or not np.allclose(ends, [only.low, only.high], rtol=0, atol=1e-12):
                raise NoReferenceError(f"the chart {space} is no straight line x ↦ x")
            bounds = (only.low, only.high)
        self._bounds = bounds

    def _steps(
        self, x: np.ndarray, beta: float, power: int, nodes: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """log ∫ K^p dν (...), weights that sum to one (..., nodes), steps y - x (..., nodes, 1)."""
        room = x - self._bounds[0] if self._sign < 0 else self._bounds[1] - x
        if np.any(room <= 0):
            raise InvalidInputError("a causal step needs keys before the target: move it inwards")
        reach = np.minimum(np.sqrt(_CUT / (power * beta)), room)  # (..., 1)
        unit, weights = leggauss(nodes)
        step = self._sign * reach * (1 + unit) / 2
        exponents = self.space.log_density((x + step)[..., None]) - power * beta * step**2
        top = np.max(exponents, axis=-1, keepdims=True)
        mass = np.exp(exponents - top) * weights * reach / 2
        total = np.sum(mass, axis=-1)
        return top[..., 0] + np.log(total), mass / total[..., None], step[..., None]

    def _agreed(
        self, f: SmoothFunction | None, x: np.ndarray, beta: float, power: int, moment: int = 1
    ) -> np.ndarray:
        """The mean of (f(y) - f(x))^moment, or without f the log-mass."""
        require_positive("beta", beta)
        x = real_array("points", x, finite=False)
        found = []
        for nodes in (_FEWER, _NODES):
            log_mass, weights, steps = self._steps(x, beta, power, nodes)
            if f is None:
                found.append((log_mass, np.ones_like(log_mass)))
                continue
            terms = weights * _increment(f, x, steps) ** moment
            found.append((np.sum(terms, axis=-1), np.sum(np.abs(terms), axis=-1)))
        (fewer, _), (value, scale) = found
        if not np.all(np.abs(value - fewer) <= _ACCURACY * scale):
            raise NoReferenceError(
                f"the quadrature of a causal step does not settle at beta = {beta:g}: take a "
                "larger beta, or smoother functions and densities"
            )
        return value

    def log_mass(self, x: np.ndarray, beta: float, power: int) -> np.ndarray:
        return self._agreed(None, x, beta, power)

    def mean_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        return self._agreed(f, x, beta, power)

    def mean_squared_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        return self._agreed(f, x, beta, power, moment=2)


def _increment(f: SmoothFunction, x: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """f(x + step) - f(x), for a polynomial without cancellation."""
    start = x[..., None, :]
    return f.increment(start, steps) if isinstance(f, Polynomial) else f(start + steps) - f(start)


def causal_scale(beta: float) -> float:
    """sqrt(πβ), by which P - I of the causal kernel is multiplied."""
    return float(np.sqrt(np.pi * require_positive("beta", beta)))


def causal_limit(score: Causal, space: Space, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
    """-f', the limit of sqrt(πβ)(P - I)f; with the future kept +f'. Shape (...)."""
    CausalLaw(score, space)  # refuses what is no line
    sign = 1.0 if score.reversed else -1.0
    return sign * f.gradient(space.located(x))[..., 0]


@score_law.register
def _(score: Causal, space: Space) -> CausalLaw:
    return CausalLaw(score, space)
