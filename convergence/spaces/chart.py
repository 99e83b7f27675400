"""Any manifold from its embedding: coordinates, an embedding and a density, all as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from ..arrays import real_array
from ..errors import InvalidInputError
from .box import Coordinate, integral, low_discrepancy, maximum, rejection_sample
from .expressions import ChartFunction, Compiled, Expression, PlainData, compiled, parse, symbol
from .space import SmoothFunction, Space, require_draw

# a metric is degenerate where its determinant is under this share of the chart's largest
DEGENERATE = 1e-20


def determinant(rows: list[list]) -> Any:
    """det by Laplace's rule, of entries that are expressions or arrays.

    SymPy's own would multiply everything out, NumPy's is slow on many small matrices.
    """
    if len(rows) == 1:
        return rows[0][0]
    minors = [[row[:j] + row[j + 1 :] for row in rows[1:]] for j in range(len(rows))]
    return sum(
        (-1) ** j * entry * determinant(minor)
        for j, (entry, minor) in enumerate(zip(rows[0], minors, strict=True))
    )


def gram(columns: Sequence[Sequence]) -> list[list]:
    """The scalar products of columns of expressions or arrays, each computed once."""
    upper = {
        (a, b): sum(s * t for s, t in zip(columns[a], columns[b], strict=True))
        for a in range(len(columns))
        for b in range(a, len(columns))
    }
    return [[upper[min(a, b), max(a, b)] for b in range(len(columns))] for a in range(len(columns))]


@dataclass(frozen=True)
class Chart(PlainData, Space):
    """A submanifold given by one chart, the embedding F of a box of coordinates into R^D.

    Points are rows of coordinates (..., d); the kernel acts on their features F(x). With J = ∂F,
    everything follows from the first and second derivatives of F, exact by SymPy:

        𝒢 = JᵀJ        Γ^c_ab = 𝒢^cd ⟨∂_a ∂_b F, ∂_d F⟩        ∂_a log sqrt(det 𝒢) = Γ^b_ab
        grad f = J 𝒢⁻¹ ∂f        Δf = 𝒢^ab (∂_a ∂_b f - Γ^c_ab ∂_c f)

    Parameters
    ----------
    coordinates : sequence of Coordinate
        Names and ranges, periodic or bounded.
    embedding : sequence of str or SymPy expression
        F in the coordinates' names.
    log_density_expression : str or SymPy expression
        log of the sampling density in the coordinates' names, up to a constant.
    against : {"volume", "coordinates"}
        What that density is held against: the Riemannian volume (then it is ρ) or the
        coordinates (then it is q = ρ sqrt(det 𝒢)).

    Raises
    ------
    InvalidInputError
        For unknown names, ranges that are not positive, fewer features than coordinates, a
        periodic coordinate in which embedding or density is not periodic.

    Examples
    --------
    >>> from convergence.spaces import Chart, Coordinate, angle
    >>> cone = Chart((angle("u"), Coordinate("r", 1, 2)), ("r*cos(u)", "r*sin(u)", "2*r"))
    >>> round(cone.volume / np.pi, 4)  # 3 sqrt 5
    6.7082
    """

    coordinates: Sequence[Coordinate]
    embedding: Sequence[Expression]
    log_density_expression: Expression = "0"
    against: str = "volume"

    def __post_init__(self) -> None:
        for name in ("coordinates", "embedding"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(set(self.names)) < self.dim or not 0 < self.dim <= self.ambient_dim:
            raise InvalidInputError(
                f"a chart needs different coordinates and at least as many features, not "
                f"{self.names} and {self.ambient_dim} features"
            )
        if self.against not in ("volume", "coordinates"):
            raise InvalidInputError(
                f'the density is against "volume" or "coordinates", not {self.against!r}'
            )
        _ = self.features_expressions, self.log_density_parsed
        self._refuse_open_ends()

    def _refuse_open_ends(self) -> None:
        """Both ends of a periodic coordinate must be the same point, with the same density."""
        for a, coordinate in enumerate(self.coordinates):
            low, high = (low_discrepancy(self.coordinates, 16, margin=0.25) for _ in range(2))
            low[:, a], high[:, a] = coordinate.low, coordinate.high
            for what, value in (("embedding", self.features), ("log density", self._given)):
                if coordinate.periodic and not np.allclose(value(low), value(high), atol=1e-9):
                    raise InvalidInputError(
                        f"the {what} of {self} is not periodic in {coordinate.name}: give it, or "
                        "a bounded coordinate"
                    )

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.names)}) in R^{self.ambient_dim}"

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates' names."""
        return tuple(c.name for c in self.coordinates)

    @property
    def dim(self) -> int:
        return len(self.coordinates)

    @property
    def ambient_dim(self) -> int:
        return len(self.embedding)

    @property
    def point_dim(self) -> int:
        return self.dim

    def refuse_outside(self, x: np.ndarray) -> None:
        """Raise InvalidInputError where a bounded coordinate of points (..., d) is out of range."""
        for a, c in enumerate(self.coordinates):
            inside = np.isfinite(x[..., a]) & (
                c.periodic | (c.low <= x[..., a]) & (x[..., a] <= c.high)
            )
            if not np.all(inside):
                raise InvalidInputError(
                    f"some points have {c.name} outside [{c.low:g}, {c.high:g}] and do not lie "
                    f"on {self}"
                )

    # -- expressions and what is compiled from them ------------------------------------------

    @cached_property
    def _symbols(self) -> dict[str, sympy.Expr]:
        return {name: symbol(name) for name in self.names}

    @cached_property
    def features_expressions(self) -> list[sympy.Expr]:
        """F in the symbols of the coordinates."""
        return [parse(e, self._symbols, "the embedding") for e in self.embedding]

    @cached_property
    def log_density_parsed(self) -> sympy.Expr:
        """The unnormalised log density in the symbols of the coordinates."""
        return parse(self.log_density_expression, self._symbols, "the log density")

    @cached_property
    def _jacobian_expressions(self) -> list[sympy.Expr]:
        return [e.diff(s) for e in self.features_expressions for s in self._symbols.values()]

    @cached_property
    def _features(self) -> Compiled:
        return compiled(self.names, self.features_expressions)

    @cached_property
    def _jacobian(self) -> Compiled:
        return compiled(self.names, self._jacobian_expressions)

    @cached_property
    def _curvature(self) -> Compiled:
        second = [e.diff(s) for e in self._jacobian_expressions for s in self._symbols.values()]
        return compiled(self.names, second)

    @cached_property
    def _log_density(self) -> ChartFunction:
        return ChartFunction(self.names, self.log_density_parsed, "")

    def function(self, expression: Expression) -> ChartFunction:
        """A test function from an expression in the coordinates and in x0, x1, ... (features).

        Examples
        --------
        >>> from convergence.spaces import Ellipse
        >>> f = Ellipse(2, 1).function("sin(u) + x0**2")
        >>> float(f(np.array([0.0])))
        4.0
        """
        ambient = {f"x{i}": e for i, e in enumerate(self.features_expressions)}
        parsed = parse(expression, self._symbols | ambient, "the test function")
        plain = sympy.sympify(expression, locals=self._symbols | {x: symbol(x) for x in ambient})
        indexed = {s: f"x_{{{s.name[1:]}}}" for s in plain.free_symbols if s.name in ambient}
        return ChartFunction(self.names, parsed, sympy.latex(plain, symbol_names=indexed))

    def polynomial(self, expression: str) -> ChartFunction:  # type: ignore[override]
        """The same as `function`."""
        return self.function(expression)

    # -- geometry ----------------------------------------------------------------------------

    def features(self, x: np.ndarray) -> np.ndarray:
        """F(x), shape (..., D)."""
        found = self._features(x)
        if not np.all(np.isfinite(found)):
            at = np.asarray(x)[~np.all(np.isfinite(found), axis=-1)].reshape(-1, self.dim)[0]
            raise InvalidInputError(f"the embedding of {self} is not finite at {at}")
        return found

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """J = ∂F_i/∂x_a, shape (..., D, d)."""
        return self._jacobian(x).reshape(*np.shape(x)[:-1], self.ambient_dim, self.dim)

    def metric(self, x: np.ndarray) -> np.ndarray:
        """The Cauchy-Green metric 𝒢 = JᵀJ, shape (..., d, d)."""
        return np.stack([np.stack(row, axis=-1) for row in self._metric_rows(x)], axis=-2)

    def _metric_rows(self, x: np.ndarray) -> list[list]:
        """The entries of 𝒢, each an array (...)."""
        return gram(list(np.moveaxis(self.jacobian(x), (-1, -2), (0, 1))))

    @cached_property
    def _largest_determinant(self) -> float:
        return float(np.max(determinant(self._metric_rows(self.candidates()))))

    def inverse_metric(self, x: np.ndarray) -> np.ndarray:
        """𝒢⁻¹, shape (..., d, d).

        Raises
        ------
        InvalidInputError
            Where the metric is degenerate, as at the poles of a sphere.
        """
        regular = determinant(self._metric_rows(x)) > DEGENERATE * self._largest_determinant
        if not np.all(regular):
            at = np.asarray(x)[~regular].reshape(-1, self.dim)[0]
            raise InvalidInputError(
                f"the metric of {self} is degenerate at {at}; keep points away from there, or "
                "take another chart"
            )
        return np.linalg.inv(self.metric(x))

    def _christoffel(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """𝒢^ab, Γ^c_ab with c first, and ∂_a ∂_b F with the feature first."""
        inverse, shape = self.inverse_metric(x), np.shape(x)[:-1]
        second = self._curvature(x).reshape(*shape, self.ambient_dim, self.dim, self.dim)
        lowered = np.einsum("...iab,...id->...dab", second, self.jacobian(x))
        return inverse, np.einsum("...cd,...dab->...cab", inverse, lowered), second

    def projector(self, x: np.ndarray) -> np.ndarray:
        """J 𝒢⁻¹ Jᵀ, shape (..., D, D)."""
        jacobian = self.jacobian(x)
        return jacobian @ self.inverse_metric(x) @ np.swapaxes(jacobian, -1, -2)

    def mean_curvature(self, x: np.ndarray) -> np.ndarray:
        """ΔF = 𝒢^ab (∂_a ∂_b F - Γ^c_ab ∂_c F), shape (..., D)."""
        inverse, christoffel, second = self._christoffel(x)
        normal = second - np.einsum("...ic,...cab->...iab", self.jacobian(x), christoffel)
        return np.einsum("...ab,...iab->...i", inverse, normal)

    def _raised(self, slope: np.ndarray, x: np.ndarray) -> np.ndarray:
        """J 𝒢⁻¹ of coordinate derivatives."""
        return np.einsum("...ia,...ab,...b->...i", self.jacobian(x), self.inverse_metric(x), slope)

    def gradient(self, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
        """grad f = J 𝒢⁻¹ ∂f as a tangent vector among the features, shape (..., D)."""
        return self._raised(f.gradient(x), x)

    def laplacian(self, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
        """Δf = 1/sqrt(det 𝒢) ∂_a(sqrt(det 𝒢) 𝒢^ab ∂_b f), shape (...)."""
        inverse, christoffel, _ = self._christoffel(x)
        covariant = f.hessian(x) - np.einsum("...cab,...c->...ab", christoffel, f.gradient(x))
        return np.einsum("...ab,...ab->...", inverse, covariant)

    def curvature_term(self, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
        """-𝒢^ab Γ^c_ab ∂_c f, the part of Δf that Christoffel's symbols bring, shape (...)."""
        inverse, christoffel, _ = self._christoffel(x)
        return -np.einsum("...ab,...cab,...c->...", inverse, christoffel, f.gradient(x))

    # -- density -----------------------------------------------------------------------------

    def log_volume_element(self, x: np.ndarray) -> np.ndarray:
        """log sqrt(det 𝒢), -inf where the metric is degenerate, shape (...)."""
        with np.errstate(divide="ignore"):
            return 0.5 * np.log(np.maximum(determinant(self._metric_rows(x)), 0.0))

    def _given(self, x: np.ndarray) -> np.ndarray:
        """The log density as given, neither NaN nor +inf."""
        found = self._log_density(x)
        bad = np.isnan(found) | (found == np.inf)
        if np.any(bad):
            at = np.asarray(x)[bad].reshape(-1, self.dim)[0]
            raise InvalidInputError(f"the log density of {self} is {found[bad].flat[0]} at {at}")
        return found

    def unnormalised_log_density(self, x: np.ndarray) -> np.ndarray:
        """log q up to its constant, against the coordinates, shape (...)."""
        given = self._given(x)
        return given + self.log_volume_element(x) if self.against == "volume" else given

    @cached_property
    def log_normaliser(self) -> float:
        """log of the integral of the unnormalised q, to 1e-12."""
        return integral(self.unnormalised_log_density, self.coordinates)[0]

    @cached_property
    def volume(self) -> float:
        return float(np.exp(integral(self.log_volume_element, self.coordinates)[0]))

    def log_coordinate_density(self, x: np.ndarray) -> np.ndarray:
        """log q(x), the sampling density against the coordinates, shape (...)."""
        return self.unnormalised_log_density(x) - self.log_normaliser

    def log_density(self, x: np.ndarray) -> np.ndarray:
        given = self._given(x) - self.log_normaliser
        return given if self.against == "volume" else given - self.log_volume_element(x)

    def log_density_gradient(self, x: np.ndarray) -> np.ndarray:
        slope = self._log_density.gradient(x)
        if self.against == "coordinates":
            slope = slope - np.einsum("...bab->...a", self._christoffel(x)[1])
        return self._raised(slope, x)

    @cached_property
    def _log_bound(self) -> float:
        return maximum(self.unnormalised_log_density, self.coordinates) + 0.01

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """n independent points, rows of coordinates (n, d)."""
        require_draw(n, rng)
        density, box = self.unnormalised_log_density, self.coordinates
        return rejection_sample(density, self._log_bound, box, n, rng)

    def candidates(self) -> np.ndarray:
        """A fixed fine set; bounded coordinates keep a quarter of their length from the ends."""
        return low_discrepancy(self.coordinates, 1024, margin=0.25)

    def mapped(self, matrix: np.ndarray) -> Chart:
        """The chart followed by a linear map W: features W F(x), the same sampling law q dx.

        Its metric is the Cauchy-Green tensor JᵀWᵀWJ.
        """
        matrix = real_array("matrix", matrix, finite=False)
        shaped = matrix.ndim == 2 and matrix.shape[1] == self.ambient_dim
        if not (shaped and np.all(np.isfinite(matrix))):
            raise InvalidInputError(
                f"a finite matrix with {self.ambient_dim} columns is needed, not {matrix}"
            )
        entries = sympy.Matrix([[sympy.Float(w, 20) for w in row] for row in matrix.tolist()])
        density = self.log_density_parsed
        if self.against == "volume":
            slopes = self._jacobian_expressions
            columns = [slopes[a :: self.dim] for a in range(self.dim)]
            density = density + sympy.log(determinant(gram(columns))) / 2
        features = entries * sympy.Matrix(self.features_expressions)
        return Chart(self.coordinates, tuple(features), density, "coordinates")
