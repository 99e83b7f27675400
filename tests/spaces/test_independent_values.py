"""Every public space against numbers that share no code with it.

An error in a space changes an estimate and its reference alike, so that no claim sees it. Here are
spheres, tori, Gaussians and polynomials, by closed forms and mpmath's integrals; charts are in
test_independent_charts.py, stratified spaces in test_independent_strata.py.
"""

import inspect

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from convergence import spaces
from convergence.spaces import Circle, FlatTorus, Gaussian, Polynomial, Sphere

PI = np.pi
# chance that a right sampler fails, for each space
FALSE_ALARM_RATE = 1e-6
HELD = {"Circle", "FlatTorus", "Gaussian", "Polynomial", "Sphere"}
ELSEWHERE = ("box", "chart", "expressions", "manifolds", "strata", "stratified")


def test_every_public_space_has_an_independent_value():
    """Those of the modules elsewhere have a test like this one beside their values."""
    public = {name: getattr(spaces, name) for name in spaces.__all__ if name != "SmoothFunction"}
    here = {
        name
        for name, kind in public.items()
        if not inspect.isabstract(kind) and kind.__module__.rpartition(".")[2] not in ELSEWHERE
    }
    assert here == HELD


def sphere_mass(d, kappa, radius):
    """∫ e^{κ cos θ} dV over a sphere of radius R: one integral over the angle."""
    with mpmath.workdps(30):
        around = 2 * mpmath.pi ** (mpmath.mpf(d) / 2) / mpmath.gamma(mpmath.mpf(d) / 2)
        inner = mpmath.quad(
            lambda t: mpmath.exp(kappa * mpmath.cos(t)) * mpmath.sin(t) ** (d - 1),
            [0, mpmath.pi / 2, mpmath.pi],
        )
        return float(radius**d * around * inner), float(mpmath.log(radius**d * around * inner))


@pytest.mark.parametrize(
    ("space", "d", "kappa", "mu", "radius"),
    [
        (Sphere(2, 1.1, (0.9, -0.4, 0.5), 1.5), 2, 1.1, (0.9, -0.4, 0.5), 1.5),
        (Sphere(3, 0.0, (), 0.7), 3, 0.0, (0, 0, 0, 1), 0.7),
        (Sphere(5, 3.0, (1, 0, 0, 2, 0, 0)), 5, 3.0, (1, 0, 0, 2, 0, 0), 1.0),
        (Circle(1.3, 0.6, 0.7), 1, 1.3, (np.cos(0.6), np.sin(0.6)), 0.7),
        (Circle(2.0, -2.0), 1, 2.0, (np.cos(2), -np.sin(2)), 1.0),
    ],
)
def test_spheres(space, d, kappa, mu, radius):
    mu = np.array(mu) / np.linalg.norm(mu)
    normals = np.random.default_rng(15).normal(size=(4, d + 1))
    unit_vectors = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    x = radius * unit_vectors
    assert space.volume == pytest.approx(sphere_mass(d, 0.0, radius)[0], rel=1e-12)
    expected = kappa * unit_vectors @ mu - sphere_mass(d, kappa, radius)[1]
    np.testing.assert_allclose(space.log_density(x), expected, atol=1e-12)
    # |x - y|² = 2R²(1 - cos θ)
    for beta in (0.3, 7.0, 400.0):
        own = sphere_mass(d, 2 * beta * radius**2, radius)[1] - 2 * beta * radius**2
        assert space.log_kernel_volume(beta) == pytest.approx(own, rel=1e-12, abs=1e-12)
    tangent = np.eye(d + 1) - unit_vectors[:, :, None] * unit_vectors[:, None, :]
    np.testing.assert_allclose(space.projector(x), tangent, atol=1e-14)
    slope = np.einsum("nab,nb->na", space.projector(x), space.log_density_gradient(x))
    np.testing.assert_allclose(slope, kappa / radius * tangent @ mu, atol=1e-13)
    # f = x0 x1 is harmonic of degree two, x0 of degree one
    f, scale = space.polynomial("x0*x1"), -2 * (d + 1) / radius**2
    np.testing.assert_allclose(space.laplacian(f, x), scale * x[:, 0] * x[:, 1], atol=1e-13)
    np.testing.assert_allclose(space.mean_curvature(x), -d / radius**2 * x, atol=1e-13)
    along = space.sample(20_000, np.random.default_rng(16)) @ mu / radius
    with mpmath.workdps(20):
        means = [
            float(mpmath.quad(
                lambda t, p=p: mpmath.cos(t) ** p * mpmath.exp(kappa * mpmath.cos(t))
                * mpmath.sin(t) ** (d - 1), [0, mpmath.pi]))
            for p in (0, 1, 2)
        ]  # fmt: skip
    for power in (1, 2):
        z = (np.mean(along**power) - means[power] / means[0]) / np.std(along**power)
        assert 2 * stats.norm.sf(abs(z) * np.sqrt(20_000)) > FALSE_ALARM_RATE / 2
    radii = np.linalg.norm(space.sample(50, np.random.default_rng(17)), axis=1)
    np.testing.assert_allclose(radii, radius, rtol=1e-14)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("beta", [3e3, 4.9e7, 5.1e7, 3e9, 1e14])
