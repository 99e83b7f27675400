"""Polynomials in the ambient coordinates: the test functions of every closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy

from ..arrays import real_array
from ..errors import InvalidInputError, require_real, require_whole


def coordinates(ambient_dim: int) -> tuple[sympy.Symbol, ...]:
    """The symbols x0, x1, ... of the ambient coordinates."""
    return sympy.symbols(f"x:{ambient_dim}", real=True)


@dataclass(frozen=True)
class Polynomial:
    """A polynomial test function f(x0, ..., x_{D-1}) with exact derivatives.

    Parameters
    ----------
    expression : str
        In the coordinates x0, x1, ..., for example ``"x0*x1"`` or ``"x0**2 - 1.7"``.
    ambient_dim : int
        Number D of coordinates.
    name : str, optional
        LaTeX label, without dollar signs; the expression itself where empty.

    Raises
    ------
    InvalidInputError
        When the expression is no real polynomial in the D coordinates.
    """

    expression: str
    ambient_dim: int
    name: str = ""

    def __post_init__(self) -> None:
        require_whole("ambient_dim", self.ambient_dim, 1)
        _ = self.poly

    @classmethod
    def from_sympy(
        cls, expression: sympy.Expr | sympy.Poly, ambient_dim: int, name: str = ""
    ) -> Polynomial:
        """From a SymPy expression in the symbols of `coordinates`."""
        if isinstance(expression, sympy.Poly):
            expression = expression.as_expr()
        return cls(str(expression), ambient_dim, name)

    @cached_property
    def poly(self) -> sympy.Poly:
        """The same polynomial as a `sympy.Poly`, for exact algebra."""
        symbols = coordinates(self.ambient_dim)
        try:
            expression = sympy.sympify(self.expression, locals={str(s): s for s in symbols})
            poly = sympy.Poly(expression, *symbols)
            for c in poly.coeffs():
                require_real("a coefficient", float(c))
        except (sympy.SympifyError, sympy.PolynomialError, SyntaxError, TypeError, ValueError,
                AttributeError) as error:  # fmt: skip
            raise InvalidInputError(
                f"{self.expression!r} is no real polynomial in x0 ... x{self.ambient_dim - 1}"
            ) from error
        return poly

    @property
    def label(self) -> str:
        """LaTeX, without dollar signs."""
        if self.name:
            return self.name
        symbols = coordinates(self.ambient_dim)
        names = {s: f"x_{{{i}}}" for i, s in enumerate(symbols)}
        return sympy.latex(self.poly.as_expr(), symbol_names=names)

    @cached_property
    def squared(self) -> Polynomial:
        """f²."""
        return Polynomial.from_sympy(self.poly**2, self.ambient_dim)

    @cached_property
    def _terms(self) -> list[tuple[float, tuple[int, ...]]]:
        return [(float(c), exponents) for exponents, c in self.poly.terms()]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """f(x) for points x of shape (..., D)."""
        x = real_array("points", x, finite=False)
        if x.shape[-1:] != (self.ambient_dim,):
            raise InvalidInputError(
                f"a polynomial in {self.ambient_dim} coordinates cannot take points of shape "
                f"{x.shape}; on a chart use the chart's own `function`"
            )
        total = np.zeros(x.shape[:-1])
        for coefficient, exponents in self._terms:
            term = np.full(x.shape[:-1], coefficient)
            for axis, exponent in enumerate(exponents):
                for _ in range(exponent):
                    term *= x[..., axis]
            total += term
        return total

    @cached_property
    def partials(self) -> list[Polynomial]:
        """∂f/∂x_a for every coordinate."""
        return [Polynomial.from_sympy(self.poly.diff(s), self.ambient_dim) for s in self.poly.gens]

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """The ambient gradient ∂f/∂x_a, shape (..., D)."""
        return np.stack([g(x) for g in self.partials], axis=-1)

    def hessian(self, x: np.ndarray) -> np.ndarray:
        """The ambient second derivatives, shape (..., D, D)."""
        return np.stack([g.gradient(x) for g in self.partials], axis=-2)

    def increment(self, x: np.ndarray, step: np.ndarray) -> np.ndarray:
        """f(x + step) - f(x) without cancellation, however small the step.

        Uses p^a - q^a = (p - q) Σ_k p^k q^{a-1-k} and the telescoped product, so the relative
        error of the difference is a few rounding errors of its largest term.
        """
        x, step = np.broadcast_arrays(
            real_array("points", x, finite=False), real_array("steps", step, finite=False)
        )
        moved = x + step
        total = np.zeros(x.shape[:-1])
        for coefficient, exponents in self._terms:
            before = np.full(x.shape[:-1], coefficient)  # product of moved factors so far
            change = np.zeros(x.shape[:-1])
            for axis, a in enumerate(exponents):
                p, q = moved[..., axis], x[..., axis]
                factor = step[..., axis] * sum(p**k * q ** (a - 1 - k) for k in range(a))
                change = change * q**a + before * factor
                before = before * p**a
            total += change
        return total


def fourier_mode(
    k: int, phase: float = 0.0, axis: int = 0, ambient_dim: int = 2, radius: float = 1.0
) -> Polynomial:
    """cos(kθ + phase) on a circle, as a polynomial.

    The circle (radius·cos θ, radius·sin θ) lies in the coordinates `axis`, `axis + 1`, so that
    cos kθ and sin kθ are the real and imaginary part of ((x + iy)/radius)^k.
    """
    x, y = coordinates(ambient_dim)[axis : axis + 2]
    power = sympy.expand((x + sympy.I * y) ** k)
    real, imaginary = power.as_real_imag()
    # exact coefficients where cos and sin of the phase are 0 or ±1
    cosine, sine = (
        sympy.Integer(round(v)) if abs(v - round(v)) < 1e-15 else sympy.Float(v, 17)
        for v in (np.cos(phase), np.sin(phase))
    )
    scale = 1 if radius == 1 else sympy.Float(radius, 17) ** -k
    expression = sympy.expand(scale * (cosine * real - sine * imaginary))
    index = "" if ambient_dim == 2 else f"_{{{axis // 2}}}"
    factor = "" if k == 1 else str(k)
    shift = f" {'+' if phase > 0 else '-'} {abs(phase):.4g}" if phase else ""
    name = rf"\cos({factor}\theta{index}{shift})" if k else ""
    return Polynomial.from_sympy(expression, ambient_dim, name)
