"""Steady states: Stratonovich, Lyapunov and Fourier-Galerkin against one another and against P."""

import numpy as np
import pytest

from convergence import limits
from convergence.errors import InvalidInputError, NoReferenceError
from convergence.scores import CoifmanLafon, Distance, harmonic_link
from convergence.spaces import Circle, FlatTorus, Gaussian, Sphere
from convergence.verification.bias import richardson

HBAR = 0.7
RINGS = [
    (Circle(1.2, 0.4), Distance(link=harmonic_link([0.8]))),
    (Circle(0.9), Distance((0.3, -0.5), link=((0.4, 0.1), (1.3, -0.6)))),
    (Circle(0.8, 0.5, radius=0.6), Distance(link=harmonic_link([-1.1], [0.6]))),
]


def chain(space, score, beta, n=300):
    """P on equal angles with weights ρh, its stationary law and the wrapped steps."""
    theta = 2 * np.pi * np.arange(n) / n
    x = space.at(theta)
    link = np.asarray(score.link)
    squares = np.sum((x[:, None] - x) ** 2, axis=-1)
    log_weights = space.log_density(x) + x @ score.slope(2)
    p = np.exp(-beta * squares + x @ link @ x.T + log_weights)
    p /= p.sum(axis=1, keepdims=True)
    system = np.vstack([(p - np.eye(n)).T, np.ones(n)])
    pi = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0]
    return p, pi, np.angle(np.exp(1j * (theta - theta[:, None])))


@pytest.mark.parametrize(("space", "score"), RINGS, ids=repr)
def test_the_tilted_ring_is_where_the_chain_goes(space, score):
    """Current 4ħβ Σ A_ij (θ_j - θ_i)/2π and entropy production of P, extrapolated to β = ∞."""
    found = []
    betas = np.array([20.0, 40.0, 80.0, 160.0]) / space.radius**2
    for beta in betas:
        p, pi, step = chain(space, score, beta)
        flow = pi[:, None] * p
        current = np.sum(flow * step) / (2 * np.pi)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = 0.5 * (flow - flow.T) * np.log(flow / flow.T)
        entropy = np.sum(terms[np.isfinite(terms)])
        density = pi[[0, 70, 150]] * len(pi) / (2 * np.pi)
        found.append([*(4 * HBAR * beta * np.array([current, entropy])), *density])
    value, change = richardson(np.array(found), 2.0, 1.0)
    ring = limits.TiltedRing(space, score, HBAR)
    angles = 2 * np.pi * np.array([0, 70, 150]) / 300
    expected = np.array([ring.current, ring.entropy_production, *ring.density(angles)])
    assert np.all(change < 2e-4 * np.abs(expected))
    np.testing.assert_allclose(value, expected, rtol=2e-4)


@pytest.mark.parametrize(("space", "score"), RINGS, ids=repr)
def test_the_ring_chain(space, score):
    """P on its own nodes has the same steady state as on 300 others."""
    beta = 30.0 / space.radius**2
    p, pi, step = chain(space, score, beta)
    flow, found = pi[:, None] * p, limits.RingChain(space, score, beta)
    current = np.sum(flow * np.where(np.abs(step) > 3.1, 0, step)) / (2 * np.pi)
    entropy = 0.5 * np.sum((flow - flow.T) * np.log(flow / flow.T))
    scale = 4 * HBAR * beta
    assert found.current(HBAR) == pytest.approx(scale * current, rel=1e-10)
    assert found.entropy_production(HBAR) == pytest.approx(scale * entropy, rel=1e-10)
    assert found.stationary[0] * len(found.angles) == pytest.approx(300 * pi[0], rel=1e-10)


@pytest.mark.parametrize(("space", "score"), RINGS, ids=repr)
def test_galerkin_agrees_with_stratonovich(space, score):
    theta = np.linspace(0, 7, 9)
    ring = limits.TiltedRing(space, score, HBAR)
    waves = limits.FourierGalerkin(space, score, 24, HBAR)
    np.testing.assert_allclose(waves.density(theta[:, None]), ring.density(theta), atol=1e-12)
    np.testing.assert_allclose(waves.current(theta[:, None]), ring.current, rtol=1e-10)
    assert abs(waves.eigenvalues[0]) < 1e-12
    assert np.all(waves.eigenvalues[1:].real > 0)


