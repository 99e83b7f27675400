"""Exact values of the spaces, their functions, and what they refuse."""

import ast
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy import special

from convergence import spaces
from convergence.errors import InvalidInputError
from convergence.spaces import (
    Circle,
    Ellipse,
    FlatTorus,
    Gaussian,
    Polynomial,
    Sphere,
    StarGraph,
)
from convergence.spaces.sphere import log_mean_exponential


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize(("ell", "expression"), [(1, "x0"), (2, "x0*x1"), (3, "x0**3-3*x0*x1**2")])
def test_harmonics_are_eigenfunctions(d, ell, expression):
    """Δ Y = -ℓ(ℓ+d-1)/R² Y on a sphere of radius R."""
    space = Sphere(d, radius=1.5)
    f, x = space.polynomial(expression), space.candidates()
    expected = -ell * (ell + d - 1) / 1.5**2 * f(x)
    np.testing.assert_allclose(space.laplacian(f, x), expected, atol=1e-12)


def test_fourier_modes_are_cosines_of_the_angle():
    circle, theta = Circle(radius=0.7), np.linspace(-3, 3, 20)
    f = circle.fourier(3, 0.4)
    np.testing.assert_allclose(f(circle.at(theta)), np.cos(3 * theta + 0.4), atol=1e-14)
    np.testing.assert_allclose(circle.angle(circle.at(theta)), theta, atol=1e-14)
    np.testing.assert_allclose(
        circle.laplacian(f, circle.at(theta)), -9 / 0.49 * np.cos(3 * theta + 0.4), atol=1e-12
    )


def test_fourier_modes_on_a_torus():
    torus = FlatTorus((Circle(), Circle(radius=0.7)))
    theta = np.random.default_rng(0).uniform(-3, 3, (20, 2))
    x = np.concatenate([torus.circles[i].at(theta[:, i]) for i in (0, 1)], axis=1)
    f = torus.fourier((1, 2), (0.3, 0.9))
    expected = np.cos(theta[:, 0] + 0.3) * np.cos(2 * theta[:, 1] + 0.9)
    np.testing.assert_allclose(f(x), expected, atol=1e-14)
    np.testing.assert_allclose(torus.laplacian(f, x), -(1 + 4 / 0.49) * expected, atol=1e-12)


def test_hermite_polynomials():
    line, x = Gaussian(((1.7,),)), np.linspace(-2, 2, 9)[:, None]
    for k in (1, 2, 3, 4):
        expected = 0.85 ** (k / 2) * special.eval_hermitenorm(k, x[:, 0] / np.sqrt(0.85))
        np.testing.assert_allclose(line.hermite(k)(x), expected, atol=1e-13)


def test_volumes():
    assert Circle(radius=0.7).volume == pytest.approx(2 * np.pi * 0.7, rel=1e-15)
    assert Sphere(2, radius=2).volume == pytest.approx(16 * np.pi, rel=1e-15)
    assert Sphere(3).volume == pytest.approx(2 * np.pi**2, rel=1e-15)
    assert FlatTorus((Circle(), Circle(radius=0.5))).volume == pytest.approx(2 * np.pi**2)


def test_increment_has_no_cancellation():
    """f(x + s) - f(x) for s = 1e-13 to full relative precision, where subtraction leaves none."""
    f, x = Polynomial("x0**3*x1 - 2*x1**2 + 5", 2), np.array([0.7, -1.1])
    step = np.array([1e-13, 3e-13])
    exact = step @ f.gradient(x)
    assert f.increment(x, step) == pytest.approx(exact, rel=1e-11)
    large = np.array([0.3, 0.4])
    assert f.increment(x, large) == pytest.approx(f(x + large) - f(x), rel=1e-13)


