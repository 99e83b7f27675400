"""Flat tori: products of circles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..arrays import real_array
from ..errors import InvalidInputError
from .circle import Circle
from .polynomials import Polynomial, fourier_mode
from .space import Space, require_draw


@dataclass(frozen=True)
class FlatTorus(Space):
    """The product of circles, each with its own radius and density, in R^{2m}.

    Parameters
    ----------
    circles : tuple of Circle
        Circle i lies in the coordinates 2i and 2i + 1.
    """

    circles: tuple[Circle, ...]

    def __post_init__(self) -> None:
        given = self.circles
        if not isinstance(given, tuple) or not all(isinstance(c, Circle) for c in given):
            raise InvalidInputError(
                f"a torus is made of a tuple of circles, (Circle(), Circle()), not {given!r}"
            )
        if not given:
            raise InvalidInputError("a torus needs at least one circle")

    @property
    def dim(self) -> int:
        return len(self.circles)

    @property
    def ambient_dim(self) -> int:
        return 2 * len(self.circles)

    @property
    def volume(self) -> float:
        return float(np.prod([circle.volume for circle in self.circles]))

    def log_kernel_volume(self, beta: float) -> float:
        return float(sum(circle.log_kernel_volume(beta) for circle in self.circles))

    def blocks(self, x: np.ndarray) -> list[np.ndarray]:
        """The points' coordinates on each circle, a list of arrays (..., 2)."""
        x = real_array("points", x, finite=False)
        return [x[..., 2 * i : 2 * i + 2] for i in range(len(self.circles))]

    def refuse_outside(self, x: np.ndarray) -> None:
        for circle, block in zip(self.circles, self.blocks(x), strict=True):
            circle.refuse_outside(block)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        require_draw(n, rng)
        return np.concatenate([circle.sample(n, rng) for circle in self.circles], axis=1)

    def log_density(self, x: np.ndarray) -> np.ndarray:
        parts = zip(self.circles, self.blocks(x), strict=True)
        return np.sum([circle.log_density(block) for circle, block in parts], axis=0)

    def log_density_gradient(self, x: np.ndarray) -> np.ndarray:
        parts = zip(self.circles, self.blocks(x), strict=True)
        return np.concatenate([c.log_density_gradient(block) for c, block in parts], axis=-1)

    def projector(self, x: np.ndarray) -> np.ndarray:
        full = np.zeros((*np.shape(x), self.ambient_dim))
        for i, (circle, block) in enumerate(zip(self.circles, self.blocks(x), strict=True)):
            full[..., 2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = circle.projector(block)
        return full

    def mean_curvature(self, x: np.ndarray) -> np.ndarray:
        parts = zip(self.circles, self.blocks(x), strict=True)
        return np.concatenate([circle.mean_curvature(block) for circle, block in parts], axis=-1)

    def candidates(self) -> np.ndarray:
        angles = 2 * np.pi * stats.qmc.Halton(self.dim, scramble=False).random(1025)[1:]
        return np.concatenate([c.at(angles[:, i]) for i, c in enumerate(self.circles)], axis=1)

    def fourier(self, wave: tuple[int, ...], phases: tuple[float, ...] = ()) -> Polynomial:
        """The test function Π cos(kᵢ θᵢ + phaseᵢ), one wave number a circle."""
        product, name = 1, ""
        for i, (circle, k) in enumerate(zip(self.circles, wave, strict=True)):
            phase = phases[i] if phases else 0.0
            mode = fourier_mode(k, phase, 2 * i, self.ambient_dim, circle.radius)
            product, name = product * mode.poly, name + mode.name
        return Polynomial.from_sympy(product, self.ambient_dim, name)