def test_the_volume_that_a_narrow_kernel_sees(d, beta):
    """∫ e^{-β|x - y|²} dV = vol Γ(ν+1) (2/r)^ν e^{-r} I_ν(r), r = 2β, on both sides of r = 1e8."""
    with mpmath.workdps(40):
        nu, r = mpmath.mpf(d - 1) / 2, 2 * mpmath.mpf(beta)
        bessel = mpmath.besseli(nu, r) * mpmath.exp(-r)
        volume = 2 * mpmath.pi ** (nu + 1) / mpmath.gamma(nu + 1)
        expected = mpmath.log(volume * mpmath.gamma(nu + 1) * (2 / r) ** nu * bessel)
    # the logarithms that are added are of size ten
    assert Sphere(d).log_kernel_volume(beta) == pytest.approx(float(expected), abs=5e-14)


def test_flat_torus():
    """Radii, densities and modes of its circles, by angles alone."""
    space = FlatTorus((Circle(0.8, 0.5), Circle(1.1, radius=0.7)))
    theta = np.random.default_rng(18).uniform(-3, 3, (6, 2))
    a, b = theta.T
    x = np.stack([np.cos(a), np.sin(a), 0.7 * np.cos(b), 0.7 * np.sin(b)], axis=1)
    assert space.volume == pytest.approx(4 * PI**2 * 0.7, rel=1e-14)
    constant = np.log(4 * PI**2 * 0.7 * special.i0(0.8) * special.i0(1.1))
    expected = 0.8 * np.cos(a - 0.5) + 1.1 * np.cos(b) - constant
    np.testing.assert_allclose(space.log_density(x), expected, atol=1e-13)
    f = space.fourier((2, 3), (0.3, -0.9))
    values = np.cos(2 * a + 0.3) * np.cos(3 * b - 0.9)
    np.testing.assert_allclose(f(x), values, atol=1e-13)
    np.testing.assert_allclose(space.laplacian(f, x), -(4 + 9 / 0.49) * values, atol=1e-11)
    slope = [
        -2 * np.sin(2 * a + 0.3) * np.cos(3 * b - 0.9),
        -3 / 0.7 * np.cos(2 * a + 0.3) * np.sin(3 * b - 0.9),
    ]
    frame = np.zeros((6, 4, 2))
    frame[:, 0, 0], frame[:, 1, 0], frame[:, 2, 1], frame[:, 3, 1] = (
        -np.sin(a),
        np.cos(a),
        -np.sin(b),
        np.cos(b),
    )
    np.testing.assert_allclose(
        space.gradient(f, x), np.einsum("nia,an->ni", frame, slope), atol=1e-12
    )
    drift = np.stack([-0.8 * np.sin(a - 0.5), -1.1 / 0.7 * np.sin(b)])
    found = np.einsum("nab,nb->na", space.projector(x), space.log_density_gradient(x))
    np.testing.assert_allclose(found, np.einsum("nia,an->ni", frame, drift), atol=1e-13)
    beta = 3.0
    masses = [2 * PI * r * special.ive(0, 2 * beta * r**2) for r in (1.0, 0.7)]
    assert space.log_kernel_volume(beta) == pytest.approx(np.sum(np.log(masses)), rel=1e-13)
    y = space.sample(20_000, np.random.default_rng(19))
    for column, mean in (
        (y[:, 0], np.cos(0.5) * special.i1(0.8) / special.i0(0.8)),
        (y[:, 2], 0.7 * special.i1(1.1) / special.i0(1.1)),
    ):
        z = (np.mean(column) - mean) / np.std(column) * np.sqrt(20_000)
        assert 2 * stats.norm.sf(abs(z)) > FALSE_ALARM_RATE / 2