def test_the_uniform_circle():
    """Current 2ħc/2π, entropy production 4ħc², eigenvalues ħk² - 2iħck; c = 0 rests."""
    c = 0.8
    score = Distance(link=harmonic_link([c]))
    ring = limits.TiltedRing(Circle(), score, HBAR)
    assert ring.current == pytest.approx(2 * HBAR * c / (2 * np.pi), rel=1e-13)
    assert ring.entropy_production == pytest.approx(4 * HBAR * c**2, rel=1e-12)
    np.testing.assert_allclose(ring.density(np.array([0.0, 2.0])), 1 / (2 * np.pi), rtol=1e-13)
    k = np.arange(-5, 6)
    expected = HBAR * (k**2 - 2j * c * k)
    found = limits.FourierGalerkin(Circle(), score, 5, HBAR).eigenvalues
    found = found[np.lexsort((found.imag, np.round(found.real, 6)))]  # pairs share a real part
    np.testing.assert_allclose(found, np.sort_complex(expected), atol=1e-12)
    with pytest.raises(NoReferenceError, match="modes = 5"):
        limits.FourierGalerkin(Circle(), score, 5, HBAR).moment((6,))
    at_rest = limits.TiltedRing(Circle(1.2), Distance((0.3, 0.2)))
    assert at_rest.current == 0
    assert at_rest.entropy_production == 0


def test_stationary_density_without_circulation_is_that_of_the_potential():
    """exp(-2Φ/ħ) = (ρh)², also for a symmetric link, w = ½ xᵀMx."""
    space, score = Circle(1.2, 0.4), Distance((0.3, 0.2), link=((0.4, 0.2), (0.2, -0.1)))
    theta = 2 * np.pi * np.arange(400) / 400
    x = space.at(theta)
    log_h = x @ (0.3, 0.2) + 0.5 * np.einsum("na,ab,nb->n", x, score.link, x)
    expected = np.exp(2 * (space.log_density(x) + log_h))
    expected /= np.mean(expected) * 2 * np.pi
    np.testing.assert_allclose(limits.TiltedRing(space, score).density(theta), expected, rtol=1e-12)


def test_galerkin_columns_are_the_generator_on_waves():
    """A non-closed form on a torus: the matrix against the pointwise generator, ∫ p 𝒞f = 0."""
    torus = FlatTorus((Circle(0.8, 0.5), Circle(0.4, radius=0.7)))
    link = ((0.0, 0.5, 0.9, -0.4), (-0.5, 0, 0.3, 0.8), (-0.9, -0.3, 0, -0.6), (0.4, -0.8, 0.6, 0))
    score, wave = Distance((0.2, 0.0, 0.0, -0.3), link=link), (1, 2)
    solved = limits.FourierGalerkin(torus, score, 8, HBAR)
    n = 24
    angle = 2 * np.pi * np.arange(n) / n
    theta = np.stack(np.meshgrid(angle, angle, indexing="ij"), axis=-1).reshape(-1, 2)
    x = np.concatenate([c.at(theta[:, a]) for a, c in enumerate(torus.circles)], axis=1)
    real = limits.generator(torus, score, torus.fourier(wave), x, HBAR)
    real -= limits.generator(torus, score, torus.fourier(wave, (-np.pi / 2,) * 2), x, HBAR)
    column = solved.matrix[:, [tuple(k) for k in solved.waves].index(wave)]
    # cos cos - sin sin = cos(k·θ), the real part of the wave
    np.testing.assert_allclose(
        (np.exp(1j * theta @ solved.waves.T) @ column).real, real, atol=1e-12
    )
    density = solved.density(theta)
    assert np.mean(density) == pytest.approx((2 * np.pi) ** -2, rel=1e-12)
    assert np.min(density) > 0
    assert abs(np.mean(density * real)) < 1e-9
    # ∂_a j_a = 0: what flows around circle 0 is the same at every angle of it
    current = solved.current(theta).reshape(n, n, 2)
    around = np.mean(current[:, :, 0], axis=1)
    np.testing.assert_allclose(around, around[0], rtol=1e-5)  # eight modes
    assert np.ptp(current[:, :, 0]) > 0.01
    assert np.max(np.abs(real)) > 1


GAUSSIANS = [
    (Gaussian(((2.0, 0.5), (0.5, 1.0))), Distance((0.3, -0.2), link=((0.0, 0.7), (-0.7, 0.0)))),
    (Gaussian(((2.0, 0.5), (0.5, 1.0))), Distance(link=((0.1, 0.9), (-0.5, -0.2)))),
    (Gaussian(((1.7,),)), Distance((0.4,))),
]


