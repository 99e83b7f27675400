"""The magnetic operator on the circle: direct sums, the limit, gauge and bad input."""

import numpy as np
import pytest

from convergence import limits
from convergence.errors import InvalidInputError


@pytest.mark.parametrize("k", [-3, 0, 1, 4])
@pytest.mark.parametrize("flux", [0.8, -2.5, 0.0])
def test_against_a_direct_sum(flux, k):
    beta, delta = 6.0, 2 * np.pi * np.arange(400) / 400
    kernel = np.exp(2 * beta * (np.cos(delta) - 1))
    phase = np.exp(1j * (flux * np.sin(delta) + k * delta))
    expected = 4 * 0.7 * beta * (1 - np.sum(kernel * phase) / np.sum(kernel))
    found = limits.magnetic_expectation(flux, k, beta, 0.7)
    assert found == pytest.approx(expected.real, abs=1e-11)
    assert abs(expected.imag) < 1e-11


def test_the_limit_has_a_bias_of_order_one():
    for k in (-2, 0, 3):
        exact = limits.magnetic_limit(0.8, k, 0.7)
        assert exact == pytest.approx(0.7 * (k + 0.8) ** 2)
        one, two = (limits.magnetic_expectation(0.8, k, b, 0.7) - exact for b in (1e3, 2e3))
        assert one / two == pytest.approx(2, rel=5e-3)


def test_precision_at_large_beta():
    """No 1 - μ by subtraction: at β = 1e10 that would leave an error of 4β ε = 1e-5."""
    assert limits.magnetic_expectation(0.8, 1, 1e10) == pytest.approx(1.8**2, abs=1e-9)


def test_bad_input():
    with pytest.raises(InvalidInputError, match="flux"):
        limits.magnetic_expectation(20.0, 1, 10.0)
    with pytest.raises(InvalidInputError, match="beta"):
        limits.magnetic_expectation(0.1, 1, -1.0)
    with pytest.raises(InvalidInputError, match="hbar"):
        limits.magnetic_limit(0.1, 1, 0.0)
