"""The steady state of P itself on a circle: N = ∞ at finite β, by the trapezoid rule."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from ..errors import NoReferenceError, require_positive
from ..scores import Distance, Mixture
from ..spaces import Circle
from .law import refuse_normalisation

# in 2βR²: a step half round, whose turn is neither way, then has a weight under exp(-16)
_NARROW = 8


class RingChain:
    """P on equal angles with the weights ρh: smooth and periodic, so spectrally accurate.

    With A = diag(π)P of the stationary law π,

        current              4ħβ Σ_ij A_ij (θ_j - θ_i) / 2π,
        entropy production   4ħβ ½ Σ_ij (A_ij - A_ji) log(A_ij/A_ji),

    θ_j - θ_i wrapped to [-π, π]: of a stationary law the net flux is the same through every cut,
    and so equal to its mean over all cuts. Both tend to those of `TiltedRing` like 1/β.

    Parameters
    ----------
    space : Circle
    score : Distance or Mixture
        With the random-walk normalisation; of a mixture the current includes its jumps.
    beta : float
        So large that steps to the far side do not matter.

    Raises
    ------
    NoReferenceError
    """

    def __init__(self, space: Circle, score: Distance | Mixture, beta: float) -> None:
        refuse_normalisation(space, score.local if isinstance(score, Mixture) else score)
        self.beta = require_positive("beta", beta)
        width = 2 * self.beta * space.radius**2  # inverse variance of a step
        if not isinstance(space, Circle) or width < _NARROW:
            raise NoReferenceError(
                f"a current needs a Circle and steps much shorter than it, not {space} at "
                f"beta = {beta:g}; take a larger beta"
            )
        jumps = score.jumps if isinstance(score, Mixture) else ()
        narrowest = max(self.beta, *(jump.beta or 0.0 for jump in jumps), 0.0)
        # two nodes a standard deviation of the narrowest part
        count = 64 + int(12 * np.sqrt(2 * narrowest) * space.radius)
        self.angles = 2 * np.pi * np.arange(count) / count
        x = self.points = space.at(self.angles)
        parts = [part.log_kernel(x) for part in score.parts(x[:, None], self.beta)]
        log_weights = score.log_weights(x)
        own = 0.0 if log_weights is None else log_weights
        exponents = logsumexp(parts, axis=0) + space.log_density(x) + own
        exponents -= np.max(exponents, axis=1, keepdims=True)
        self.log_markov = exponents - np.log(np.sum(np.exp(exponents), axis=1, keepdims=True))

    @cached_property
    def stationary(self) -> np.ndarray:
        """π at the angles, with sum one."""
        count = len(self.angles)
        system = np.exp(self.log_markov).T - np.eye(count)
        system[0] = 1.0
        return np.linalg.solve(system, np.eye(count)[0])

    @cached_property
    def _log_flow(self) -> np.ndarray:
        return np.log(self.stationary)[:, None] + self.log_markov

    def current(self, hbar: float = 1.0) -> float:
        """4ħβ Σ_ij A_ij (θ_j - θ_i) / 2π, in the direction of increasing angles.

        Parameters
        ----------
        hbar : float

        Returns
        -------
        float
        """
        turn = self.angles - self.angles[:, None]
        turn -= 2 * np.pi * np.rint(turn / (2 * np.pi))
        turn[np.abs(np.abs(turn) - np.pi) < 1e-9] = 0.0  # opposite points: neither way
        mean = float(np.sum(np.exp(self._log_flow) * turn))
        return 4 * require_positive("hbar", hbar) * self.beta * mean / (2 * np.pi)

    def entropy_production(self, hbar: float = 1.0) -> float:
        """4ħβ ½ Σ_ij (A_ij - A_ji) log(A_ij/A_ji), per unit time.

        Parameters
        ----------
        hbar : float

        Returns
        -------
        float
        """
        ratio = self._log_flow - self._log_flow.T
        total = float(np.sum(np.exp(self._log_flow) * ratio))
        return 4 * require_positive("hbar", hbar) * self.beta * total
