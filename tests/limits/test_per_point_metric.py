"""Limits and expectations of per-point metrics against brute force and computer algebra."""

import numpy as np
import pytest
import sympy

from convergence import limits
from convergence.errors import InvalidInputError, NoReferenceError
from convergence.scores import Distance, PerPointMetric
from convergence.spaces import Circle, FlatTorus, Gaussian, Sphere
from convergence.verification.bias import richardson

HBAR = 0.7
RING = Circle(0.9, 0.4, 0.8)
TORUS = FlatTorus((Circle(0.8, 0.5), Circle(0.6, radius=1.3)))
PLANE = Gaussian(((0.8, 0.3), (0.3, 0.5)))
SCALAR = (("3/2 + 3/5*sin(u0)",),)
FACTOR = (("3/5*sin(u0 + u1)",), ("1/5 + 3/5*cos(u0)",))
CASES = [
    (RING, {"metric": SCALAR}, RING.polynomial("x0**2 + x0*x1 + x1")),
    (TORUS, {"factor": FACTOR}, TORUS.polynomial("x0*x2 + x1**2 - x3*x1")),
    (PLANE, {"factor": FACTOR, "periodic": False}, PLANE.polynomial("x0**2*x1 - x1")),
]
BOTH = pytest.mark.parametrize("symmetrised", [False, True])
EVERY = pytest.mark.parametrize(("space", "form", "f"), CASES, ids=["circle", "torus", "plane"])


def grid(space, n):
    """A rule on the whole space: coordinates (M, d), points (M, D), weights ν (M,)."""
    if isinstance(space, Gaussian):
        side = np.linspace(-7, 7, n)
        u = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
        return u, u, np.exp(space.log_density(u)) * (side[1] - side[0]) ** 2
    angles = -np.pi + 2 * np.pi * np.arange(n) / n
    circles = space.circles if isinstance(space, FlatTorus) else (space,)
    u = np.stack(np.meshgrid(*[angles] * space.dim, indexing="ij"), axis=-1)
    u = u.reshape(-1, space.dim)
    y = np.concatenate([c.at(u[:, i]) for i, c in enumerate(circles)], axis=1)
    element = np.prod([2 * np.pi * c.radius / n for c in circles])
    return u, y, np.exp(space.log_density(y)) * element


def metric_by_hand(u):
    if u.shape[-1] == 1:
        return (1.5 + 0.6 * np.sin(u))[..., None]
    factor = np.stack([0.6 * np.sin(u[..., 0] + u[..., 1]), 0.2 + 0.6 * np.cos(u[..., 0])], -1)
    return np.eye(2) + factor[..., :, None] * factor[..., None, :]


def angles_of(space, x):
    if isinstance(space, Gaussian):
        return x
    return np.array([np.arctan2(x[2 * i + 1], x[2 * i]) for i in range(space.dim)])


@BOTH
@EVERY
@pytest.mark.parametrize("beta", [12.0, 40.0])
def test_expectation_and_constants_against_brute_force(space, form, f, symmetrised, beta):
    score = PerPointMetric(**form, symmetrised=symmetrised)
    u, y, nu = grid(space, 4000 if space.dim == 1 else 400)
    assert np.sum(nu) == pytest.approx(1, rel=1e-10)
    for x in space.targets([f], 3):
        at = angles_of(space, x)
        delta = u - at
        if score.periodic:
            delta = (delta + np.pi) % (2 * np.pi) - np.pi
        g = metric_by_hand(at)
        if symmetrised:
            g = (g + metric_by_hand(u)) / 2
        kernel = np.exp(-beta * np.sum(delta * (g @ delta[..., None])[..., 0], axis=-1))
        mass, rise = np.sum(kernel * nu), f(y) - f(x)
        mean = np.sum(kernel * rise * nu) / mass
        got = limits.expectation(space, score, f, x, beta, HBAR)
        assert got == pytest.approx(-4 * HBAR * beta * mean, abs=1e-9)

        shift, variance = limits.sampling_constants(space, score, f, x, beta, HBAR)
        first = np.sum(kernel**2 * (rise - mean) * nu) / mass**2
        second = np.sum(kernel**2 * (rise - mean) ** 2 * nu) / mass**2
        assert shift == pytest.approx(4 * HBAR * beta * first, rel=1e-8)
        assert variance == pytest.approx((4 * HBAR * beta) ** 2 * second, rel=1e-8)


def test_a_metric_that_falls_off_steeply():
    """½(G(x) + G(y)) is nearly half of G(x) around the target, and the kernel reaches further."""
    score = PerPointMetric(metric=(("1 + 30*exp(-200*(1 - cos(u0)))",),), symmetrised=True)
    f, beta = RING.polynomial("x0**2 + x0*x1 + x1"), 10.0
    u, y, nu = grid(RING, 8000)
    g = 16 + 15 * np.exp(-200 * (1 - np.cos(u[:, 0])))
    kernel, x = np.exp(-beta * g * u[:, 0] ** 2) * nu, RING.at(0.0)
    mean = np.sum(kernel * (f(y) - f(x))) / np.sum(kernel)
    got = limits.expectation(RING, score, f, x, beta, HBAR)
    assert got == pytest.approx(-4 * HBAR * beta * mean, abs=1e-11)


