"""Fourier-Galerkin: the spectrum and the steady state of the limit on circles and flat tori."""

from __future__ import annotations

from functools import cached_property
from itertools import product

import numpy as np

from ..arrays import real_array
from ..errors import InvalidInputError, NoReferenceError, require_positive
from ..scores import Distance, Mixture
from ..spaces import Circle, FlatTorus
from .mixtures import jump_rate
from .spheres import SphericalLaw
from .witten import force


class FourierGalerkin:
    """𝒞 on the waves e^{ik·θ}, |k_a| ≤ modes, of a circle or a flat torus of radii R_a.

    𝒞 e^{ik·θ} = ħ Σ_a (k_a² - 2i k_a F_a(θ)) / R_a² e^{ik·θ},   F = ∂_a log(ρh) + c_a,

    and the coefficient of e^{ik'·θ} in it is ħ Σ_a (k_a² δ_kk' - 2i k_a F̂_a(k' - k)) / R_a². With
    trigonometric F the error falls faster than every power of `modes`.

    Parameters
    ----------
    space : Circle or FlatTorus
    score : Distance or Mixture
        The jumps of a mixture add their own columns.
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
        self, space: Circle | FlatTorus, score: Distance | Mixture, modes: int, hbar: float = 1.0
    ) -> None:
        if not isinstance(space, Circle | FlatTorus):
            raise NoReferenceError(
                f"Fourier waves are known on a Circle or a FlatTorus, not {type(space).__name__}"
            )
        if modes < 1:
            raise InvalidInputError(f"modes must be at least 1, not {modes}")
        self.space, self.modes = space, modes
        self.local = score.local if isinstance(score, Mixture) else score
        self.hbar = require_positive("hbar", hbar)
        self.circles = space.circles if isinstance(space, FlatTorus) else (space,)
        axis = range(-modes, modes + 1)
        self.waves = np.array(list(product(axis, repeat=space.dim)))
        self.matrix = self._matrix()
        if isinstance(score, Mixture):
            self.matrix = self.matrix + self.hbar * self._jumps(score)

    @cached_property
    def grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Angles (size, ..., d), finer than every product of waves, and points there."""
        size, d = 4 * self.modes + 2, self.space.dim
        angle = 2 * np.pi * np.arange(size) / size
        grid = np.stack(np.meshgrid(*[angle] * d, indexing="ij"), axis=-1)
        return grid, np.concatenate([c.at(grid[..., a]) for a, c in enumerate(self.circles)], -1)

    def _jumps(self, score: Mixture) -> np.ndarray:
        """λ(x)/ħ ρh(Tx)/ρh(x) (e^{ik·x} - E e^{ik·y}), column by column, by FFT."""
        angles, x = self.grid
        waves = np.exp(1j * angles @ self.waves.T)
        values = np.zeros(waves.shape, dtype=complex)
        law = SphericalLaw(self.space, self.circles, Distance(score.local.doob))
        for jump in score.jumps:
            destination = jump.destination(x)
            if jump.beta is None:
                ends = [destination[..., 2 * a : 2 * a + 2] for a in range(len(self.circles))]
                angle = np.stack([np.arctan2(e[..., 1], e[..., 0]) for e in ends], axis=-1)
                mean = np.exp(1j * angle @ self.waves.T)
            else:
                mean = law.mean_wave(self.waves, destination, jump.beta)
            values += jump_rate(self.space, score, jump, x)[..., None] * (waves - mean)
        axes = tuple(range(self.space.dim))
        coefficients = np.fft.fftn(values, axes=axes) / np.prod(values.shape[:-1])
        return coefficients[tuple(self.waves.T)]

    def _force(self, theta: np.ndarray) -> np.ndarray:
        """F_a at θ (..., d), shape (..., d)."""
        x = np.concatenate([c.at(theta[..., a]) for a, c in enumerate(self.circles)], axis=-1)
        ambient = force(self.local, self.space, x)
        # ∂x/∂θ_a = (-sine, cosine)
        return x[..., ::2] * ambient[..., 1::2] - x[..., 1::2] * ambient[..., ::2]

    def _force_coefficients(self) -> list[np.ndarray]:
        """F̂_a for wave numbers up to 2·modes in FFT order, one array a circle."""
        along = self._force(self.grid[0])
        return [np.fft.fftn(along[..., a]) / along[..., a].size for a in range(self.space.dim)]

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

    def mean_force(self) -> float:
        """(1/2π)∫ 2ħF p dθ on one circle: the mean over the circle of the local current."""
        if len(self.circles) != 1:
            raise NoReferenceError("the current through a point is known on one circle")
        (wave,) = self._force_coefficients()
        k = self.waves[:, 0]
        total = np.sum(wave[k] * self._moments)
        return float(2 * self.hbar * total.real / (2 * np.pi * self.circles[0].radius ** 2))

    def moment(self, wave: tuple[int, ...]) -> complex:
        """E e^{ik·θ} in the steady state.

        Parameters
        ----------
        wave : tuple of int
            k, |k_a| ≤ modes.

        Returns
        -------
        complex

        Raises
        ------
        NoReferenceError
            For a wave that the matrix does not hold.
        """
        found = np.flatnonzero(np.all(self.waves == np.asarray(wave), axis=1))
        if len(found) != 1:
            raise NoReferenceError(f"wave {wave} is not among those of modes = {self.modes}")
        return complex(self._moments[found[0]])

    def density(self, theta: np.ndarray) -> np.ndarray:
        """The stationary density per unit angles.

        Parameters
        ----------
        theta : ndarray, shape (..., d)

        Returns
        -------
        ndarray, shape (...)
        """
        phases = np.exp(-1j * real_array("theta", theta) @ self.waves.T)
        return (phases @ self._moments).real / (2 * np.pi) ** self.space.dim

    def current(self, theta: np.ndarray) -> np.ndarray:
        """The stationary current j_a = (ħ/R_a²)(-∂_a p + 2 F_a p).

        Parameters
        ----------
        theta : ndarray, shape (..., d)

        Returns
        -------
        ndarray, shape (..., d)
        """
        theta = real_array("theta", theta)
        waves = np.exp(-1j * theta @ self.waves.T) * self._moments / (2 * np.pi) ** self.space.dim
        slope = (waves @ (-1j * self.waves)).real
        density = np.sum(waves, axis=-1).real
        radii = np.array([circle.radius for circle in self.circles])
        return self.hbar / radii**2 * (2 * self._force(theta) * density[..., None] - slope)