@pytest.mark.parametrize(("space", "score"), GAUSSIANS, ids=repr)
@pytest.mark.parametrize("beta", [3.0, 400.0, None])
def test_gaussian_laws_are_stationary(space, score, beta):
    """E 𝒞f = 0 for all polynomials of degree two, by the points that average them exactly."""
    mean, covariance = limits.gaussian_stationary(space, score, beta)
    n = space.dim
    spread = np.sqrt(n) * np.linalg.cholesky(covariance).T
    points = np.concatenate([mean + spread, mean - spread])
    expressions = [f"x{a}" for a in range(n)] + [f"x{a}*x{b}" for a in range(n) for b in range(n)]
    for f in map(space.polynomial, expressions):
        values = (
            limits.generator(space, score, f, points)
            if beta is None
            else limits.expectation(space, score, f, points, beta)
        )
        assert abs(np.mean(values)) < 1e-11
        assert np.max(np.abs(values)) > 1e-2


@pytest.mark.parametrize(("space", "score"), GAUSSIANS[:2], ids=repr)
@pytest.mark.parametrize("beta", [3.0, 400.0, None])
def test_circulation(space, score, beta):
    """E[x_a 𝒞x_b - x_b 𝒞x_a] by the points that average it exactly: J = -that."""
    mean, covariance = limits.gaussian_stationary(space, score, beta)
    spread = np.sqrt(2) * np.linalg.cholesky(covariance).T
    points = np.concatenate([mean + spread, mean - spread])
    moved = np.stack(
        [
            limits.generator(space, score, f, points, HBAR)
            if beta is None
            else limits.expectation(space, score, f, points, beta, HBAR)
            for f in map(space.polynomial, ("x0", "x1"))
        ],
        axis=1,
    )
    turned = points.T @ moved / len(points)
    found = limits.gaussian_circulation(space, score, beta, HBAR)
    np.testing.assert_allclose(found, turned.T - turned, atol=1e-10)
    assert found[0, 1] > 0.5


def test_entropy_production_of_a_rotation():
    """½ Σ (M - Mᵀ) J is E|v|²/ħ of the velocity v = j/p = ħ(S⁻¹ - 2K)x, the part irreversible."""
    space, score = GAUSSIANS[0][0], Distance(link=((0.0, 0.7), (-0.7, 0.0)))
    covariance = limits.gaussian_stationary(space, score)[1]
    pull = space.precision - np.transpose(score.link)
    velocity = HBAR * (np.linalg.inv(covariance) - 2 * pull)
    expected = np.trace(velocity @ covariance @ velocity.T) / HBAR
    circulation = limits.gaussian_circulation(space, score, None, HBAR)
    assert np.sum(np.array(score.link) * circulation) == pytest.approx(expected, rel=1e-12)
    still = limits.gaussian_circulation(space, Distance((0.3, 0.1)), 5.0)
    np.testing.assert_allclose(still, 0, atol=1e-13)


def test_gaussian_laws_meet_in_the_limit():
    space, score = GAUSSIANS[0]
    near, limit = (limits.gaussian_stationary(space, score, beta) for beta in (1e5, None))
    np.testing.assert_allclose(near[1], limit[1], atol=1e-5)
    np.testing.assert_allclose(near[0], limit[0], atol=1e-5)
    plain = limits.gaussian_stationary(space, Distance())[1]
    np.testing.assert_allclose(plain, space.sigma / 2, atol=1e-14)  # of density ρ²


def test_what_is_not_known_is_refused():
    link = harmonic_link([0.8])
    with pytest.raises(NoReferenceError, match="infinity"):
        limits.gaussian_stationary(Gaussian(((1.0,),)), Distance(link=((1.5,),)))
    with pytest.raises(NoReferenceError, match="infinity"):
        limits.gaussian_stationary(Gaussian(((1.0,),)), Distance(link=((1.5,),)), 9.0)
    with pytest.raises(NoReferenceError, match="Circle"):
        limits.TiltedRing(Sphere(2), Distance())  # type: ignore[arg-type]
    with pytest.raises(NoReferenceError, match="larger beta"):
        limits.RingChain(Circle(), Distance(link=link), 3.9)
    with pytest.raises(NoReferenceError, match="closed-form"):
        limits.TiltedRing(Circle(), Distance(normalisation=CoifmanLafon(1.0), link=link))
    with pytest.raises(NoReferenceError, match="FlatTorus"):
        limits.FourierGalerkin(Sphere(2), Distance(), 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="modes"):
        limits.FourierGalerkin(Circle(), Distance(), 0)
