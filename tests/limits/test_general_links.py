"""General links on charts: against closed forms of bilinear links, and Doob transforms."""

import numpy as np
import pytest
from scipy import integrate

from convergence import limits
from convergence.errors import NoReferenceError
from convergence.scores import Distance, GeneralLink, KeyPotential, harmonic_link
from convergence.spaces import Chart, Circle, Ellipse, angle
from convergence.verification.bias import richardson

HBAR = 0.7
RING, CURVE = Circle(1.2, 0.4), Ellipse(1, 1, "1.2*cos(u - 0.4)")
U = np.array([[0.3], [1.9], [-2.0]])
X = RING.at(U[:, 0])


@pytest.mark.parametrize("beta", [20.0, 900.0])
def test_a_bilinear_link_has_the_closed_form(beta):
    score, link = Distance(link=harmonic_link([0.8])), GeneralLink("0.8*(x0*y1 - x1*y0)")
    f, on_curve = RING.fourier(2, 0.3), CURVE.function("cos(2*u + 0.3)")
    for value, accuracy in ((limits.expectation, 1e-9), (limits.sampling_constants, 1e-7)):
        exact = np.array(value(RING, score, f, X, beta, HBAR))
        found = np.array(value(CURVE, link, on_curve, U, beta, HBAR))
        np.testing.assert_allclose(found, exact, rtol=accuracy, atol=accuracy)
    limit = limits.generator(RING, score, f, X, HBAR)
    np.testing.assert_allclose(limits.generator(CURVE, link, on_curve, U, HBAR), limit, atol=1e-12)


def test_an_exact_link_is_a_doob_transform():
    """a = w(y) - w(x): the expectation and the drift of h = e^w."""
    link = GeneralLink("sin(2*y1) + y0**3 - sin(2*x1) - x0**3")
    doob = Distance(normalisation=KeyPotential(CURVE.function("sin(2*x1) + x0**3")))
    assert str(link.exact_weight) == "x0**3 + sin(2*x1)"
    f = CURVE.function("cos(u + 0.3)")
    for beta in (15.0, 300.0):
        found, exact = (limits.expectation(CURVE, s, f, U, beta, HBAR) for s in (link, doob))
        np.testing.assert_allclose(found, exact, rtol=1e-9)
    drifts = [limits.drift(CURVE, s, f, U, HBAR) for s in (link, doob, Distance())]
    np.testing.assert_allclose(drifts[0], drifts[1], rtol=1e-12)
    assert np.max(np.abs(drifts[0] - drifts[2])) > 0.5


def test_a_link_that_is_not_bilinear():
    """On a torus: one expectation by nested quadrature, and the limit by extrapolation."""
    torus = Chart(
        (angle("u"), angle("v")), ("cos(u)", "sin(u)", "cos(v)", "sin(v)"), "0.8*cos(u - 0.5)"
    )
    link = GeneralLink("(x0*y1 - x1*y0)*(0.9 + 0.7*x2 + 0.7*y2) + 0.8*sin(x0*y3 - x3*y0)")
    f, target = torus.function("cos(u + v + 0.3)"), np.array([[0.4, -1.1]])
    (u, v), beta = target[0], 30.0

    def weight(s, t):
        square = 4 * np.sin((s - u) / 2) ** 2 + 4 * np.sin((t - v) / 2) ** 2
        turn = np.sin(s - u) * (0.9 + 0.7 * np.cos(v) + 0.7 * np.cos(t))
        mixed = 0.8 * np.sin(np.cos(u) * np.sin(t) - np.sin(v) * np.cos(s))
        return np.exp(-beta * square + turn + mixed + 0.8 * np.cos(s - 0.5))

    box = (v - 1.2, v + 1.2, u - 1.2, u + 1.2)
    mass = integrate.dblquad(lambda s, t: weight(s, t), *box, epsabs=1e-12)[0]
    mean = integrate.dblquad(
        lambda s, t: weight(s, t) * (np.cos(s + t + 0.3) - np.cos(u + v + 0.3)), *box, epsabs=1e-12
    )[0]
    found = limits.expectation(torus, link, f, target, beta, HBAR)[0]
    assert found == pytest.approx(-4 * HBAR * beta * mean / mass, rel=1e-7)
    values = [limits.expectation(torus, link, f, target, 2.0**k, HBAR)[0] for k in range(6, 12)]
    extrapolated, change = richardson(np.array(values), 2.0, 1.0)
    limit = limits.generator(torus, link, f, target, HBAR)[0]
    assert change < 1e-6
    assert extrapolated == pytest.approx(limit, abs=1e-6)
    reversed_limit = limits.generator(torus, link.scaled(-1.0), f, target, HBAR)[0]
    assert abs(reversed_limit - limit) > 1


def test_no_reference_off_charts():
    with pytest.raises(NoReferenceError, match=r"Ellipse\(1, 1\)"):
        limits.expectation(RING, GeneralLink("x0*y1 - x1*y0"), RING.fourier(1), X, 9.0)
