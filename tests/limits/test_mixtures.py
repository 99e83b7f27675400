"""Mixtures of a local kernel and jumps: step laws against plain quadrature, limits, spectra."""

import numpy as np
import pytest

from convergence import limits
from convergence.errors import InvalidInputError, NoReferenceError
from convergence.limits.mixtures import anywhere_law
from convergence.scores import Distance, IndefiniteHead, Jump, Mixture, harmonic_link
from convergence.spaces import Circle, Ellipse, FlatTorus, Gaussian, Sphere

ring = Circle(kappa=0.9, mean_angle=0.4)
line = Gaussian(((1.7,),))
ANTIPODE = ((-1.0, 0.0), (0.0, -1.0))
QUARTER = ((0.0, -1.0), (1.0, 0.0))
RATE = ring.polynomial("1 + x0/2")
EVERYTHING = Mixture(
    ring,
    Distance((0.3, -0.2), link=harmonic_link([0.8])),
    (Jump(RATE, QUARTER, beta=1.5), Jump(0.7, ANTIPODE)),
)
ON_LINE = Mixture(
    line, Distance((0.4,)), (Jump(1.2, ((0.0,),), (0.8,), beta=0.6), Jump(0.5, ((-1.0,),)))
)
BETA = 7.0


def kernels_on_ring(x, y):
    """K_m(x, y) h(y) as the formulas say, with ∫ exp(-β|x-y|²) dV by the trapezoid rule."""
    angles = 2 * np.pi * np.arange(4000) / 4000

    def volume(beta):
        return 2 * np.pi * np.mean(np.exp(-beta * np.sum((ring.at(angles) - [1, 0]) ** 2, -1)))

    square = np.sum((x - y) ** 2, axis=-1)
    turned, opposite = (np.sum((x @ np.array(a).T - y) ** 2, -1) for a in (QUARTER, ANTIPODE))
    link = 0.8 * (x[0] * y[:, 1] - x[1] * y[:, 0])
    ratio = volume(BETA) / volume(1.5)
    return np.exp(y @ [0.3, -0.2]) * np.stack(
        [
            np.exp(-BETA * square + link),
            (1 + x[0] / 2) / (4 * BETA) * ratio * np.exp(-1.5 * turned),
            0.7 / (4 * BETA) * np.exp(-BETA * opposite),
        ]
    )


def kernels_on_line(x, y):
    y = y[:, 0]
    return np.exp(0.4 * y) * np.stack(
        [
            np.exp(-BETA * (x - y) ** 2),
            1.2 / (4 * BETA) * np.sqrt(0.6 / BETA) * np.exp(-0.6 * (0.8 - y) ** 2),
            0.5 / (4 * BETA) * np.exp(-BETA * (x + y) ** 2),
        ]
    )


def ring_nodes():
    y = ring.at(2 * np.pi * np.arange(4000) / 4000)
    return y, np.exp(ring.log_density(y)) * 2 * np.pi / 4000


def line_nodes():
    y = np.linspace(-12, 12, 24001)[:, None]
    return y, np.exp(line.log_density(y)) * 0.001


