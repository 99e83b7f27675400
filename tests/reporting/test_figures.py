"""The studies' own figures, read back from their Axes, hold what plain NumPy works out."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import integrate, optimize, special

from convergence.reporting.ellipses import metric_ellipses
from convergence.reporting.heat import heat_on_the_roll
from convergence.reporting.ring_current import ring_current
from convergence.reporting.spectral_flow import spectral_flow
from convergence.reporting.star_graph import eigenfunctions
from convergence.reporting.strata import layer_collapse
from convergence.reporting.torus_current import torus_current
from convergence.scores import Distance, harmonic_link
from convergence.spaces import (
    Chart,
    Circle,
    Coordinate,
    FlatTorus,
    Interval,
    StarGraph,
    SwissRoll,
)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


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


def test_the_current_round_a_ring(axes):
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
    expected = axes.with_intervals(
        [without_first_bias(measured, p) for p in samples(ring, 80, 3, 5)]
    )
    ((density,), (current,)) = axes.bars(left), axes.bars(right)
    np.testing.assert_allclose(density[:, 0], 0.5 * (edges[1:] + edges[:-1]))
    np.testing.assert_allclose(density[:, 1:], expected[:24], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(current[:, 0], edges[:-1:2])
    np.testing.assert_allclose(current[:, 1:], expected[24:], rtol=1e-7, atol=1e-9)
    # ħ(p' - 2p c - 2p (log ρ)') = -j, with ρ ~ exp(κ cos θ): p = e^U ∫ e^{-U} over one turn
    fine, line = axes.free_lines(left)[0].get_data()

    def potential(x):
        return 2 * c * x + 2 * kappa * np.cos(x)

    turn = [
        integrate.quad(lambda y, x=x: np.exp(potential(x) - potential(y)), x, x + 2 * np.pi)[0]
        for x in fine
    ]
    mass = integrate.trapezoid(turn, fine)
    np.testing.assert_allclose(line, np.array(turn) / mass, rtol=1e-5)
    flow = hbar * (1 - np.exp(-4 * np.pi * c)) / mass
    limit, at_beta = (ax_line.get_ydata() for ax_line in axes.free_lines(right))
    np.testing.assert_allclose(limit, flow, rtol=1e-5)
    assert abs(at_beta[0] / flow - 1) < 2 / beta


def test_the_current_on_a_torus(axes):
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
    expected = axes.with_intervals(
        [without_first_bias(measured, p) for p in samples(torus, 90, 3, 6)]
    )
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
    for a, drawn in enumerate(axes.bars(right)):
        np.testing.assert_allclose(drawn[:, 0], exact[a], rtol=1e-6)
        np.testing.assert_allclose(
            drawn[:, 1:], expected[:, :, a].reshape(-1, 3), rtol=1e-6, atol=1e-9
        )
    diagonal = axes.free_lines(right)[0]
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


def test_layers_collapse_on_their_profile(axes):
    """f = t on a uniform interval: e^{-s²}/(sqrt π (1 + erf s)), at s = sqrt β · distance."""
    space, n, beta = Interval(), 2_000, 400.0
    layers = {"one": (space, space.rays, (0,), space.function("t"))}
    (ax,) = layer_collapse(layers, (beta,), n, seed=7).axes

    def profile(s):
        return np.exp(-(s**2)) / np.sqrt(np.pi) / (1 + special.erf(s))

    limit, expectation, zero = axes.free_lines(ax)
    for line in (limit, expectation):
        s, y = line.get_data()
        np.testing.assert_allclose(y, profile(s), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(zero.get_ydata(), 0)
    points = space.sample(9 * n, np.random.default_rng(7))[:, 1]  # behind the stratum's number
    ((*drawn,),) = axes.bars(ax)
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
