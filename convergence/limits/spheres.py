"""Closed forms on spheres and their products (circles, spheres, flat tori).

On S^d, when score and log-weights are linear in y, the step law is von Mises-Fisher with vector
z(x), and for a spherical harmonic of degree ℓ

    E Y_ℓ(y) = A_ℓ(|z|) Y_ℓ(z/|z|).

On the factor of radius R, with unit vectors x̂ and ŷ and density exp(κμ·ŷ), the p-th power of
exp(-β|x-y|² + xᵀMy) exp(a·y) gives z = 2pβR² x̂ + pR (a + Mᵀx) + κμ. Products of factors multiply.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
import sympy

from ..arrays import real_array
from ..errors import InvalidInputError
from ..scores import Distance
from ..spaces import FlatTorus, Polynomial, SmoothFunction, Space, Sphere
from ..spaces.sphere import log_mean_exponential
from .bessel import harmonic_defect
from .law import PolynomialLaw, as_polynomial, refuse_normalisation, step_law


class SphericalLaw(PolynomialLaw):
    """The step law on a product of spheres.

    Parameters
    ----------
    space : Space
    factors : tuple of Sphere
    score : Distance
    anywhere : bool
        Whether queries x may lie off the space, |x̂| ≠ 1; increments are then from the value that
        the polynomial f has there.
    """

    def __init__(
        self,
        space: Space,
        factors: tuple[Sphere, ...],
        score: Distance,
        *,
        anywhere: bool = False,
    ) -> None:
        refuse_normalisation(space, score)
        self.anywhere = anywhere
        ends = np.cumsum([0, *(sphere.ambient_dim for sphere in factors)])
        self.factors = factors
        self.blocks = [slice(a, b) for a, b in pairwise(ends)]
        self.score = score
        self.slope = score.slope(space.ambient_dim)

    def _vector(
        self, index: int, x: np.ndarray, beta: float, power: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """|z|, |z| - pβR²(1 + |x̂|²), and the step ẑ - x̂, each without cancellation."""
        sphere, block = self.factors[index], self.blocks[index]
        unit = x[..., block] / sphere.radius
        if not self.anywhere and np.any(np.abs(np.linalg.norm(unit, axis=-1) - 1) > 1e-9):
            raise InvalidInputError(f"some points do not lie on {sphere}")
        scale = 2 * power * beta * sphere.radius**2
        slope = self.slope[block] + self.score.one_form(x)[..., block]
        tilt = power * sphere.radius * slope + sphere.concentration
        length = np.linalg.norm(scale * unit + tilt, axis=-1)
        excess = (2 * scale * np.sum(unit * tilt, axis=-1) + np.sum(tilt**2, axis=-1)) / (
            length + scale
        )
        step = (tilt - unit * excess[..., None]) / np.where(length > 0, length, 1)[..., None]
        if self.anywhere:
            outside = np.sum(unit**2, axis=-1) - 1
            larger = scale * outside / (length + scale)
            step = step - unit * (scale * larger / np.where(length > 0, length, 1))[..., None]
            excess = excess + scale * (larger - outside / 2)
        return length, excess, step

    def log_mass(self, x: np.ndarray, beta: float, power: int) -> np.ndarray:
        x = real_array("points", x, finite=False)
        total = np.zeros(x.shape[:-1])
        for i, sphere in enumerate(self.factors):
            length, excess, _ = self._vector(i, x, beta, power)
            scaled = log_mean_exponential(sphere.d, length, scaled=True) + excess
            total += scaled - log_mean_exponential(sphere.d, sphere.kappa)
        return total

    def mean_wave(self, waves: np.ndarray, x: np.ndarray, beta: float) -> np.ndarray:
        """E e^{ik·θ} on circles, Π_a A_{k_a}(|z_a|) e^{i k_a arg z_a}, shape (..., waves)."""
        x = real_array("points", x, finite=False)
        total = np.ones((*x.shape[:-1], len(waves)), dtype=complex)
        for i, (sphere, block) in enumerate(zip(self.factors, self.blocks, strict=True)):
            length, _, step = self._vector(i, x, beta, 1)
            unit = x[..., block] / sphere.radius + step
            angle = np.arctan2(unit[..., 1], unit[..., 0])[..., None]
            for j, k in enumerate(waves[:, i]):
                total[..., j] *= 1 - harmonic_defect(abs(int(k)), 1, length)
            total *= np.exp(1j * angle * waves[:, i])
        return total

    def mean_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        x = real_array("points", x, finite=False)
        lengths, step = [], np.zeros(x.shape)
        for i, (sphere, block) in enumerate(zip(self.factors, self.blocks, strict=True)):
            length, _, unit_step = self._vector(i, x, beta, power)
            lengths.append(length)
            step[..., block] = sphere.radius * unit_step
        polynomial = as_polynomial(f)
        total = polynomial.increment(x, step)
        spheres = tuple((sphere.d, sphere.radius) for sphere in self.factors)
        for degrees, component in harmonic_components(polynomial, spheres):
            with np.errstate(divide="ignore"):  # the uniform law has means zero
                logs = [
                    np.log1p(-harmonic_defect(ell, sphere.d, length))
                    for ell, sphere, length in zip(degrees, self.factors, lengths, strict=True)
                ]
            total = total + np.expm1(sum(logs)) * component(x + step)
        return total


@step_law.register
def _(space: Sphere, score: Distance) -> SphericalLaw:
    return SphericalLaw(space, (space,), score)


@step_law.register
def _(space: FlatTorus, score: Distance) -> SphericalLaw:
    return SphericalLaw(space, space.circles, score)


@lru_cache(maxsize=1024)
def harmonic_components(
    f: Polynomial, spheres: tuple[tuple[int, float], ...]
) -> list[tuple[tuple[int, ...], Polynomial]]:
    """f as a sum of products of harmonics on a product of spheres.

    Parameters
    ----------
    f : Polynomial
        In the coordinates of all factors, one after the other.
    spheres : tuple of (dimension, radius)

    Returns
    -------
    list of (degrees, component)
        One degree a factor; the components sum to f on the product of the spheres.
    """
    parts: dict[tuple[int, ...], sympy.Poly] = {(): f.poly}
    start = 0
    for d, radius in spheres:
        block = range(start, start + d + 1)
        start += d + 1
        split: dict[tuple[int, ...], sympy.Poly] = {}
        for degrees, poly in parts.items():
            for ell, harmonic in _harmonics(poly, block, radius):
                key = (*degrees, ell)
                split[key] = split[key] + harmonic if key in split else harmonic
        parts = split
    return [
        (degrees, Polynomial.from_sympy(poly, f.ambient_dim))
        for degrees, poly in parts.items()
        if not poly.is_zero
    ]


def _harmonics(poly: sympy.Poly, block: range, radius: float) -> list[tuple[int, sympy.Poly]]:
    """Harmonic parts of poly in the variables of one block, with |x|² = radius² put in."""
    by_degree: dict[int, dict] = {}
    for exponents, coefficient in poly.terms():
        degree = sum(exponents[i] for i in block)
        by_degree.setdefault(degree, {})[exponents] = coefficient
    found = []
    for degree, terms in by_degree.items():
        rest = sympy.Poly.from_dict(terms, *poly.gens)
        scale = sympy.Integer(1) if radius == 1 else sympy.Float(radius, 17)
        factor = sympy.Integer(1)
        for ell in range(degree, -1, -2):
            harmonic, rest = _top_harmonic(rest, ell, block)
            found.append((ell, harmonic * factor))
            factor *= scale**2
    return found


def _top_harmonic(poly: sympy.Poly, degree: int, block: range) -> tuple[sympy.Poly, sympy.Poly]:
    """(h, q) with poly = h + |x|² q, h harmonic, both homogeneous in the block's variables.

    h = Σ_i c_i |x|^{2i} Δ^i poly with c_0 = 1, c_i = -c_{i-1} / (2i (2·degree + n - 2 - 2i)).
    """
    gens = poly.gens
    square = sympy.Poly(sum(gens[i] ** 2 for i in block), *gens)
    harmonic = poly
    quotient = sympy.Poly(0, *gens)
    coefficient = sympy.Integer(1)
    derivative, power = poly, sympy.Poly(1, *gens)
    for i in range(1, degree // 2 + 1):
        derivative = sum((derivative.diff((gens[j], 2)) for j in block), sympy.Poly(0, *gens))
        coefficient = -coefficient / (2 * i * (2 * degree + len(block) - 2 - 2 * i))
        quotient = quotient - power * derivative * coefficient
        power = power * square
        harmonic = harmonic + power * derivative * coefficient
    return harmonic, quotient