def test_derivatives():
    f, x = Polynomial("x0**2*x1 + 3*x1", 2), np.array([2.0, 5.0])
    assert f(x) == 35
    np.testing.assert_array_equal(f.gradient(x), [20, 7])
    np.testing.assert_array_equal(f.hessian(x), [[10, 4], [4, 0]])
    assert f.squared(x) == 35**2


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sphere(0),
        lambda: Sphere(2, kappa=-1.0),
        lambda: Sphere(2, kappa=np.nan),
        lambda: Sphere(2, kappa=1.0),
        lambda: Sphere(2, kappa=1.0, mu=(1.0, 0.0)),
        lambda: Sphere(2, kappa=1.0, mu=(0.0, 0.0, 0.0)),
        lambda: Circle(radius=0.0),
        lambda: FlatTorus(()),
        lambda: Gaussian(((1.0, 0.0),)),
        lambda: Gaussian(((1.0, 0.5), (0.2, 1.0))),
        lambda: Gaussian(((1.0, 2.0), (2.0, 1.0))),
        lambda: Polynomial("sin(x0)", 1),
        lambda: Polynomial("x0*x7", 2),
        lambda: Polynomial("x0 +", 1),
        lambda: Circle().targets([Circle().polynomial("1")], 3),
    ],
)
def test_refusals(make):
    with pytest.raises(InvalidInputError):
        make()


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_mean_exponential_at_every_size(d):
    """Against 40 digits, also beyond 1e8 where SciPy's scaled Bessel function is lost."""
    for r in (1e-3, 1.0, 300.0, 0.9e8, 1.1e8, 1e10, 1e15):
        with mpmath.workdps(40):
            nu, size = mpmath.mpf(d - 1) / 2, mpmath.mpf(r)
            if r < 1e4:
                bessel = mpmath.besseli(nu, size) * mpmath.exp(-size)
            else:  # Hankel's series, its terms below 1e-40 left out
                bessel, term = mpmath.mpf(1), mpmath.mpf(1)
                for k in range(1, 12):
                    term *= -(4 * nu**2 - (2 * k - 1) ** 2) / (8 * k * size)
                    bessel += term
                bessel /= mpmath.sqrt(2 * mpmath.pi * size)
            scaled = mpmath.log(mpmath.gamma(nu + 1) * (2 / size) ** nu * bessel)
            whole = float(scaled + size)
        # the logarithm is a sum of terms of size nu log r
        np.testing.assert_allclose(
            log_mean_exponential(d, r, scaled=True), float(scaled), rtol=1e-14, atol=1e-14 * (1 + d)
        )
        rounding = 1e-15 * (abs(float(scaled)) + r) + 1e-14 * (1 + d)
        np.testing.assert_allclose(log_mean_exponential(d, r), whole, rtol=0, atol=rounding)


DRAWN = [
    Circle(), Circle(1.3), Sphere(2), Sphere(2, 1.1, (0.9, -0.4, 0.5)), Sphere(3),
    FlatTorus((Circle(), Circle(radius=0.7))), Gaussian(((1.0, 0.3), (0.3, 0.5))),
    Ellipse(2.0, 1.0), StarGraph((1.0, 1.0, 1.0)),
]  # fmt: skip


@pytest.mark.parametrize("space", DRAWN, ids=lambda space: type(space).__name__)
@pytest.mark.parametrize(
    ("n", "rng"),
    [
        (3, 0),
        (3, None),
        (3, np.random.SeedSequence(0)),
        (3, np.random.RandomState(0)),
        (2.5, np.random.default_rng(0)),
        (-1, np.random.default_rng(0)),
    ],
)
def test_every_space_draws_from_a_generator_only(space, n, rng):
    """A seed would give the same points twice, and on a torus the same angle for both circles."""
    with pytest.raises(InvalidInputError, match=r"rng must be|sample size must be"):
        space.sample(n, rng)
    assert len(space.sample(np.int64(3), np.random.default_rng(0))) == 3


def test_every_sample_checks_what_it_is_given():
    """In the source, so that a new space is not forgotten."""
    folder = Path(spaces.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name == "sample" and path.stem != "space":
                assert "require_draw(n, rng)" in ast.unparse(node), path.stem
