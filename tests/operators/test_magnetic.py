"""The magnetic operator against its dense matrix and the spectrum of the ring."""

import numpy as np
import pytest

from convergence.errors import InvalidInputError
from convergence.operators import (
    Component,
    MagneticOperator,
    MarkovOperator,
    bilinear_phase,
    eigenpairs,
    head_operator,
)
from convergence.scores import Distance, Head
from convergence.spaces import Circle, Sphere

rng = np.random.default_rng(44)
POINTS = Sphere(2).sample(120, rng)
M = rng.normal(size=(3, 3))
M = 0.7 * (M - M.T)
SMOOTH = MarkovOperator.of_sample(POINTS, Distance((0.3, 0.0, -0.4)), 6.0, self_loops=True)
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])


def sines(x, y):
    return np.sin(x[:, :1] - y[:, 0])


@pytest.mark.parametrize("phase", [bilinear_phase(M), sines], ids=["bilinear", "callable"])
@pytest.mark.parametrize("walk", ["reversible", "head"])
def test_products(phase, walk):
    operator = SMOOTH if walk == "reversible" else head_operator(Head(POINTS @ M, POINTS))
    magnetic = MagneticOperator(operator, phase, POINTS, POINTS)
    matrix = operator.toarray() * np.exp(1j * phase(POINTS, POINTS))
    f = rng.normal(size=(120, 2)) + 1j * rng.normal(size=(120, 2))
    np.testing.assert_allclose(magnetic @ f, matrix @ f, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(magnetic @ f[:, 0].real, matrix @ f[:, 0].real, atol=1e-13)
    np.testing.assert_allclose(magnetic.H @ f, matrix.conj().T @ f, rtol=1e-12, atol=1e-13)
    expected = 4 * 0.7 * operator.beta * (f[:, 0] - matrix @ f[:, 0])
    np.testing.assert_allclose(magnetic.generator(f[:, 0], hbar=0.7), expected, atol=1e-11)


def test_hermitian_form_and_gauge():
    """Real eigenvalues; an exact phase w(y) - w(x) changes none, M and -M have the same."""
    magnetic = MagneticOperator(SMOOTH, bilinear_phase(M))
    matrix = SMOOTH.toarray() * np.exp(1j * (POINTS @ M @ POINTS.T))
    expected = np.sort(np.real(4 * 6.0 * (1 - np.linalg.eigvals(matrix))))[:5]
    found = magnetic.eigenvalues(5)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_array_equal(magnetic.hermitian(), magnetic.hermitian().conj().T)
    other_way = MagneticOperator(SMOOTH, bilinear_phase(-M)).eigenvalues(5)
    np.testing.assert_allclose(other_way, found, rtol=1e-9)
    gauge = MagneticOperator(SMOOTH, lambda x, y: y[:, 1] ** 2 - x[:, 1:2] ** 2).eigenvalues(5)
    np.testing.assert_allclose(gauge, eigenpairs(SMOOTH, 5).values, rtol=1e-9, atol=1e-10)
    assert found[0] > 0.1


def test_ring():
    """e^{ikθ} is an eigenfunction: ħ(k + a₀)² + O(1/β), exactly a Fourier coefficient."""
    n, beta, a0 = 600, 60.0, 0.3
    angles = 2 * np.pi * np.arange(n) / n
    points = Circle().at(angles)
    ring = MarkovOperator.of_sample(points, Distance(), beta, self_loops=True)
    magnetic = MagneticOperator(ring, bilinear_phase(a0 * TURN))
    row = np.exp(2 * beta * (np.cos(angles) - 1) + 1j * a0 * np.sin(angles))
    row /= np.sum(np.abs(row))
    k = np.arange(-2, 3)
    exact = 4 * beta * (1 - np.real(row @ np.exp(1j * np.outer(angles, k))))
    np.testing.assert_allclose(exact, (k + a0) ** 2, atol=25 / beta)
    np.testing.assert_allclose(magnetic.eigenvalues(5), np.sort(exact), rtol=1e-8, atol=1e-10)
    # the sign: k = 1 is lifted by a₀ > 0, at targets off the grid as well
    targets = Circle().at(np.array([0.4, 2.0]))
    few = MagneticOperator(
        MarkovOperator([Component(targets, points)], beta),
        bilinear_phase(a0 * TURN),
    )
    wave, at_targets = np.exp(1j * angles), np.exp(1j * np.array([0.4, 2.0]))
    found = few.generator(wave, at_targets) / at_targets
    np.testing.assert_allclose(found, exact[3], rtol=1e-8)


def test_no_cancellation_at_large_beta():
    """A phase a of 1e-9 on a flat function: 4ħβ (1 - e^{ia}) = 4ħβ (a²/2 - ia), both parts."""
    points = np.zeros((3, 1))
    flat = MarkovOperator.of_sample(points, Distance(), 1e6, self_loops=True)
    index = np.arange(3.0)
    magnetic = MagneticOperator(
        flat, lambda x, y: 1e-9 * (y[:, 0] - x[:, :1]), index[:, None], index[:, None]
    )
    found = magnetic.generator(np.ones(3))
    phases = 1e-9 * (index - index[:, None])
    np.testing.assert_allclose(found.imag, -4e6 * phases.mean(axis=1), rtol=1e-12, atol=1e-18)
    np.testing.assert_allclose(found.real, 2e6 * np.mean(phases**2, axis=1), rtol=1e-12)


def test_refusals():
    with pytest.raises(InvalidInputError, match="antisymmetric"):
        bilinear_phase(np.eye(3))
    with pytest.raises(InvalidInputError, match="antisymmetric"):
        MagneticOperator(SMOOTH, lambda x, y: x @ y.T).hermitian()
    with pytest.raises(InvalidInputError, match="symmetric kernel"):
        MagneticOperator(head_operator(Head(POINTS, POINTS @ M)), bilinear_phase(M)).hermitian()
    with pytest.raises(InvalidInputError, match="bytes"):
        MagneticOperator(SMOOTH, bilinear_phase(M)).hermitian(largest=1000)
    with pytest.raises(InvalidInputError, match="fit"):
        MagneticOperator(SMOOTH, bilinear_phase(M), POINTS[:5])
    with pytest.raises(InvalidInputError, match="one real number"):
        MagneticOperator(SMOOTH, lambda x, y: 1j * x @ y.T) @ np.ones(120)
    with pytest.raises(InvalidInputError, match="eigenvalues"):
        MagneticOperator(SMOOTH, bilinear_phase(M)).eigenvalues(120)
    with pytest.raises(InvalidInputError, match="one number a key"):
        MagneticOperator(SMOOTH, bilinear_phase(M)).generator(np.ones(5))
