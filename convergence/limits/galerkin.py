"""Fourier-Galerkin: the spectrum and the steady state of the limit on circles and flat tori."""

from __future__ import annotations

from functools import cached_property
from itertools import product

import numpy as np

from ..errors import InvalidInputError, NoReferenceError, require_positive
from ..scores import Distance
from ..spaces import Circle, FlatTorus
from .witten import force


class FourierGalerkin:
    """𝒞 on the waves e^{ik·θ}, |k_a| ≤ modes, of a circle or a flat torus of radii R_a.

    𝒞 e^{ik·θ} = ħ Σ_a (k_a² - 2i k_a F_a(θ)) / R_a² e^{ik·θ},   F = ∂_a log(ρh) + c_a,

    and the coefficient of e^{ik'·θ} in it is ħ Σ_a (k_a² δ_kk' - 2i k_a F̂_a(k' - k)) / R_a². With
    trigonometric F the error falls faster than every power of `modes`.

    Parameters
    ----------
    space : Circle or FlatTorus
    score : Distance
    modes : int
        The largest wave number on every circle.
    hbar : float

    Attributes
    ----------
    waves : ndarray, shape (W, d)
        k, W = (2·modes + 1)^d.
    matrix : ndarray, shape (W, W), complex
        Columns hold the image of each wave.

    Raises
    ------
    NoReferenceError
        For another space.
    InvalidInputError
    """

    def __init__(
        self, space: Circle | FlatTorus, score: Distance, modes: int, hbar: float = 1.0
    ) -> None:
        if not isinstance(space, Circle | FlatTorus):
            raise NoReferenceError(
                f"Fourier waves are known on a Circle or a FlatTorus, not {type(space).__name__}"
            )
        if modes < 1:
            raise InvalidInputError(f"modes must be at least 1, not {modes}")
        self.space, self.score, self.modes = space, score, modes
        self.hbar = require_positive("hbar", hbar)
        self.circles = space.circles if isinstance(space, FlatTorus) else (space,)
        axis = range(-modes, modes + 1)
        self.waves = np.array(list(product(axis, repeat=space.dim)))
        self.matrix = self._matrix()

    def _force(self, theta: np.ndarray) -> np.ndarray:
        """F_a at θ (..., d), shape (..., d)."""
        x = np.concatenate([c.at(theta[..., a]) for a, c in enumerate(self.circles)], axis=-1)
        ambient = force(self.score, self.space, x)
        # ∂x/∂θ_a = (-sine, cosine)
        return x[..., ::2] * ambient[..., 1::2] - x[..., 1::2] * ambient[..., ::2]

    def _force_coefficients(self) -> list[np.ndarray]:
        """F̂_a for wave numbers up to 2·modes in FFT order, one array a circle."""
        size, d = 4 * self.modes + 2, self.space.dim
        angle = 2 * np.pi * np.arange(size) / size
        along = self._force(np.stack(np.meshgrid(*[angle] * d, indexing="ij"), axis=-1))
        return [np.fft.fftn(along[..., a]) / size**d for a in range(d)]

    def _matrix(self) -> np.ndarray:
        difference = self.waves[:, None, :] - self.waves[None, :, :]
        matrix = np.zeros((len(self.waves),) * 2, dtype=complex)
        for a, (circle, wave) in enumerate(
            zip(self.circles, self._force_coefficients(), strict=True)
        ):
            k = self.waves[:, a]
            shifted = wave[tuple(np.moveaxis(difference, -1, 0))]
            matrix += (np.diag(k.astype(float) ** 2) - 2j * shifted * k) / circle.radius**2
        return self.hbar * matrix

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """All W, by increasing real part; those of slow waves have converged."""
        found = np.linalg.eigvals(self.matrix)
        return found[np.lexsort((found.imag, np.round(found.real, 9)))]

    @cached_property
    def _moments(self) -> np.ndarray:
        """∫ e^{ik·θ} p dθ, the left null vector of the matrix with one at k = 0."""
        zero = len(self.waves) // 2
        rest = np.arange(len(self.waves)) != zero
        moments = np.ones(len(self.waves), dtype=complex)
        moments[rest] = np.linalg.solve(self.matrix[np.ix_(rest, rest)].T, -self.matrix[zero, rest])
        return moments

    def density(self, theta: np.ndarray) -> np.ndarray:
        """The stationary density per unit angles at θ, shape (..., d) to (...)."""
        phases = np.exp(-1j * np.asarray(theta, dtype=float) @ self.waves.T)
        return (phases @ self._moments).real / (2 * np.pi) ** self.space.dim

    def current(self, theta: np.ndarray) -> np.ndarray:
        """j_a = (ħ/R_a²)(-∂_a p + 2 F_a p), the stationary current at θ, shape (..., d)."""
        theta = np.asarray(theta, dtype=float)
        waves = np.exp(-1j * theta @ self.waves.T) * self._moments / (2 * np.pi) ** self.space.dim
        slope = (waves @ (-1j * self.waves)).real
        density = np.sum(waves, axis=-1).real
        radii = np.array([circle.radius for circle in self.circles])
        return self.hbar / radii**2 * (2 * self._force(theta) * density[..., None] - slope)
