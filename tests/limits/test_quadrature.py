"""The closed forms against plain quadrature: deterministic, N = ∞."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from convergence import limits
from convergence.scores import Distance, harmonic_link, killing_link
from convergence.spaces import Circle, FlatTorus, Gaussian, Sphere

BETA, HBAR = 12.0, 0.7


def circle_rule(circle, n=600):
    theta = 2 * np.pi * np.arange(n) / n
    return circle.at(theta), np.full(n, circle.volume / n)


def sphere_rule(space, n=160):
    t, w = leggauss(n)
    phi = np.pi * np.arange(2 * n) / n
    s = np.sqrt(1 - t**2)[:, None]
    y = np.stack(np.broadcast_arrays(s * np.cos(phi), s * np.sin(phi), t[:, None]), axis=-1)
    weights = np.broadcast_to(w[:, None] * np.pi / n, y.shape[:-1])
    return space.radius * y.reshape(-1, 3), space.radius**2 * weights.ravel()


def torus_rule(space, n=120):
    (y0, w0), (y1, w1) = (circle_rule(circle, n) for circle in space.circles)
    y = np.concatenate([np.repeat(y0, n, axis=0), np.tile(y1, (n, 1))], axis=1)
    return y, np.outer(w0, w1).ravel()


def plane_rule(space, n=700):
    side = np.linspace(-9, 9, n)
    y = np.stack(np.meshgrid(*[side] * space.dim, indexing="ij"), axis=-1)
    return y.reshape(-1, space.dim), np.full(n**space.dim, (side[1] - side[0]) ** space.dim)


PROBLEMS = [
    (Circle(1.3, 0.6, 0.8), Distance((0.5, -0.8)), "x0**2 + x0*x1 + x1", circle_rule),
    (Sphere(2, 1.1, (0.9, -0.4, 0.5)), Distance((0.2, 0.3, -0.7)), "x0*x1*x2 + x0**2", sphere_rule),
    (Sphere(2, radius=0.6), Distance(), "x0*x1 - x2", sphere_rule),
    (
        FlatTorus((Circle(0.8, 0.5), Circle(1.1, 0.0, 0.7))),
        Distance((0.3, 0.0, -0.2, 0.4)),
        "x0*x2 + x1**2 - x3*x1",
        torus_rule,
    ),
    (
        Circle(1.3, 0.6, 0.8),
        Distance((0.5, -0.8), link=harmonic_link([0.9], [0.8])),
        "x0**2 + x0*x1 + x1",
        circle_rule,
    ),
    (
        Sphere(2, 1.1, (0.9, -0.4, 0.5), 0.7),
        Distance((0.2, 0.3, -0.7), link=killing_link((0.6, -1.0, 1.8))),
        "x0*x1*x2 + x0**2",
        sphere_rule,
    ),
    (
        FlatTorus((Circle(0.8, 0.5), Circle(1.1, 0.0, 0.7))),
        Distance(
            (0.3, 0.0, -0.2, 0.4),
            link=((0.3, 0.5, 0.9, -0.4), (-0.5, 0, 0.3, 0.8), (-0.9, 1.3, 0, -0.6), (0.4, 0, 0, 1)),
        ),
        "x0*x2 + x1**2 - x3*x1",
        torus_rule,
    ),
    (
        Gaussian(((2.0, 0.5), (0.5, 1.0))),
        Distance((0.3, -0.2), link=((0.2, 0.7), (-0.9, 0.1))),
        "x0**2*x1 - x1",
        plane_rule,
    ),
    (Gaussian(((1.7,),)), Distance((0.4,)), "x0**3 - x0**2", plane_rule),
    (Gaussian(((2.0, 0.5), (0.5, 1.0))), Distance((0.3, -0.2)), "x0**2*x1 - x1", plane_rule),
]


def named(value):
    """An id that is the same in every process."""
    return value.__name__ if callable(value) and hasattr(value, "__name__") else repr(value)


@pytest.mark.parametrize(("space", "score", "expression", "rule"), PROBLEMS, ids=named)
def test_closed_forms_against_quadrature(space, score, expression, rule):
    f = space.polynomial(expression)
    y, weights = rule(space)
    density = weights * np.exp(space.log_density(y))
    assert np.sum(density) == pytest.approx(1, rel=1e-9)
    for x in space.targets([f], 3):
        link = y @ np.transpose(score.link) @ x if score.link else 0.0  # xᵀMy
        slope = score.slope(space.ambient_dim)
        kernel = np.exp(-BETA * np.sum((x - y) ** 2, axis=1) + link + y @ slope)
        mass = np.sum(kernel * density)
        mean = np.sum(kernel * f(y) * density) / mass
        expected = 4 * HBAR * BETA * (f(x) - mean)
        got = limits.expectation(space, score, f, x, BETA, HBAR)
        assert got == pytest.approx(expected, abs=1e-9)

        shift, variance = limits.sampling_constants(space, score, f, x, BETA, HBAR)
        first = np.sum(kernel**2 * (f(y) - mean) * density) / mass**2
        second = np.sum(kernel**2 * (f(y) - mean) ** 2 * density) / mass**2
        assert shift == pytest.approx(4 * HBAR * BETA * first, rel=1e-8)
        assert variance == pytest.approx((4 * HBAR * BETA) ** 2 * second, rel=1e-8)


def test_leading_order_of_the_sampling_variance():
    """N sd² → 4ħ²β |∇f|² (β/2π)^{d/2} / ρ."""
    for space, f in [
        (Circle(1.3), Circle().fourier(2)),
        (Sphere(2), Sphere(2).polynomial("x0*x1")),
    ]:
        x = space.targets([f], 3)
        beta = 1e7
        _, variance = limits.sampling_constants(space, Distance(), f, x, beta, HBAR)
        slope = np.sum(space.gradient(f, x) ** 2, axis=1)
        leading = 4 * HBAR**2 * beta * slope * (beta / (2 * np.pi)) ** (space.dim / 2)
        np.testing.assert_allclose(variance, leading / np.exp(space.log_density(x)), rtol=1e-5)


def test_effective_degree_is_the_mean_row_sum():
    """N ∫ K dν → N ρ (π/β)^{d/2}."""
    space, x, beta = Circle(1.3), Circle().at(0.4), 1e5
    y = space.at(0.4 + np.linspace(-0.05, 0.05, 4001))
    rows = np.exp(-beta * np.sum((x - y) ** 2, axis=1) + space.log_density(y))
    mass = np.sum(rows) * 0.1 / 4000
    assert limits.effective_degree(space, Distance(), x, 1000, beta) == pytest.approx(
        1000 * mass, rel=1e-4
    )