@BOTH
@EVERY
def test_expectation_tends_to_the_limit(space, form, f, symmetrised):
    """Extrapolated in 1/β, at targets of both signs of every drift; and not to the other limit."""
    score, other = (PerPointMetric(**form, symmetrised=s) for s in (symmetrised, not symmetrised))
    x = space.targets([f], 4)
    betas = 2.0 ** np.arange(5, 14)
    values = np.stack([limits.expectation(space, score, f, x, beta, HBAR) for beta in betas])
    extrapolated, _ = richardson(values, 2.0, 1.0)
    limit = limits.generator(space, score, f, x, HBAR)
    np.testing.assert_allclose(extrapolated, limit, atol=2e-9)
    assert np.max(np.abs(extrapolated - limits.generator(space, other, f, x, HBAR))) > 0.05


def symbolic_limit(space, score, expression, at):
    """Both limits straight from their definitions, in the coordinates."""
    u = sympy.symbols("u:2", real=True)
    if isinstance(space, Gaussian):
        log_q = -(sympy.Matrix(u).T * sympy.Matrix(space.precision) * sympy.Matrix(u))[0] / 2
        x = dict(zip(sympy.symbols("x:2"), u, strict=True))
    else:
        log_q = 0.8 * sympy.cos(u[0] - 0.5) + 0.6 * sympy.cos(u[1])
        x = dict(zip(sympy.symbols("x:4"), (sympy.cos(u[0]), sympy.sin(u[0]),
                 1.3 * sympy.cos(u[1]), 1.3 * sympy.sin(u[1])), strict=True))  # fmt: skip
    f = sympy.sympify(expression).subs(x)
    g = score.matrix
    inverse, root, pairs = g.inv(), sympy.sqrt(g.det()), [(a, b) for a in (0, 1) for b in (0, 1)]
    if score.symmetrised:
        phi = -HBAR * (log_q - sympy.log(root))
        laplacian = sum((root * inverse[a, b] * f.diff(u[b])).diff(u[a]) for a, b in pairs) / root
        found = -HBAR * laplacian
        found += 2 * sum(inverse[a, b] * phi.diff(u[a]) * f.diff(u[b]) for a, b in pairs)
    else:
        found = -HBAR * sum(
            inverse[a, b] * (f.diff(u[a], u[b]) + 2 * log_q.diff(u[a]) * f.diff(u[b]))
            for a, b in pairs
        )
    return float(found.subs(dict(zip(u, at, strict=True))))


@BOTH
@pytest.mark.parametrize(("space", "form", "f"), CASES[1:], ids=["torus", "plane"])
def test_limit_against_computer_algebra(space, form, f, symmetrised):
    score = PerPointMetric(**form, symmetrised=symmetrised)
    for x in space.targets([f], 3):
        expected = symbolic_limit(space, score, f.expression, angles_of(space, x))
        assert limits.generator(space, score, f, x, HBAR) == pytest.approx(expected, abs=1e-12)


@BOTH
def test_euclidean_metric_is_the_distance_kernel(symmetrised):
    flat = PerPointMetric(metric=(("1", "0"), ("0", "1")), symmetrised=symmetrised, periodic=False)
    f = PLANE.polynomial("x0**2*x1 - x1")
    x = PLANE.targets([f], 4)
    for function in (limits.generator, limits.drift):
        expected = function(PLANE, Distance(), f, x, HBAR)
        np.testing.assert_allclose(function(PLANE, flat, f, x, HBAR), expected, atol=1e-13)
    for beta in (3.0, 1e3, 1e6):
        got, expected = (
            (limits.expectation(PLANE, score, f, x, beta, HBAR),
             *limits.sampling_constants(PLANE, score, f, x, beta, HBAR))
            for score in (flat, Distance())
        )  # fmt: skip
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@BOTH
@EVERY
def test_effective_degree_is_the_mean_row_sum(space, form, f, symmetrised):
    """N ∫ K dν → N q (π/β)^{d/2} / sqrt(det G), q the coordinate density."""
    score, beta = PerPointMetric(**form, symmetrised=symmetrised), 1e5
    x = space.targets([f], 3)
    mass = np.exp(limits.law.score_law(score, space).log_mass(x, beta, 1))
    degree = limits.effective_degree(space, score, x, 1000, beta)
    np.testing.assert_allclose(degree, 1000 * mass, rtol=1e-4)


def test_refusals_by_name():
    f, x = RING.fourier(1), RING.at(np.array([0.3]))
    calls = (limits.generator, lambda *args: limits.expectation(*args, 10.0))
    for call in calls:
        with pytest.raises(NoReferenceError, match="take a Circle"):
            call(Sphere(2), PerPointMetric(metric=SCALAR), Sphere(2).polynomial("x0"), np.eye(3))
        with pytest.raises(NoReferenceError, match="dimension 1 and periodic=True, not 2"):
            call(RING, PerPointMetric(factor=FACTOR), f, x)
        with pytest.raises(NoReferenceError, match="periodic=True, not 1 and False"):
            call(RING, PerPointMetric(metric=SCALAR, periodic=False), f, x)
        with pytest.raises(InvalidInputError, match="positive definite"):
            call(RING, PerPointMetric(metric=(("-sin(u0)",),)), f, x)
        with pytest.raises(InvalidInputError, match="lie on"):
            call(RING, PerPointMetric(metric=SCALAR), f, 1.01 * x)
        with pytest.raises(NoReferenceError, match="known for the score"):
            call(RING, "no score", f, x)
    rough = PerPointMetric(metric=(("2 + sin(300*u0)",),), symmetrised=True)
    with pytest.raises(NoReferenceError, match="does not settle"):
        limits.expectation(RING, rough, f, x, 10.0)
    with pytest.raises(NoReferenceError, match="Polynomial"):
        limits.expectation(RING, PerPointMetric(metric=SCALAR), np.sin, x, 10.0)
