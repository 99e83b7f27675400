"""Normalised kernels at N = ∞: limits by hand, closed forms by quadrature, order of the bias."""

import numpy as np
import pytest

from convergence import limits
from convergence.errors import InvalidInputError, NoReferenceError
from convergence.scores import CoifmanLafon, Distance, KeyPotential, Sinkhorn, TargetMeasure
from convergence.spaces import Circle, FlatTorus, Gaussian, Polynomial, Sphere

HBAR = 0.7
CIRCLE = Circle(1.3, 0.6)
THETA = np.linspace(-3, 3, 11)
# a smooth function of the plane; on the circle ½ sin 2θ + 0.3 cos θ, with slope cos 2θ - 0.3 sin θ
PSI = Polynomial("x0*x1 + 0.3*x0", 2)
PSI_SLOPE = np.cos(2 * THETA) - 0.3 * np.sin(THETA)
RHO_SLOPE = -1.3 * np.sin(THETA - 0.6)


@pytest.mark.parametrize(
    ("normalisation", "slope"),
    [
        (CoifmanLafon(0.0), RHO_SLOPE),
        (CoifmanLafon(0.5), 0.5 * RHO_SLOPE),
        (CoifmanLafon(1.0), 0 * RHO_SLOPE),
        (CoifmanLafon(-1.5), 2.5 * RHO_SLOPE),
        (Sinkhorn(), 0.5 * RHO_SLOPE),
        (TargetMeasure(PSI), 0.5 * PSI_SLOPE),
        (KeyPotential(PSI), RHO_SLOPE + PSI_SLOPE),
    ],
    ids=repr,
)
def test_limit_by_hand(normalisation, slope):
    """-ħf'' - 2ħ (log ρh)' f' on the circle."""
    f, x = CIRCLE.fourier(2, 0.7), CIRCLE.at(THETA)
    wave, derivative = np.cos(2 * THETA + 0.7), -2 * np.sin(2 * THETA + 0.7)
    got = limits.generator(CIRCLE, Distance(normalisation=normalisation), f, x, HBAR)
    np.testing.assert_allclose(got, HBAR * (4 * wave - 2 * slope * derivative), atol=1e-13)


def test_a_doob_weight_adds_to_the_normalisation():
    score = Distance((0.5, -0.8), CoifmanLafon(1.0))
    f, x = CIRCLE.fourier(1), CIRCLE.at(THETA)
    slope = -0.5 * np.sin(THETA) - 0.8 * np.cos(THETA)
    expected = np.cos(THETA) + 2 * slope * np.sin(THETA)
    np.testing.assert_allclose(limits.generator(CIRCLE, score, f, x), expected, atol=1e-13)


def circle_rule(space, n=800):
    theta = 2 * np.pi * np.arange(n) / n
    return space.at(theta), np.full(n, 1 / n)


def sphere_rule(space, n=150):
    s, w = np.polynomial.legendre.leggauss(n)
    phi = np.pi * np.arange(2 * n) / n
    r = np.sqrt(1 - s**2)[:, None]
    y = np.stack(np.broadcast_arrays(r * np.cos(phi), r * np.sin(phi), s[:, None]), axis=-1)
    return space.radius * y.reshape(-1, 3), np.repeat(w, 2 * n)


def direct(space, rule, normalisation, f, x, beta):
    """4ħβ(f - Pf) by one global quadrature with the exact weight."""
    y, weights = rule(space)
    log_h = limits.log_weight(normalisation, space, beta)(y)
    exponents = -beta * np.sum((x[:, None] - y) ** 2, axis=-1) + space.log_density(y) + log_h
    kernel = np.exp(exponents - exponents.max()) * weights
    increments = f(y) - f(x)[:, None]
    return -4 * HBAR * beta * np.sum(kernel * increments, axis=1) / np.sum(kernel, axis=1)


@pytest.mark.parametrize(
    ("space", "rule", "expression", "target"),
    [
        (CIRCLE, circle_rule, "x0**2 + x1", PSI),
        (Sphere(2, 1.1, (0.9, -0.4, 0.5)), sphere_rule, "x0*x1 + x2", Polynomial("x0*x2", 3)),
        (Circle(0.9, 0.2, 0.8), circle_rule, "x0*x1", PSI),
        (Sphere(2, 0.8, (0, 0, 1), 1.3), sphere_rule, "x0*x2", Polynomial("x1", 3)),
    ],
    ids=lambda value: getattr(value, "__name__", None) or repr(value),
)
def test_expectations_tend_to_the_limit_with_order_one(space, rule, expression, target):
    """The error at 2β is half that at β, and Richardson's value is the limit to 1/β²."""
    f = space.polynomial(expression)
    x = space.targets([f], 3)
    for normalisation in (
        CoifmanLafon(0.5),
        CoifmanLafon(1.0),
        CoifmanLafon(-0.7),
        Sinkhorn(),
        TargetMeasure(target),
        KeyPotential(target),
    ):
        limit = limits.generator(space, Distance(normalisation=normalisation), f, x, HBAR)
        low, high = (direct(space, rule, normalisation, f, x, b) - limit for b in (200.0, 400.0))
        assert np.max(np.abs(low)) < 12 / 200
        assert np.max(np.abs(2 * high - low)) < 100 / 200**2
        # the plain walk is another operator
        other = direct(space, rule, CoifmanLafon(0.0), f, x, 400.0) - limit
        assert np.max(np.abs(other)) > 0.1