def test_gaussian():
    """By hand for Σ = ((2, ½), (½, 1)), det 7/4; Hermite polynomials of ρ², not of ρ."""
    space, x = Gaussian(((2.0, 0.5), (0.5, 1.0))), np.array([[0.7, -1.2], [0.1, 0.4]])
    precision = np.array([[1.0, -0.5], [-0.5, 2.0]]) / 1.75
    quadratic = np.sum((x @ precision) * x, axis=1)
    expected = -0.5 * quadratic - np.log(2 * PI) - 0.5 * np.log(1.75)
    np.testing.assert_allclose(space.log_density(x), expected, atol=1e-14)
    np.testing.assert_allclose(space.log_density_gradient(x), -x @ precision, atol=1e-14)
    f = space.polynomial("x0**2*x1")
    np.testing.assert_allclose(space.laplacian(f, x), 2 * x[:, 1], atol=1e-14)
    assert space.log_kernel_volume(3.0) == pytest.approx(np.log(PI / 3), rel=1e-15)
    y = space.sample(20_000, np.random.default_rng(20))
    for value, mean in ((y[:, 0] * y[:, 1], 0.5), (y[:, 0] ** 2, 2.0), (y[:, 1] ** 2, 1.0)):
        z = (np.mean(value) - mean) / np.std(value) * np.sqrt(20_000)
        assert 2 * stats.norm.sf(abs(z)) > FALSE_ALARM_RATE / 3
    line, t = Gaussian(((1.7,),)), np.linspace(-2, 2, 5)
    for k, exact in {1: t, 2: t**2 - 0.85, 3: t**3 - 3 * 0.85 * t}.items():
        np.testing.assert_allclose(line.hermite(k)(t[:, None]), exact, atol=1e-14)
        # -f'' + 2 x f'/σ² = (2k/σ²) f: eigenfunctions of the random walk's limit
        slope = line.hermite(k).gradient(t[:, None])[:, 0]
        left = -line.laplacian(line.hermite(k), t[:, None]) + 2 * t / 1.7 * slope
        np.testing.assert_allclose(left, 2 * k / 1.7 * exact, atol=1e-13)


def test_polynomials():
    f, (x, y) = Polynomial("x0**3*x1 - 2*x1**2 + x0/7", 2), (0.7, -1.1)
    at = np.array([x, y])
    assert f(at) == pytest.approx(x**3 * y - 2 * y**2 + x / 7, rel=1e-14)
    np.testing.assert_allclose(f.gradient(at), [3 * x**2 * y + 1 / 7, x**3 - 4 * y], rtol=1e-14)
    np.testing.assert_allclose(f.hessian(at), [[6 * x * y, 3 * x**2], [3 * x**2, -4]], rtol=1e-14)
    with mpmath.workdps(40):
        p, q, s, t = (mpmath.mpf(value) for value in (x, y, 1e-9, -2e-9))

        def exact(u, v):
            return u**3 * v - 2 * v**2 + u / 7

        expected = float(exact(p + s, q + t) - exact(p, q))
    # moved points are rounded: to ε of x over the step
    assert f.increment(at, np.array([1e-9, -2e-9])) == pytest.approx(expected, rel=1e-13)
