"""The heat kernel of a mixture on the uniform circle, at finite β and in the limit."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidInputError, NoReferenceError, require_positive, require_real
from ..scores import Distance, Mixture
from ..spaces import Circle
from .galerkin import FourierGalerkin
from .law import step_law
from .mixtures import MixtureLaw
from .spheres import SphericalLaw

_MODES = 128  # e^{-ħtk²} is under 1e-16 there for ħt > 0.0025
_NEGLIGIBLE = 1e-12


class CircularWalk:
    """P^m on the uniform circle, and its limit p_t at m = 4ħβt steps, by Fourier series.

        p(θ) = (1/2π) Σ_k μ_k e^{-ikθ},   μ_k = (multiplier of P on e^{ikθ})^m or exp(-λ_k t)

    Parameters
    ----------
    space : Circle
        Uniform.
    score : Distance or Mixture
        Invariant under rotations: no Doob weight, constant rates, jumps that are rotations.
    hbar : float

    Raises
    ------
    NoReferenceError
    """

    def __init__(self, space: Circle, score: Distance | Mixture, hbar: float = 1.0) -> None:
        self.space, self.score, self.hbar = space, score, require_positive("hbar", hbar)
        self.waves = np.arange(-_MODES, _MODES + 1)[:, None]
        generator = FourierGalerkin(space, score, _MODES, hbar).matrix
        self.eigenvalues = np.diag(generator)
        off = np.max(np.abs(generator - np.diag(self.eigenvalues)))
        if off > 1e-9 * np.max(np.abs(self.eigenvalues)):
            raise NoReferenceError("a Fourier series of the walk needs an operator of the angle")

    def multipliers(self, beta: float) -> np.ndarray:
        """Those of P_β on e^{ikθ}, shape (waves,)."""
        x = self.space.at(0.0)
        if isinstance(self.score, Distance):
            law = step_law(self.space, self.score)
            assert isinstance(law, SphericalLaw)
            return law.mean_wave(self.waves, x, beta)
        mixture = MixtureLaw(self.space, self.score)
        means = [p.law.mean_wave(self.waves, p.query, p.beta) for p in mixture.parts(x, beta)]  # type: ignore[attr-defined]
        return mixture.shares(x, beta) @ np.stack(means)

    def density(self, angle: float, t: float, beta: float = np.inf) -> float:
        """p(y) per unit angle for y at an angle from x, after m = 4ħβt steps or the time t."""
        angle, t = require_real("angle", angle), require_positive("t", t)
        if np.isinf(beta):
            factors = np.exp(-self.eigenvalues * t)
        else:
            steps = 4 * self.hbar * beta * t
            if abs(steps - round(steps)) > 1e-6:
                raise InvalidInputError(f"4ħβt must be a whole number of steps, not {steps:g}")
            factors = self.multipliers(beta) ** round(steps)
        if max(abs(factors[0]), abs(factors[-1])) > _NEGLIGIBLE:
            raise NoReferenceError(f"the Fourier series of the walk is cut too early at t = {t:g}")
        return float(np.real(np.exp(-1j * angle * self.waves[:, 0]) @ factors) / (2 * np.pi))

    def varadhan(self, angle: float, t: float, beta: float = np.inf) -> float:
        """-4ħt log(p_t sqrt(4πħt)): tends to d² for t → 0, or to 0 where a jump joins x and y."""
        density = self.density(angle, t, beta) / self.space.radius
        if density < _NEGLIGIBLE:
            raise NoReferenceError(
                f"the density at t = {t:g} is lost in the rounding of its series"
            )
        return float(-4 * self.hbar * t * np.log(density * np.sqrt(4 * np.pi * self.hbar * t)))
