"""The spectrum of a rotation of the sphere: against a chain on a grid, and its limit."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy.special import ive

from convergence.errors import InvalidInputError, NoReferenceError
from convergence.limits import killing_eigenvalue

OMEGA, HBAR, BETA = 1.5, 0.7, 3.0


def test_against_a_chain_on_a_grid():
    """P on Gauss-Legendre times equal angles: its eigenvalues, told apart by eigenvectors."""
    cosine, weights = leggauss(18)
    phi = 2 * np.pi * np.arange(36) / 36
    c, p = (a.ravel() for a in np.meshgrid(cosine, phi, indexing="ij"))
    s = np.sqrt(1 - c**2)
    x = np.stack([s * np.cos(p), s * np.sin(p), c], axis=1)
    link = OMEGA * (x[:, :1] * x[:, 1] - x[:, 1:2] * x[:, 0])  # (ω×x)·y
    kernel = np.exp(2 * BETA * (x @ x.T - 1) + link) * np.repeat(weights, 36)
    values, vectors = np.linalg.eig(kernel / kernel.sum(axis=1, keepdims=True))
    turning = x[:, 0] + 1j * x[:, 1]
    harmonics = {(1, 0): c, (1, 1): turning, (2, 1): c * turning, (2, 2): turning**2}
    for (ell, m), harmonic in harmonics.items():
        overlap = np.abs(np.conj(harmonic * np.repeat(weights, 36)) @ vectors)
        overlap = overlap / np.linalg.norm(vectors, axis=0)
        chain = 4 * HBAR * BETA * (1 - values[np.argmax(overlap)])
        found = killing_eigenvalue(ell, m, OMEGA, BETA, HBAR)
        assert found == pytest.approx(chain, abs=1e-9), (ell, m)
        assert abs(found - killing_eigenvalue(ell, m, -OMEGA, BETA, HBAR)) >= 0.5 * m


def test_without_rotation():
    """4ħβ(1 - A_ℓ(2β)), A_1 = coth r - 1/r and A_2 = 1 - 3 A_1/r."""
    r = 2 * BETA
    first = 1 / np.tanh(r) - 1 / r
    for ell, a in ((1, first), (2, 1 - 3 * first / r)):
        for m in range(-ell, ell + 1):
            found = killing_eigenvalue(ell, m, 0.0, BETA, HBAR)
            assert found == pytest.approx(4 * HBAR * BETA * (1 - a), rel=1e-12)


def test_the_limit_is_met_like_one_over_beta():
    """ħℓ(ℓ+1) - 2iħ m ω; 𝒜⊥ = -ħ ω×x turns e^{imφ} forwards."""
    for ell, m in ((1, 0), (1, 1), (2, -2), (3, 2)):
        limit = HBAR * (ell * (ell + 1) - 2j * m * OMEGA)
        assert killing_eigenvalue(ell, m, OMEGA, None, HBAR) == pytest.approx(limit, rel=1e-15)
        errors = [
            abs(killing_eigenvalue(ell, m, OMEGA, beta, HBAR) - limit) for beta in (1e3, 2e3, 4e6)
        ]
        assert errors[0] / errors[1] == pytest.approx(2, rel=0.01)
        assert errors[2] < 1e-5


@pytest.mark.parametrize(("omega", "beta"), [(60.0, 30.0), (1.5, 5.0), (-30.0, 30.0)])
def test_against_the_integral_over_the_angle(omega, beta):
    """P on e^{imφ}g(cos θ): ∫ e^{imφ} K dφ = 2π e^{imψ} e^{2βcc'} I_m(R s s'), tan ψ = ω/2β."""
    c, weights = leggauss(120)
    sine = np.sqrt(1 - c**2)
    turned = np.hypot(2 * beta, omega) * np.outer(sine, sine)
    size = 2 * beta * np.outer(c, c) + turned  # of the exponent, out of the scaled I_m
    size -= np.max(size, axis=1, keepdims=True)
    mass = np.sum(np.exp(size) * ive(0, turned) * weights, axis=1, keepdims=True)
    for ell, m in ((1, 0), (1, 1), (2, -2), (5, 0), (5, 3)):
        values = np.linalg.eigvals(np.exp(size) * ive(abs(m), turned) * weights / mass)
        chosen = np.sort(values.real)[::-1][ell - abs(m)]
        exact = 4 * HBAR * beta * (1 - np.exp(1j * m * np.arctan2(omega, 2 * beta)) * chosen)
        found = killing_eigenvalue(ell, m, omega, beta, HBAR)
        assert found == pytest.approx(exact, abs=1e-10 * 4 * HBAR * beta), (ell, m)


def test_a_rotation_too_fast_is_refused():
    with pytest.raises(NoReferenceError, match="omega = 200 at beta = 30"):
        killing_eigenvalue(1, 0, 200.0, 30.0)
    with pytest.raises(InvalidInputError, match="omega"):
        killing_eigenvalue(1, 0, np.nan, 30.0)


def test_refusals():
    for ell, m in ((1, 2), (-1, 0), (12, 0)):
        with pytest.raises(InvalidInputError, match="harmonics"):
            killing_eigenvalue(ell, m, 1.0, 2.0)
