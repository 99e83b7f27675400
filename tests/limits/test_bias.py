"""Expectation → limit: the two wings of the reference agree in β, with the known constants."""

import numpy as np
import pytest

from convergence import limits
from convergence.limits.bessel import harmonic_defect
from convergence.scores import Distance
from convergence.spaces import Circle, Gaussian, Sphere


@pytest.mark.parametrize("k", [1, 2, 3])
def test_bias_coefficient_on_the_circle(k):
    """4ħβ(1 - A_k) - ħk² = -ħ(k⁴ - 2k²)/(8β) + ..."""
    space, beta, hbar = Circle(), 1e4, 0.7
    f, x = space.fourier(k), space.at(0.1)
    bias = limits.expectation(space, Distance(), f, x, beta, hbar) / f(x) - hbar * k**2
    assert bias * beta == pytest.approx(-hbar * (k**4 - 2 * k**2) / 8, rel=1e-2)


def test_bias_coefficient_on_the_sphere():
    """ℓ = 2: -3ħ/β exactly; ℓ = 1: none to exponential order."""
    space = Sphere(2)
    x = np.array([0.6, 0.64, 0.48])
    for beta in (20.0, 1e3, 1e6):
        second = limits.expectation(space, Distance(), space.polynomial("x0*x1"), x, beta) / (
            0.6 * 0.64
        )
        assert second == pytest.approx(6 - 3 / beta, abs=1e-11)
        first = limits.expectation(space, Distance(), space.polynomial("x0"), x, beta) / 0.6
        assert first == pytest.approx(2, abs=1e-11)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_ornstein_uhlenbeck_eigenvalues(k):
    """The limit on the Hermite polynomials is 2ħk/σ²."""
    space = Gaussian(((1.7,),))
    f, x = space.hermite(k), np.array([[0.4], [-1.9]])
    expected = 2 * 0.7 * k / 1.7 * f(x)
    np.testing.assert_allclose(limits.generator(space, Distance(), f, x, 0.7), expected, rtol=1e-13)


def test_limit_with_drift_by_hand():
    """Circle, von Mises and Doob: -ħ f'' - 2ħ (log ρh)' f'."""
    space, score, theta = Circle(1.3, 0.6), Distance((0.5, -0.8)), np.linspace(-3, 3, 11)
    k, phase, hbar = 2, 0.7, 0.9
    slope = -1.3 * np.sin(theta - 0.6) - 0.5 * np.sin(theta) - 0.8 * np.cos(theta)
    wave, derivative = np.cos(k * theta + phase), -k * np.sin(k * theta + phase)
    expected = hbar * k**2 * wave - 2 * hbar * slope * derivative
    got = limits.generator(space, score, space.fourier(k, phase), space.at(theta), hbar)
    np.testing.assert_allclose(got, expected, atol=1e-13)
    drift = limits.drift(space, score, space.fourier(k, phase), space.at(theta), hbar)
    np.testing.assert_allclose(drift, -2 * hbar * slope * derivative, atol=1e-13)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("ell", [1, 2, 3, 6])
def test_defect_recurrence(d, ell):
    """A_{ℓ-1} - A_{ℓ+1} = (2(ν+ℓ)/r) A_ℓ, on both sides of the switch to the expansion."""
    r = np.array([0.5, 3.0, 50.0, 299.0, 301.0, 2e3, 2e6])
    nu = (d - 1) / 2
    below, here, above = (harmonic_defect(j, d, r) for j in (ell - 1, ell, ell + 1))
    right = 2 * (nu + ell) / r * (1 - here)
    np.testing.assert_allclose(above - below, right, rtol=1e-9, atol=1e-14)


def test_defect_at_zero():
    assert harmonic_defect(2, 3, 0.0) == 1
    assert harmonic_defect(0, 3, 5.0) == 0