def test_sinkhorn_keeps_the_sampling_law():
    """∫ 𝒞_β f dν = 0 at finite β, exactly for Sinkhorn and only in the limit for α = ½."""
    y, weights = circle_rule(CIRCLE)
    nu = weights * np.exp(CIRCLE.log_density(y))
    f = CIRCLE.fourier(2, 0.3)
    drifts = {
        n: nu @ direct(CIRCLE, circle_rule, n, f, y, 5.0) / nu.sum()
        for n in (Sinkhorn(), CoifmanLafon(0.5))
    }
    assert abs(drifts[Sinkhorn()]) < 1e-11
    assert abs(drifts[CoifmanLafon(0.5)]) > 1e-3


PLANE = Gaussian(((2.0, 0.5), (0.5, 1.0)))


def plane_rule(n=700):
    side = np.linspace(-14, 14, n)
    y = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    return y, np.exp(PLANE.log_density(y)) * (side[1] - side[0]) ** 2


@pytest.mark.parametrize("alpha", [0.5, 1.0, -0.4])
def test_gaussian_alpha_against_quadrature(alpha):
    """With a Doob weight, in the plane, q_β taken from its own Gaussian formula."""
    beta, a, x = 6.0, np.array([0.3, -0.2]), np.array([0.7, -0.4])
    y, nu = plane_rule()
    spread = np.linalg.inv(PLANE.sigma + np.eye(2) / (2 * beta))
    q = np.exp(-0.5 * np.einsum("ka,ab,kb->k", y, spread, y))
    kernel = np.exp(-beta * np.sum((x - y) ** 2, axis=1) + y @ a) * q**-alpha * nu
    f = PLANE.polynomial("x0**2*x1 - x1")
    expected = 4 * HBAR * beta * (f(x) - kernel @ f(y) / kernel.sum())
    score = Distance(tuple(a), CoifmanLafon(alpha))
    assert limits.expectation(PLANE, score, f, x, beta, HBAR) == pytest.approx(expected, abs=1e-9)
    # the mass, with the weight's constant such that h(0) = 1
    law = limits.step_law(PLANE, score)
    assert law.log_mass(x, beta, 1) == pytest.approx(np.log(kernel.sum()), abs=1e-9)
    # the square of kernel and weight
    square = kernel**2 / nu
    assert law.log_mass(x, beta, 2) == pytest.approx(np.log(square.sum()), abs=1e-9)
    mean = square @ f(y) / square.sum() - f(x)
    assert law.mean_increment(f, x, beta, 2) == pytest.approx(mean, abs=1e-9)


def test_gaussian_sinkhorn_keeps_the_gaussian():
    """∫ (𝒞_β f) dν = 0 for the quadratics, in any dimension: ν is stationary."""
    y, nu = plane_rule()
    for expression in ("x0**2", "x0*x1", "x1**2 - x0"):
        f = PLANE.polynomial(expression)
        values = limits.expectation(PLANE, Distance(normalisation=Sinkhorn()), f, y, 3.0)
        assert abs(nu @ values) < 1e-10
        walk = limits.expectation(PLANE, Distance(), f, y, 3.0)
        assert abs(nu @ walk) > 0.1


@pytest.mark.parametrize("normalisation", [CoifmanLafon(0.5), CoifmanLafon(1.0), Sinkhorn()])
def test_gaussian_limits(normalisation):
    """Expectation → limit at rate 1/β."""
    f, x = PLANE.polynomial("x0**2*x1 + x1"), np.array([[0.7, -0.4], [1.2, 0.9]])
    score = Distance(normalisation=normalisation)
    limit = limits.generator(PLANE, score, f, x, HBAR)
    for beta in (1e3, 1e5):
        got = limits.expectation(PLANE, score, f, x, beta, HBAR)
        assert np.max(np.abs(got - limit)) < 10 / beta


def test_weights_without_mass_are_refused():
    """α = 5 on a narrow Gaussian at small β: h grows faster than the kernel falls."""
    line, f = Gaussian(((0.05,),)), Gaussian(((1.0,),)).polynomial("x0")
    score = Distance(normalisation=CoifmanLafon(30.0))
    with pytest.raises(NoReferenceError, match="infinite mass"):
        limits.expectation(line, score, f, np.array([0.1]), 0.5)


def test_what_has_no_reference_is_named():
    f, x = CIRCLE.fourier(2), CIRCLE.at(0.3)
    for space in (CIRCLE, FlatTorus((CIRCLE, CIRCLE))):
        with pytest.raises(NoReferenceError, match="use a chart"):
            limits.expectation(space, Distance(normalisation=Sinkhorn()), f, x, 10.0)
    for normalisation in (CoifmanLafon(1.0), Sinkhorn(), TargetMeasure(PSI)):
        with pytest.raises(NoReferenceError, match="replicates"):
            limits.sampling_constants(CIRCLE, Distance(normalisation=normalisation), f, x, 10.0)
    line = Gaussian(((1.0,),))
    score = Distance(normalisation=KeyPotential(Polynomial("x0", 1)))
    with pytest.raises(NoReferenceError, match="Gaussian"):
        limits.expectation(line, score, Polynomial("x0", 1), np.zeros(1), 10.0)
    unknown = Distance((), "alpha")  # type: ignore
    with pytest.raises(NoReferenceError, match="alpha"):
        limits.generator(CIRCLE, unknown, f, x)
    with pytest.raises(NoReferenceError, match="alpha"):
        limits.log_weight("alpha", CIRCLE, 10.0)
    with pytest.raises(NoReferenceError, match="profile_of"):
        limits.log_weight(Sinkhorn(), line, 10.0)
    with pytest.raises(NoReferenceError, match=r"S\^3"):
        limits.profile_of(Sphere(3))
    for normalisation in (CoifmanLafon(1.0), Sinkhorn()):
        with pytest.raises(InvalidInputError, match="beta"):
            limits.log_weight(normalisation, CIRCLE, -1.0)
