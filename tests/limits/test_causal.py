"""The causal mask on a line: closed forms, the limit and its order, and what is refused."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from convergence import limits
from convergence.errors import InvalidInputError, NoReferenceError
from convergence.scores import Causal, Distance
from convergence.spaces import Chart, Circle, Coordinate, Gaussian, angle

LINE = Gaussian(((1.7,),))
INTERVAL = Chart((Coordinate("t", 0.0, 1.0),), ("t",))
SLOPED = Chart((Coordinate("t", -0.5, 1.5),), ("t",), "sin(4*t)")


@pytest.mark.parametrize("beta", [2.0, 300.0, 1e6])
@pytest.mark.parametrize("power", [1, 2])
def test_under_a_gaussian_density_the_step_is_a_truncated_normal(beta, power):
    x = np.array([[0.4], [-0.9]])
    law = limits.score_law(Causal(), LINE)
    variance = 1 / (2 * power * beta + 1 / 1.7)
    mean, sd = 2 * power * beta * variance * x[:, 0], np.sqrt(variance)
    z = (x[:, 0] - mean) / sd
    hazard = stats.norm.pdf(z) / stats.norm.cdf(z)
    step = mean - x[:, 0] - sd * hazard
    second = variance * (1 - z * hazard - hazard**2) + step**2
    f = LINE.polynomial("x0")
    scale = np.sqrt(variance)
    np.testing.assert_allclose(law.mean_increment(f, x, beta, power), step, atol=1e-11 * scale)
    np.testing.assert_allclose(
        law.mean_squared_increment(f, x, beta, power), second, atol=1e-10 * scale**2
    )
    # ∫ K^p dν over y ≤ x
    kernel = np.log(np.sqrt(variance / 1.7)) + stats.norm.logcdf(z)
    exponent = 0.5 * mean**2 / variance - power * beta * x[:, 0] ** 2
    if beta < 1e4:  # the plain formula loses β ε
        np.testing.assert_allclose(law.log_mass(x, beta, power), kernel + exponent, atol=1e-11)


@pytest.mark.parametrize("beta", [0.5, 30.0, 1e6])
def test_uniform_positions(beta):
    """E s = (1 - e^{-βx²})/(2β) over ½ sqrt(π/β) erf(sqrt(β) x), s the step back."""
    x = np.array([[0.2], [0.6]])
    mass = 0.5 * np.sqrt(np.pi / beta) * special.erf(np.sqrt(beta) * x[:, 0])
    step = -special.expm1(-beta * x[:, 0] ** 2) / (2 * beta) / mass
    law, f = limits.score_law(Causal(), INTERVAL), INTERVAL.function("t")
    np.testing.assert_allclose(law.mean_increment(f, x, beta, 1), -step, rtol=1e-11)
    np.testing.assert_allclose(law.log_mass(x, beta, 1), np.log(mass), atol=1e-12)
    # mirrored, the future of 1 - x
    future = limits.score_law(Causal(reversed=True), INTERVAL)
    np.testing.assert_allclose(future.mean_increment(f, 1 - x, beta, 1), step, rtol=1e-11)


def test_any_density_by_plain_quadrature():
    beta, x = 25.0, 0.7
    f = SLOPED.function("cos(3*t)")

    def integrand(y, moment):
        kernel = np.exp(-beta * (x - y) ** 2 + np.sin(4 * y))
        return kernel * (np.cos(3 * y) - np.cos(3 * x)) ** moment

    zeroth, first, second = (
        integrate.quad(integrand, -0.5, x, (m,), epsabs=1e-13, epsrel=1e-13)[0] for m in (0, 1, 2)
    )
    law, at = limits.score_law(Causal(), SLOPED), np.array([[x]])
    assert law.mean_increment(f, at, beta, 1)[0] == pytest.approx(first / zeroth, rel=1e-10)
    assert law.mean_squared_increment(f, at, beta, 1)[0] == pytest.approx(
        second / zeroth, rel=1e-10
    )


@pytest.mark.parametrize("future", [False, True])
def test_the_limit_is_transport_with_bias_of_order_one_half(future):
    """sqrt(πβ)(P - I)f = -f' + (sqrt(π)/4)(f'' + 2(1 - 2/π)(log q)'f') β^-1/2 + O(1/β)."""
    score, x = Causal(reversed=future), np.array([[0.3], [1.0]])
    f = SLOPED.function("cos(3*t)")
    limit = limits.causal_limit(score, SLOPED, f, x)
    sign = 1 if future else -1
    slope = -3 * np.sin(3 * x[:, 0])
    np.testing.assert_allclose(limit, sign * slope, rtol=1e-14)
    drift = 2 * (1 - 2 / np.pi) * 4 * np.cos(4 * x[:, 0]) * slope
    coefficient = np.sqrt(np.pi) / 4 * (-9 * np.cos(3 * x[:, 0]) + drift)
    law = limits.score_law(score, SLOPED)

    def rest(beta):
        value = limits.causal_scale(beta) * law.mean_increment(f, x, beta, 1)
        return value - limit - coefficient / np.sqrt(beta)

    np.testing.assert_allclose(rest(1e4) / rest(1e6), 100, rtol=0.1)
    np.testing.assert_allclose(rest(1e6), 0, atol=1e-4)


def test_what_is_no_line_is_refused():
    x = np.array([[0.3]])
    f = LINE.polynomial("x0")
    for space in (
        Circle(),
        Gaussian(((1.0, 0.0), (0.0, 1.0))),
        Chart((Coordinate("t", 0.0, 1.0),), ("2*t",)),
        Chart((angle("t"),), ("cos(t)", "sin(t)")),
    ):
        with pytest.raises(NoReferenceError, match="line"):
            limits.causal_limit(Causal(), space, f, x)
    with pytest.raises(InvalidInputError, match="keys before"):
        limits.expectation(INTERVAL, Causal(), INTERVAL.function("t"), np.array([[0.0]]), 10.0)
    with pytest.raises(InvalidInputError, match="beta"):
        limits.expectation(LINE, Causal(), f, x, 0.0)
    with pytest.raises(NoReferenceError, match="limit"):
        limits.generator(LINE, Causal(), f, x)  # there is none at the diffusive scale
    wild = INTERVAL.function("sin(3000*t)")
    with pytest.raises(NoReferenceError, match="settle"):
        limits.expectation(INTERVAL, Causal(), wild, np.array([[0.9]]), 5.0)
    assert limits.expectation(LINE, Distance(), f, x, 9.0) != 0


@pytest.mark.parametrize("future", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_key_at_the_query_itself_is_kept(axis, future):
    """By brute force over pairs: positions tie on the diagonal and at a second key."""
    keys = np.array([[0.0, 2.0], [1.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    scores = Causal(axis, reversed=future)(keys, keys, 3.0)
    for i, x in enumerate(keys):
        for j, y in enumerate(keys):
            kept = y[axis] >= x[axis] if future else y[axis] <= x[axis]
            assert scores[i, j] == (-3.0 * np.sum((x - y) ** 2) if kept else -np.inf)
    assert np.all(np.diag(scores) == 0)
