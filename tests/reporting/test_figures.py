"""The studies' own figures, read back from their Axes, hold what plain NumPy works out."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from convergence.reporting.ellipses import metric_ellipses
from convergence.reporting.heat import heat_on_the_roll
from convergence.reporting.jumps import critical_picture, transition_kernel, varadhan_figure
from convergence.reporting.ring_current import ring_current
from convergence.reporting.spectral_flow import spectral_flow
from convergence.reporting.star_graph import eigenfunctions, spectrum_converging
from convergence.reporting.strata import layer_collapse
from convergence.reporting.torus_current import torus_current
from convergence.scores import Distance, Jump, Mixture, harmonic_link
from convergence.spaces import (
    Chart,
    Circle,
    Coordinate,
    FlatTorus,
    Interval,
    StarGraph,
    SwissRoll,
)
from convergence.verification import Batch, Setting


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def bars(ax):
    """(x, y, low, high) of every set of error bars."""
    found = []
    for container in ax.containers:
        x, y = container[0].get_data()
        ends = np.array(container[2][0].get_segments())[:, :, 1]
        found.append(np.stack([x, y, *ends.T], axis=1))
    return found


def with_intervals(samples):
    """Mean and 95 % interval over the first axis, 1.96 sd/sqrt(R)."""
    mean, half = np.mean(samples, axis=0), 1.96 * stats.sem(samples, axis=0)
    return np.stack([mean, mean - half, mean + half], axis=-1)


def free_lines(ax):
    taken = {line for c in ax.containers for line in (c[0], *c[1])}
    return [line for line in ax.lines if line not in taken]


def walk(points, beta, c, fit):
    """P with the link Σ c_a sin(θ_a' - θ_a), its stationary law, and θ (N, circles)."""
    theta = np.arctan2(points[:, 1::2], points[:, ::2])
    squares = np.sum((points[:, None] - points) ** 2, axis=-1)
    p = np.exp(-beta * squares + np.sin(theta[None] - theta[:, None]) @ np.atleast_1d(c))
    p /= p.sum(axis=1, keepdims=True)
    law = np.linalg.lstsq(
        np.vstack([p.T - np.eye(len(p)), np.ones(len(p))]),
        np.append(np.zeros(len(p)), 1),
        rcond=None,
    )[0]
    return fit(law[:, None] * p, law, theta)


def without_first_bias(measured, points):
    """Twice the whole less the mean of its halves."""
    halves = [measured(part) for part in np.array_split(points, 2)]
    return 2 * measured(points) - np.mean(halves, axis=0)


def samples(space, n, count, seed):
    return [space.sample(n, rng) for rng in np.random.default_rng(seed).spawn(count)]


def test_the_current_round_a_ring():
    """Law and current of every sample at full size; the limit by Stratonovich's integral."""
    c, beta, hbar, kappa = 0.8, 6.0, 0.7, 0.5
    ring = Circle(kappa=kappa)
    edges = np.linspace(-np.pi, np.pi, 25)

    def measured(points):
        def fit(flow, law, theta):
            angle, net = theta[:, 0], flow - flow.T
            past = [(angle - cut + np.pi) % (2 * np.pi) - np.pi for cut in edges[:-1:2]]
            fluxes = [
                net[np.ix_((p < 0) & (p > -np.pi / 2), (p >= 0) & (p < np.pi / 2))].sum()
                for p in past
            ]
            density = np.histogram(angle, edges, weights=law)[0] / np.diff(edges)
            return np.concatenate([density, 4 * hbar * beta * np.array(fluxes)])

        return walk(points, beta, c, fit)

    figure = ring_current(
        ring, Distance(link=harmonic_link([c])), 80, beta, hbar, samples=3, seed=5
    )
    left, right = figure.axes
    expected = with_intervals([without_first_bias(measured, p) for p in samples(ring, 80, 3, 5)])
    ((density,), (current,)) = bars(left), bars(right)
    np.testing.assert_allclose(density[:, 0], 0.5 * (edges[1:] + edges[:-1]))
    np.testing.assert_allclose(density[:, 1:], expected[:24], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(current[:, 0], edges[:-1:2])
    np.testing.assert_allclose(current[:, 1:], expected[24:], rtol=1e-7, atol=1e-9)
    # ħ(p' - 2p c - 2p (log ρ)') = -j, with ρ ~ exp(κ cos θ): p = e^U ∫ e^{-U} over one turn
    fine, line = free_lines(left)[0].get_data()

    def potential(x):
        return 2 * c * x + 2 * kappa * np.cos(x)

    turn = [
        integrate.quad(lambda y, x=x: np.exp(potential(x) - potential(y)), x, x + 2 * np.pi)[0]
        for x in fine
    ]
    mass = integrate.trapezoid(turn, fine)
    np.testing.assert_allclose(line, np.array(turn) / mass, rtol=1e-5)
    flow = hbar * (1 - np.exp(-4 * np.pi * c)) / mass
    limit, at_beta = (ax_line.get_ydata() for ax_line in free_lines(right))
    np.testing.assert_allclose(limit, flow, rtol=1e-5)
    assert abs(at_beta[0] / flow - 1) < 2 / beta


def test_the_current_on_a_torus():
    """Arrows and error bars at full size; uniform, the limit is 2ħc/(2π)² everywhere."""
    c, beta, hbar, cells = np.array([0.9, -0.6]), 4.0, 0.7, 8
    torus = FlatTorus((Circle(), Circle()))
    edges = np.linspace(-np.pi, np.pi, cells + 1)

    def measured(points):
        def fit(flow, law, theta):
            steps = theta[None] - theta[:, None]
            steps = (steps + np.pi) % (2 * np.pi) - np.pi
            rates = 2 * hbar * beta * np.sum((flow - flow.T)[:, :, None] * steps, axis=1)
            first, second = (np.digitize(t, edges) - 1 for t in theta.T)
            field = np.zeros((cells, cells, 2))
            np.add.at(field, (first, second), rates / (2 * np.pi / cells) ** 2)
            return field

        return walk(points, beta, c, fit)

    score = Distance(link=harmonic_link(c))
    figure = torus_current(torus, score, 90, beta, hbar, samples=3, seed=6)
    left, right = figure.axes[:2]
    expected = with_intervals([without_first_bias(measured, p) for p in samples(torus, 90, 3, 6)])
    exact = 2 * hbar * c / (2 * np.pi) ** 2
    limit, mean = (q for q in left.collections if hasattr(q, "U"))
    centres = 0.5 * (edges[1:] + edges[:-1])
    for arrows, field in ((limit, np.broadcast_to(exact, (8, 8, 2))), (mean, expected[..., 0])):
        # rows of a quiver run along the second axis
        grid = np.stack([arrows.X, arrows.Y], axis=-1).reshape(cells, cells, 2)
        np.testing.assert_allclose(grid[3, 5], [centres[5], centres[3]])
        for a, drawn in enumerate((arrows.U, arrows.V)):
            found = np.asarray(drawn).reshape(cells, cells)
            np.testing.assert_allclose(found, field[..., a].T, rtol=1e-6, atol=1e-9)
    assert limit.scale == mean.scale
    for a, drawn in enumerate(bars(right)):
        np.testing.assert_allclose(drawn[:, 0], exact[a], rtol=1e-6)
        np.testing.assert_allclose(
            drawn[:, 1:], expected[:, :, a].reshape(-1, 3), rtol=1e-6, atol=1e-9
        )
    diagonal = free_lines(right)[0]
    np.testing.assert_array_equal(*diagonal.get_data())


def test_ellipses_are_circles_of_the_metric():
    """vᵀ𝒢v is one constant: 𝒢 = JᵀJ by hand, and the inverse of 2β P[(y-x)(y-x)ᵀ]."""
    coordinates = (Coordinate("u", -1.0, 1.0), Coordinate("v", 0.0, 1.5))
    chart = Chart(coordinates, ("u + v/2", "v", "u*v/2"), "u/3 - v/2", "coordinates")
    n, degree = 3_000, 60.0
    (ax,) = metric_ellipses({"one": chart}, n, degree, seed=3).axes
    u, v = (0.4 * (np.arange(5) + 0.5) - 1, 0.3 * (np.arange(5) + 0.5))
    grid = np.array([(a, b) for a in u for b in v])

    def features(x):
        return np.stack([x[:, 0] + x[:, 1] / 2, x[:, 1], x[:, 0] * x[:, 1] / 2], axis=1)

    zero, one = np.zeros(25), np.ones(25)
    jacobian = np.array([[one, zero, grid[:, 1] / 2], [one / 2, one, grid[:, 0] / 2]])
    metric = np.einsum("ain,bin->nab", jacobian, jacobian)
    mass = 3 * (np.exp(1 / 3) - np.exp(-1 / 3)) * 2 * (1 - np.exp(-0.75))
    density = np.exp(grid[:, 0] / 3 - grid[:, 1] / 2) / mass / np.sqrt(np.linalg.det(metric))
    beta = np.pi * n * density.min() / degree
    sample = chart.sample(n, np.random.default_rng(3))
    lines = [line.get_xydata() for line in ax.lines]
    assert len(lines) == 2 * len(grid)
    assert [line.get_label() for line in ax.lines[:2]] == ["estimated, $N = 3,000$", "exact"]
    radii = []
    for x, at, g, found, exact in zip(
        grid, features(grid), metric, lines[::2], lines[1::2], strict=True
    ):
        weights = np.exp(-beta * np.sum((features(sample) - at) ** 2, axis=1))
        moments = 2 * beta * (weights * (sample - x).T) @ (sample - x) / weights.sum()
        for curve, form in ((exact, g), (found, np.linalg.inv(moments))):
            radii.append(np.einsum("pa,ab,pb->p", curve - x, form, curve - x))
    np.testing.assert_allclose(radii, radii[0][0], rtol=1e-6)
    assert [ax.get_xlim(), ax.get_ylim()] == [(-1.0, 1.0), (0.0, 1.5)]
    (image,) = ax.images
    assert image.get_extent() == [-1.0, 1.0, 0.0, 1.5]
    assert image.origin == "lower"
    u, v = np.linspace(-1, 1, 80), np.linspace(0, 1.5, 80)  # rows run along v
    expected = np.exp(u[None] / 3 - v[:, None] / 2) / mass
    np.testing.assert_allclose(image.get_array(), expected, rtol=1e-6)


LENGTHS = (1.0, 0.7, 1.3)


def kirchhoff(count):
    """The first k > 0 with Σ tan(k ℓ_j) = 0, by the numerator, which has no poles."""

    def joined(k):
        return sum(
            np.sin(k * one) * np.prod([np.cos(k * other) for other in LENGTHS if other != one])
            for one in LENGTHS
        )

    grid = np.linspace(0.01, 12, 4000)
    signs = np.sign([joined(k) for k in grid])
    starts = np.flatnonzero(signs[1:] != signs[:-1])[:count]
    return [optimize.brentq(joined, grid[i], grid[i + 1], xtol=1e-13) for i in starts]


def test_modes_on_a_star_are_kirchhoffs():
    """Along every edge A cos(k(ℓ - t)), continuous at the vertex, flat at the ends, as sampled."""
    star = StarGraph(LENGTHS)
    figure = eigenfunctions(star, 800, 150.0, count=3, seed=2)
    above, below = np.split(np.array(figure.axes), 2)
    waves = kirchhoff(2)
    assert len(above) == len(below) == len(waves)
    for k, panel, plane in zip(waves, below, above, strict=True):
        dots, exact = panel.lines[::2], panel.lines[1::2]
        at_vertex = []
        for j, (end, points, line) in enumerate(zip(LENGTHS, dots, exact, strict=True)):
            t, y = line.get_data()
            shape = np.cos(k * (end - t))
            amplitude = (y @ shape) / (shape @ shape)
            np.testing.assert_allclose(y, amplitude * shape, atol=1e-9)
            assert (t[0], t[-1]) == (0.0, end)
            at_vertex.append(y[0])
            own, mode = points.get_data()
            assert np.max(own) <= end
            close = np.abs(mode - amplitude * np.cos(k * (end - own)))
            assert np.median(close) < 0.25 * np.max(np.abs(y)), j
        np.testing.assert_allclose(at_vertex, at_vertex[0], atol=1e-9)
        assert panel.get_title() == rf"exact ${(k / np.pi) ** 2:.4g}\,\pi^2$"
        sampled = float(plane.get_title().split("=")[1].split("\\")[0])
        assert sampled == pytest.approx((k / np.pi) ** 2, rel=0.25)
        (cloud,) = plane.collections
        drawn = np.concatenate([line.get_ydata() for line in dots])
        np.testing.assert_allclose(np.sort(cloud.get_array()), np.sort(drawn))
        assert cloud.get_clim() == (-np.max(np.abs(drawn)), np.max(np.abs(drawn)))


def stub(**claims):
    """A run of claims with given batches, (setting, values) by check."""
    study = SimpleNamespace(claim=claims.__getitem__, claims=list(claims.values()))
    return SimpleNamespace(study=study, batches=lambda claim: claim.data)


def batch(n, beta, values):
    return Batch(Setting(n, beta, len(values)), values)


def test_eigenvalues_over_their_limits():
    rng, limit = np.random.default_rng(4), np.array([[2.0, 5.0]])
    data = [batch(n, b, 3 + rng.standard_normal((9, 1, 2))) for n, b in ((800, 8.0), (1800, 14.0))]
    claim = SimpleNamespace(data={"joint": data}, limit=limit, functions=("a", "b"))
    problem = SimpleNamespace(
        expectation=lambda beta: limit * (1 - np.array([[1.0, 2.0]]) / beta),
        space=SimpleNamespace(sample=lambda n, rng: n),
        measured=lambda n, beta: np.array([[n * 1e-3, beta]]),
    )
    (ax,) = spectrum_converging(stub(star=claim), {"star": problem}, (3_000, 9_000)).axes
    for i, drawn in enumerate(bars(ax)):
        np.testing.assert_allclose(drawn[:, 0], [8.0, 14.0])
        for line, one in zip(drawn, data, strict=True):
            expected = with_intervals(one.values[:, 0, i] / limit[0, i])
            np.testing.assert_allclose(line[1:], expected, rtol=1e-9)
    lines = free_lines(ax)
    for i, (curve, single) in enumerate((lines[:2], lines[2:4])):
        betas, y = curve.get_data()
        np.testing.assert_allclose(y, 1 - (i + 1) / betas, rtol=1e-12)
        betas, y = single.get_data()
        np.testing.assert_allclose(y, [3, 9] / limit[0, i] if i == 0 else betas / limit[0, i])
    np.testing.assert_array_equal(lines[4].get_ydata(), [1, 1])


def test_the_spectral_flow():
    n, beta, fluxes = 50, 6.0, np.array([0.0, 0.35, 0.8])
    (ax,) = spectral_flow(n, fluxes, beta, count=4, seed=1).axes
    theta = np.linspace(-np.pi, np.pi, 4001)
    weight = np.exp(-2 * beta * (1 - np.cos(theta)))
    for k, limit, curve in zip(range(-3, 4), ax.lines[0:14:2], ax.lines[1:14:2], strict=True):
        a, y = limit.get_data()
        np.testing.assert_allclose(y, (k + a) ** 2, atol=1e-12)
        a, y = curve.get_data()
        waves = np.cos(np.outer(a, np.sin(theta)) + k * theta)
        means = integrate.trapezoid(waves * weight, theta) / integrate.trapezoid(weight, theta)
        np.testing.assert_allclose(y, 4 * beta * (1 - means), rtol=1e-7, atol=1e-9)
    points = Circle().sample(n, np.random.default_rng(1))
    angle = np.arctan2(points[:, 1], points[:, 0])
    steps = angle[None] - angle[:, None]
    kernel = np.exp(-2 * beta * (1 - np.cos(steps)))
    root = np.sqrt(kernel.sum(axis=1))
    for flux, line in zip(fluxes, ax.lines[14:], strict=True):
        twisted = kernel * np.exp(1j * flux * np.sin(steps)) / root / root[:, None]
        expected = 4 * beta * (1 - np.linalg.eigvalsh(twisted))[::-1][:4]
        np.testing.assert_array_equal(line.get_xdata(), flux)
        np.testing.assert_allclose(np.sort(line.get_ydata()), expected, rtol=1e-4, atol=1e-6)


def test_varadhans_distance():
    """Heat kernels and walks by their Fourier series, k from -40 to 40."""
    rng, beta, angle = np.random.default_rng(8), 10.0, np.pi
    values = 9 + rng.standard_normal((7, 1, 2))
    claim = SimpleNamespace(
        data={"sampling": [batch(500, beta, values)]}, functions=("t=0.2", r"\hbar t=0.4")
    )
    (ax,) = varadhan_figure(stub(local=claim), {"local": Distance()}, angle).axes
    ((*drawn,),) = bars(ax)
    np.testing.assert_allclose(
        drawn, np.column_stack([[0.2, 0.4], with_intervals(values[:, 0])]), rtol=1e-12
    )
    limit, steps, square = free_lines(ax)
    k = np.arange(-40, 41)[:, None]

    def varadhan(t, factors):
        density = np.real(np.exp(1j * angle * k) * factors).sum(axis=0) / (2 * np.pi)
        return -4 * t * np.log(density * np.sqrt(4 * np.pi * t))

    t, y = limit.get_data()
    np.testing.assert_allclose(y, varadhan(t, np.exp(-(k**2) * t)), rtol=1e-6)
    t, y = steps.get_data()
    powers = (special.ive(np.abs(k), 2 * beta) / special.ive(0, 2 * beta)) ** (4 * beta * t)
    np.testing.assert_allclose(y, varadhan(t, powers), rtol=1e-6)
    np.testing.assert_allclose(square.get_ydata(), angle**2)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_critical_picture(sign):
    """Values times β^{1-γ}, with intervals, positive whatever the sign of the limit."""
    rng = np.random.default_rng(9)
    data = [batch(100, b, sign * (4 + rng.standard_normal((8, 2, 2)))) for b in (6.0, 24.0, 96.0)]
    claim = SimpleNamespace(
        data={"joint": data},
        limit=sign * np.ones((2, 2)),
        expectation=lambda beta: sign * (3 + 1 / beta) * np.array([[1.0, 7.0], [7.0, 7.0]]),
    )
    (ax,) = critical_picture(stub(half=claim), {"half": 0.5}).axes
    ((*drawn,),) = bars(ax)
    for (beta, *line), one in zip(drawn, data, strict=True):
        assert beta == one.setting.beta
        expected = with_intervals(sign * np.sqrt(beta) * one.values[:, 0, 0])
        np.testing.assert_allclose(line, expected, rtol=1e-12)
    (curve,) = free_lines(ax)
    beta, y = curve.get_data()
    np.testing.assert_allclose(y, np.sqrt(beta) * (3 + 1 / beta), rtol=1e-12)


def test_a_row_of_the_kernel(handmade):
    """Local peak and jump to the antipode with w = λ/(4β), in bins and as a density."""
    rate, beta, n = 1.5, 20.0, 4_000
    circle = Circle()
    score = Mixture(circle, Distance(), (Jump(rate, ((-1, 0), (0, -1))),))
    top, bottom = transition_kernel(handmade.run(), circle, score, (beta,), n).axes

    def kernel(theta):
        near, far = np.cos(theta), np.cos(theta - np.pi)
        local, jump = (np.exp(-2 * beta * (1 - c)) for c in (near, far))
        return local + rate / (4 * beta) * jump

    (curve,) = top.lines
    theta, y = curve.get_data()
    mass = integrate.quad(kernel, -np.pi / 2, 3 * np.pi / 2, points=[0, np.pi], epsabs=1e-13)[0]
    np.testing.assert_allclose(y, kernel(theta) / mass, rtol=1e-6)
    share = rate / (4 * beta) / (1 + rate / (4 * beta))
    assert curve.get_label() == rf"$\beta = {beta:g}$: $4\beta p = {4 * beta * share:.3f}$"
    points = circle.sample(n, np.random.default_rng(0))
    turn = np.arctan2(points[:, 1], points[:, 0])
    turn[turn < -np.pi / 2] += 2 * np.pi
    edges = np.linspace(-np.pi / 2, 3 * np.pi / 2, 91)
    weights = kernel(turn) / kernel(turn).sum()
    expected = np.histogram(turn, edges, weights=weights)[0] / (2 * np.pi / 90)
    (steps,) = top.patches
    np.testing.assert_allclose(steps.get_data().values, expected, rtol=1e-9)
    assert len(bars(bottom)) == 1  # of the claim whose errors are predicted


def test_layers_collapse_on_their_profile():
    """f = t on a uniform interval: e^{-s²}/(sqrt π (1 + erf s)), at s = sqrt β · distance."""
    space, n, beta = Interval(), 2_000, 400.0
    layers = {"one": (space, space.rays, (0,), space.function("t"))}
    (ax,) = layer_collapse(layers, (beta,), n, seed=7).axes

    def profile(s):
        return np.exp(-(s**2)) / np.sqrt(np.pi) / (1 + special.erf(s))

    limit, expectation, zero = free_lines(ax)
    for line in (limit, expectation):
        s, y = line.get_data()
        np.testing.assert_allclose(y, profile(s), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(zero.get_ydata(), 0)
    points = space.sample(9 * n, np.random.default_rng(7))[:, 1]  # behind the stratum's number
    ((*drawn,),) = bars(ax)
    np.testing.assert_allclose([line[0] for line in drawn], np.linspace(0, 3, 9))
    for i, (s, y, low, high) in enumerate(drawn):
        z = np.sqrt(beta) * points[i::9] - s  # every target has points of its own
        weights = np.exp(-(z**2))
        assert y == pytest.approx(weights @ z / weights.sum(), rel=1e-8)
        # variance of a ratio of means: ∫ (z - m)² e^{-2z²} over (∫ e^{-z²})², from -s on
        m = profile(s)
        top = integrate.quad(lambda z, m=m: (z - m) ** 2 * np.exp(-2 * z**2), -s, 20)[0]
        bottom = integrate.quad(lambda z: np.exp(-(z**2)), -s, 20)[0]
        sd = np.sqrt(top * np.sqrt(beta) / n) / bottom
        assert (high - y, y - low) == pytest.approx((1.96 * sd, 1.96 * sd), rel=1e-4)


def test_heat_on_the_roll():
    """Colours are log10 of mass over mean mass, by powers of P; mass on other turns is told."""
    n, beta = 300, 1.5
    figure = heat_on_the_roll(n, beta, steps=(3, 20), seed=4)
    roll = SwissRoll(8.0, "cos(u)/2 + h/6")
    points = roll.sample(n, np.random.default_rng(4))
    u, h = points.T
    features = np.stack([u * np.cos(u), u * np.sin(u), h], axis=1)
    if not np.allclose(features, roll.features(points)):
        features = features[:, [0, 2, 1]]
    np.testing.assert_allclose(features, roll.features(points))
    kernel = np.exp(-beta * np.sum((features[:, None] - features) ** 2, axis=-1))
    walk = kernel / kernel.sum(axis=1, keepdims=True)
    source = np.argmin(np.abs(u - 3 * np.pi) + np.abs(h - 4))
    for ax, m in zip(figure.axes, (3, 20), strict=False):
        law = np.linalg.matrix_power(walk, m)[source]
        (cloud,) = ax.collections
        expected = np.log10(np.maximum(n * law, 1e-9))
        np.testing.assert_allclose(cloud.get_array(), expected, atol=1e-6)
        assert ax.get_title().startswith(f"$t = {m / (4 * beta):.0f}$")