CASES = {
    "ring": (ring, EVERYTHING, kernels_on_ring, ring_nodes, ring.at(1.1), ring.fourier(2, 0.3)),
    "line": (
        line, ON_LINE, kernels_on_line, line_nodes, np.array([0.9]), line.polynomial("x0**2 + x0"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("power", [1, 2])
def test_step_law_against_plain_quadrature(case, power):
    space, score, kernels, nodes, x, f = CASES[case]
    y, weights = nodes()
    density = np.sum(kernels(x, y), axis=0) ** power * weights
    law = limits.MixtureLaw(space, score)
    step = f(y) - f(x)
    mass = np.sum(density)
    assert law.log_mass(x, BETA, power) == pytest.approx(np.log(mass), abs=1e-11)
    mean, square = (np.sum(density * step**k) / mass for k in (1, 2))
    assert law.mean_increment(f, x, BETA, power) == pytest.approx(mean, abs=1e-11)
    assert law.mean_squared_increment(f, x, BETA, power) == pytest.approx(square, abs=1e-11)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("part", [0, 1, 2])
def test_sectors_against_plain_quadrature(case, part):
    space, score, kernels, nodes, x, g = CASES[case]
    y, weights = nodes()
    each = kernels(x, y)
    total = np.sum(each @ weights)
    law = limits.MixtureLaw(space, score)
    mean = np.sum(each[part] * g(y) * weights) / total
    assert law.shares(x, BETA)[part] == pytest.approx(each[part] @ weights / total, abs=1e-12)
    assert law.sector_mean(g, part, x, BETA) == pytest.approx(mean, abs=1e-11)
    # one point of the sample adds (its kernel on g, its whole kernel) to a ratio of sums
    top, bottom = each[part] * g(y), np.sum(each, axis=0)
    residual = (top - mean * bottom) / total
    shift, variance = law.sector_constants(g, part, x, BETA)
    assert variance == pytest.approx(np.sum(residual**2 * weights), rel=1e-10)
    assert shift == pytest.approx(-np.sum(residual * bottom * weights) / total, rel=1e-9, abs=1e-10)


SPACES = {
    "ring": (ring, EVERYTHING, ring.fourier(2, 0.3)),
    "line": (line, ON_LINE, line.polynomial("x0**2 + x0")),
    "sphere": (
        Sphere(2, 1.1, (0.9, -0.4, 0.5)),
        Mixture(Sphere(2), Distance((0.2, 0.3, -0.7)), (Jump(1.2, -np.eye(3)),)),
        Sphere(2).polynomial("x0*x1 + x2"),
    ),
}


@pytest.mark.parametrize("name", SPACES)
def test_expectations_tend_to_the_limit(name):
    space, score, f = SPACES[name]
    x = space.targets((f,), 3)
    errors = [
        limits.expectation(space, score, f, x, beta) - limits.generator(space, score, f, x)
        for beta in (2e3, 4e3, 8e3)
    ]
    extrapolated = (8 * errors[2] - 6 * errors[1] + errors[0]) / 3
    assert np.max(np.abs(extrapolated)) < 1e-7
    assert np.max(np.abs(errors[0])) > 1e-5  # there is a bias to extrapolate


def test_wrong_limits_are_not_met():
    """The density's ratio, and the rate's own place, matter."""
    x = ring.at(np.array([0.2, 1.9]))
    f = ring.fourier(1, 0.3)
    right = limits.jump_part(EVERYTHING, ring, f, x)
    uniform = limits.jump_part(EVERYTHING, Circle(), f, x)
    assert np.min(np.abs(right - uniform)) > 1e-2


@pytest.mark.parametrize("width", [1.5, None])
def test_galerkin_columns_are_the_pointwise_generator(width):
    score = Mixture(
        ring, Distance((0.3, -0.2), link=harmonic_link([0.8])), (Jump(RATE, QUARTER, beta=width),)
    )
    galerkin = limits.FourierGalerkin(ring, score, 20, 0.7)
    theta = np.array([0.3, 1.1])
    real, imaginary = (
        limits.generator(ring, score, ring.fourier(2, phase), ring.at(theta), 0.7)
        for phase in (0.0, -np.pi / 2)
    )
    column = galerkin.matrix[:, galerkin.waves[:, 0].tolist().index(2)]
    found = np.exp(1j * np.outer(theta, galerkin.waves[:, 0])) @ column
    np.testing.assert_allclose(found, real + 1j * imaginary, atol=1e-11)


@pytest.mark.parametrize("width", [1.5, None])
def test_galerkin_on_a_torus(width):
    torus = FlatTorus((Circle(kappa=0.3, mean_angle=0.5), Circle(kappa=0.2, radius=0.7)))
    screw = ((0, -1, 0, 0), (1, 0, 0, 0), (0, 0, -1, 0), (0, 0, 0, -1))
    score = Mixture(torus, Distance(), (Jump(1.2, screw, beta=width),))
    galerkin = limits.FourierGalerkin(torus, score, 7)
    theta = np.array([[0.3, 1.1], [2.0, 0.4]])
    x = np.concatenate([c.at(theta[:, a]) for a, c in enumerate(torus.circles)], axis=-1)
    waves = galerkin.waves.tolist()
    column = sum(galerkin.matrix[:, waves.index([a, b])] for a in (1, -1) for b in (1, -1)) / 4
    found = np.exp(1j * theta @ galerkin.waves.T) @ column
    exact = limits.generator(torus, score, torus.fourier((1, 1)), x)
    np.testing.assert_allclose(found, exact, atol=1e-9)


def test_steady_state_of_the_chain_tends_to_the_galerkin_null_vector():
    galerkin = limits.FourierGalerkin(ring, EVERYTHING, 20)
    errors = []
    for beta in (50.0, 100.0, 200.0):
        chain = limits.RingChain(ring, EVERYTHING, beta)
        errors.append(chain.stationary @ np.exp(1j * chain.angles) - galerkin.moment((1,)))
    extrapolated = (8 * errors[2] - 6 * errors[1] + errors[0]) / 3
    assert abs(extrapolated) < 1e-6 < 1e-4 < abs(errors[0])
    # the current of the drift alone: p' has no mean
    theta = 2 * np.pi * np.arange(400) / 400
    f = ring.at(theta)
    force = limits.witten.force(EVERYTHING.local, ring, f)
    along = force[:, 1] * f[:, 0] - force[:, 0] * f[:, 1]
    flow = 2 * np.mean(along * galerkin.density(theta[:, None]))
    assert galerkin.mean_force() == pytest.approx(flow, rel=1e-10)


@pytest.mark.parametrize("width", [1.5, None])
def test_energies_sum_to_the_generator_s_form(width):
    score = Mixture(ring, Distance((0.3, -0.2)), (Jump(1.5, ANTIPODE, beta=width),))
    f = ring.fourier(1, 0.3)
    x = ring.at(2 * np.pi * np.arange(512) / 512)
    law = np.exp(2 * (ring.log_density(x) + x @ [0.3, -0.2]))
    form = np.sum(law * f(x) * limits.generator(ring, score, f, x, 0.7)) / np.sum(law)
    energies = limits.energy_limit(ring, score, f, 0.7)
    assert np.sum(energies) == pytest.approx(form, rel=1e-12)
    assert np.min(energies) > 0.1 * np.max(energies)
    misses = [
        limits.energy_expectation(ring, score, f, beta, 0.7) - energies
        for beta in (500.0, 1000.0, 2000.0)
    ]
    extrapolated = (8 * misses[2] - 6 * misses[1] + misses[0]) / 3
    assert np.max(np.abs(extrapolated)) < 1e-8
    assert np.min(np.abs(misses[0])) > 1e-6


@pytest.mark.parametrize("radius", [0.6, 1.0, 1.7])
def test_the_heat_kernel_of_a_circle_is_a_sum_of_images(radius):
    """Gaussians around all points Rθ + 2πRn of the line, per unit of length."""
    hbar, t, angle = 0.7, 0.4, 2.0
    walk = limits.CircularWalk(Circle(radius=radius), Distance(), hbar)
    lengths = radius * (angle + 2 * np.pi * np.arange(-9, 10))
    images = np.sum(np.exp(-(lengths**2) / (4 * hbar * t)))
    assert walk.varadhan(angle, t) == pytest.approx(-4 * hbar * t * np.log(images), rel=1e-11)
    density = images / np.sqrt(4 * np.pi * hbar * t)
    assert walk.density(angle, t) / radius == pytest.approx(density, rel=1e-11)


def test_varadhan_s_distance():
    """d² without a jump; with one it falls to zero like 4ħt log(1/λt)."""
    bond = Mixture(Circle(), Distance(), (Jump(1.0, ANTIPODE),))
    local, joined = (limits.CircularWalk(Circle(), s, 0.7) for s in (Distance(), bond))
    angle = 2 * np.pi / 3
    assert local.varadhan(angle, 0.1) == pytest.approx(angle**2, abs=1e-5)
    for t in (0.02, 0.01, 0.005):
        # what is left are images and jumps back, of relative order t
        assert joined.varadhan(np.pi, t) == pytest.approx(-4 * 0.7 * t * np.log(0.7 * t), rel=0.02)
    far = [joined.varadhan(np.pi, 0.2, beta) - joined.varadhan(np.pi, 0.2) for beta in (100, 200)]
    assert far[0] / far[1] == pytest.approx(2, rel=0.01)
    with pytest.raises(NoReferenceError, match="angle"):
        limits.CircularWalk(ring, bond)
    for t in (0.001, 0.03):  # the series is too short; the density too small
        with pytest.raises(NoReferenceError, match="series"):
            local.varadhan(np.pi, t)
    with pytest.raises(InvalidInputError, match="whole"):
        local.varadhan(np.pi, 0.2, 10.1)


def test_indefinite_head_widths():
    """e^{ikθ} to 2ħk²/κ₀ + λ sqrt(κ₀/κ_π)(1 - (-1)^k)."""
    head, x = IndefiniteHead(1.0, 0.2, 1.5), Circle().at(0.3)
    near, far = head.curvatures
    assert (near, far) == pytest.approx((2.4, 5.6))
    for k in (1, 2):
        f = Circle().fourier(k, 0.4)
        eigenvalue = 2 * k**2 / near + 1.5 * np.sqrt(near / far) * (1 - (-1) ** k)
        assert limits.generator(Circle(), head, f, x, 0.7) / f(x) == pytest.approx(0.7 * eigenvalue)
        # N ∫ exp(-½βκ₀δ²) dδ / 2π neighbours, those of a distance kernel for κ₀ = 2
        degree = limits.effective_degree(Circle(), head, x, 1000, 50.0)
        assert degree == pytest.approx(1000 / (2 * np.pi) * np.sqrt(2 * np.pi / (50 * near)))
        found = limits.expectation(Circle(), head, f, x, 1e5, 0.7) / f(x)
        assert found == pytest.approx(0.7 * eigenvalue, rel=1e-4)


def test_wrong_problems_are_refused():
    f, x = ring.fourier(1, 0.3), ring.at(np.array([0.3, 1.2]))
    supercritical = Mixture(ring, Distance(), (Jump(1.0, ANTIPODE, exponent=2.0),))
    off = Mixture(ring, Distance(), (Jump(1.0, ((0.5, 0.0), (0.0, 0.5))),))
    other = Mixture(Circle(radius=2.0), Distance(), (Jump(1.0, ANTIPODE, beta=1.5),))
    for call in (limits.generator, lambda *a: limits.FourierGalerkin(a[0], a[1], 5)):
        with pytest.raises(NoReferenceError, match="finite rate"):
            call(ring, supercritical, f, x)
        with pytest.raises(InvalidInputError, match="lie on"):
            call(ring, off, f, x)
        with pytest.raises(InvalidInputError, match="normalises"):
            call(ring, other, f, x)
    chart = Ellipse(1, 1)
    on_chart = Mixture(chart, Distance(), (Jump(1.0, ANTIPODE),))
    with pytest.raises(NoReferenceError, match="spheres"):
        limits.expectation(chart, on_chart, chart.function("cos(u)"), np.array([0.3]), 20.0)
    reset = Jump(1.0, ((0.0, 0.0), (0.0, 0.0)), beta=1.5)  # symmetric as a matrix, not as a law
    for jumps in ((Jump(1.0, QUARTER),), (reset,), EVERYTHING.jumps):
        score = Mixture(ring, Distance(), jumps)
        with pytest.raises(NoReferenceError, match="symmetric"):
            limits.energy_limit(ring, score, f)


def test_a_chain_resolves_narrow_jumps():
    score = Mixture(ring, Distance(), (Jump(1.0, QUARTER, beta=2000.0),))
    chain = limits.RingChain(ring, score, 20.0)
    law = limits.MixtureLaw(ring, score)
    step = np.exp(chain.log_markov) @ ring.fourier(2)(chain.points)
    exact = ring.fourier(2)(chain.points) + law.mean_increment(
        ring.fourier(2), chain.points, 20.0, 1
    )
    np.testing.assert_allclose(step, exact, atol=1e-10)


def test_refusals():
    with pytest.raises(NoReferenceError, match="volume"):
        Ellipse(2, 1).log_kernel_volume(3.0)
    with pytest.raises(NoReferenceError, match="Circle"):
        limits.score_law(IndefiniteHead(1.0, 0.0, 1.0), ring)
    with pytest.raises(InvalidInputError, match="lie on"):
        limits.step_law(ring, Distance()).log_mass(np.array([0.5, 0.0]), 1.0, 1)


def test_a_query_off_the_space():
    """exp(-β|x - y|²) of a point x inside the circle, by quadrature."""
    y, weights = ring_nodes()
    x, f = np.array([0.3, -0.1]), ring.fourier(2, 0.3)
    density = np.exp(-BETA * np.sum((x - y) ** 2, -1)) * weights
    law = anywhere_law(ring, Distance())
    assert law.log_mass(x, BETA, 1) == pytest.approx(np.log(np.sum(density)), abs=1e-12)
    mean = np.sum(density * f(y)) / np.sum(density)
    assert f(x) + law.mean_increment(f, x, BETA, 1) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_volume_of_a_kernel_at_any_beta(d):
    """(π/β)^{d/2} (1 + O(1/β)) on the unit sphere, also where Bessel functions overflow."""
    misses = [
        Sphere(d).log_kernel_volume(beta) - d / 2 * np.log(np.pi / beta)
        for beta in (1e3, 4.9e7, 5.1e7, 1e12)
    ]
    assert misses[0] * 1e3 == pytest.approx(-((d - 1) ** 2 - 1) / 16, abs=1e-3)
    # the next term of I_ν, -(4ν² - 1)/8r for r = 2β, ν = (d - 1)/2, on both sides of r = 1e8
    for beta, miss in zip((4.9e7, 5.1e7), misses[1:], strict=False):
        assert miss == pytest.approx(-((d - 1) ** 2 - 1) / (16 * beta), rel=1e-3, abs=1e-13)
    assert abs(misses[3]) < 1e-12
