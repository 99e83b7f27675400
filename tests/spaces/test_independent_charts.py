"""Every public chart against numbers that share no code with it.

Embeddings and densities are written out by hand, integrals are plain tensor rules, first
derivatives are complex steps, second ones mpmath's; or the value is a closed form.
"""

from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy import special, stats

from convergence import spaces
from convergence.spaces import (
    Chart,
    ClosedCurve,
    Coordinate,
    Ellipse,
    Ellipsoid,
    GraphSurface,
    SwissRoll,
    TanhTorus,
    TorusOfRevolution,
    angle,
)

PI = np.pi
# chance that a right sampler fails, for each space
FALSE_ALARM_RATE = 1e-6
HELD = {"ChartFunction", "Coordinate", "angle"}


@dataclass(frozen=True)
class Hand:
    """A chart and the same by hand: m is numpy or mpmath, x its coordinates."""

    chart: Chart
    embedding: object
    log_density: object
    against: str = "volume"

    def jacobian(self, x):
        """∂F, shape (D, d), by complex steps."""
        steps = np.asarray(x, complex) + 1e-40j * np.eye(len(x))
        return np.stack([np.imag(self.embedding(np, *s)) for s in steps], axis=1) / 1e-40

    def mp_metric(self, *x):
        """𝒢 = JᵀJ from mpmath's differences."""
        d, count = len(x), self.chart.ambient_dim
        columns = [
            [mpmath.diff(lambda *y, i=i: self.embedding(mpmath, *y)[i], x, unit(a, d))
             for i in range(count)]
            for a in range(d)
        ]  # fmt: skip
        return mpmath.matrix([[mpmath.fdot(a, b) for b in columns] for a in columns])

    def mp_laplacian(self, f, x):
        """1/sqrt(det 𝒢) ∂_a (sqrt(det 𝒢) 𝒢^ab ∂_b f), 15 digits of 30."""
        d = len(x)

        def flux(a, *y):
            metric = self.mp_metric(*y)
            slopes = [mpmath.diff(f, y, unit(b, d)) for b in range(d)]
            inverse = metric**-1
            raised = mpmath.fsum(inverse[a, b] * slopes[b] for b in range(d))
            return mpmath.sqrt(mpmath.det(metric)) * raised

        total = mpmath.fsum(
            mpmath.diff(lambda *y, a=a: flux(a, *y), x, unit(a, d)) for a in range(d)
        )
        return total / mpmath.sqrt(mpmath.det(self.mp_metric(*x)))

    def grid(self, n=120):
        """Nodes and weights of a plain tensor rule."""
        axes = []
        for c in self.chart.coordinates:
            if c.periodic:
                axes.append((c.low + (c.high - c.low) * np.arange(n) / n, np.full(n, 1 / n)))
            else:
                t, w = leggauss(n)
                axes.append((c.low + (c.high - c.low) * (t + 1) / 2, w / 2))
        scale = np.prod([c.high - c.low for c in self.chart.coordinates])
        nodes = np.stack(np.meshgrid(*[t for t, _ in axes], indexing="ij"), -1)
        weights = np.meshgrid(*[w for _, w in axes], indexing="ij")
        return nodes.reshape(-1, len(axes)), scale * np.prod(weights, axis=0).ravel()

    def elements(self, nodes):
        """sqrt(det 𝒢)."""
        jacobians = np.stack([self.jacobian(x) for x in nodes])
        return np.sqrt(np.linalg.det(np.swapaxes(jacobians, 1, 2) @ jacobians))


def unit(a, d):
    return tuple(int(a == b) for b in range(d))


def ring(m, r, u):
    return r * m.cos(u), r * m.sin(u)


def tanh_network(m, u, v):
    hidden = [
        m.tanh(a * m.cos(u) + b * m.sin(u) + c * m.cos(v) + d * m.sin(v) + e)
        for a, b, c, d, e in (
            (-0.25, -0.14, -0.11, 0.29, 0.06),
            (0.04, 0.24, -0.05, -0.4, 0.11),
            (-0.27, 0.27, 0.51, 0.15, 0.11),
            (0.62, -0.12, 0.09, -0.01, -0.04),
            (0.02, 0.2, 0.62, -0.31, 0.28),
            (0.33, 0.28, 0.0, 0.33, 0.49),
        )
    ]
    output = (
        (0.23, -0.8, -0.07, 0.34, 0.19, -0.22),
        (0.23, -0.55, -0.16, -0.48, -0.61, -0.64),
        (0.21, 0.9, 0.12, 0.17, -0.95, 0.78),
        (-0.03, -0.2, 0.93, -0.72, -0.36, 1.5),
        (0.92, 0.19, 0.02, 0.75, 0.5, -0.3),
    )
    return tuple(sum(w * h for w, h in zip(row, hidden, strict=True)) for row in output)


def torus(m, u, v):
    return (*ring(m, 2 + 0.7 * m.cos(v), u), 0.7 * m.sin(v))


SHEAR = np.array([[1.0, 0.2, 0.0], [0.0, 0.5, -0.3], [0.4, 0.0, 2.0]])


def sheared(m, u, v):
    x, y, z = torus(m, u, v)
    return x + 0.2 * y, 0.5 * y - 0.3 * z, 0.4 * x + 2 * z


def torus_element(m, v):
    return 0.7 * (2 + 0.7 * m.cos(v))


CHARTS = {
    "Ellipse": Hand(
        Ellipse(2, 1, "cos(u)/2", "coordinates"),
        lambda m, u: (2 * m.cos(u), m.sin(u)),
        lambda m, u: m.cos(u) / 2,
        "coordinates",
    ),
    "Ellipsoid": Hand(
        Ellipsoid(1, 1.3, 0.8, "sin(u)*cos(v)/2"),
        lambda m, u, v: (m.sin(u) * m.cos(v), 1.3 * m.sin(u) * m.sin(v), 0.8 * m.cos(u)),
        lambda m, u, v: m.sin(u) * m.cos(v) / 2,
    ),
    "TorusOfRevolution": Hand(
        TorusOfRevolution(2, 0.7, "cos(u)/2 + 3*sin(v)/10"),
        torus,
        lambda m, u, v: m.cos(u) / 2 + 0.3 * m.sin(v),
    ),
    # the density of the torus before the map, by volume there
    "mapped": Hand(
        TorusOfRevolution(2, 0.7, "cos(u)/2 + 3*sin(v)/10").mapped(SHEAR),
        sheared,
        lambda m, u, v: m.cos(u) / 2 + 0.3 * m.sin(v) + m.log(torus_element(m, v)),
        "coordinates",
    ),
    "SwissRoll": Hand(
        SwissRoll(6.0, "-h/8"),
        lambda m, u, h: (u * m.cos(u), h, u * m.sin(u)),
        lambda m, u, h: -h / 8,
    ),
    "GraphSurface": Hand(
        GraphSurface("u*v/2 + v**2/3", 1.5, "u/3"),
        lambda m, u, v: (u, v, u * v / 2 + v**2 / 3),
        lambda m, u, v: u / 3,
    ),
    "ClosedCurve": Hand(
        ClosedCurve("cos(2*pi*t)"),
        lambda m, t: tuple(
            x / (2 * m.pi * m.sqrt(5))
            for x in (*ring(m, 1, 2 * m.pi * t), *ring(m, 2 / m.sqrt(9), 6 * m.pi * t))
        ),
        lambda m, t: m.cos(2 * m.pi * t),
    ),
    "TanhTorus": Hand(TanhTorus("sin(u - v)/3"), tanh_network, lambda m, u, v: m.sin(u - v) / 3),
    "Chart": Hand(
        Chart(
            (angle("u"), Coordinate("s", 0.5, 1.5)),
            ("(1 + s)*cos(u)", "(1 + s)*sin(u)", "s**2"),
            "s + sin(u)/4",
            "coordinates",
        ),
        lambda m, u, s: (*ring(m, 1 + s, u), s**2),
        lambda m, u, s: s + m.sin(u) / 4,
        "coordinates",
    ),
}  # fmt: skip
every_chart = pytest.mark.parametrize("hand", CHARTS.values(), ids=CHARTS)


def test_every_public_chart_has_an_independent_value():
    modules = tuple(f"convergence.spaces.{m}" for m in ("box", "chart", "expressions", "manifolds"))
    public = {name for name in spaces.__all__ if getattr(spaces, name).__module__ in modules}
    assert public == HELD | set(CHARTS) - {"mapped"}


TURN = (0, 2 * PI, True)
BOXES = {
    **dict.fromkeys(("TorusOfRevolution", "mapped", "TanhTorus"), (TURN, TURN)),
    "Ellipse": [TURN],
    "Ellipsoid": [(0, PI, False), TURN],
    "SwissRoll": [(1.5 * PI, 4.5 * PI, False), (0, 6, False)],
    "GraphSurface": [(-1.5, 1.5, False)] * 2,
    "ClosedCurve": [(0, 1, True)],
    "Chart": [TURN, (0.5, 1.5, False)],
}


@pytest.mark.parametrize("name", CHARTS)
def test_boxes(name):
    box = CHARTS[name].chart.coordinates
    assert [(c.low, c.high, c.periodic) for c in box] == list(BOXES[name])


@every_chart
def test_charts(hand):
    """Embedding, metric, volume and density."""
    chart = hand.chart
    nodes, weights = hand.grid(200 if chart.dim == 1 else 90)
    elements = hand.elements(nodes)
    x = nodes[7 :: len(nodes) // 5]
    features = np.array([hand.embedding(np, *y) for y in x], dtype=float)
    np.testing.assert_allclose(chart.features(x), features, atol=1e-13)
    jacobians = np.stack([hand.jacobian(y) for y in x])
    np.testing.assert_allclose(chart.jacobian(x), jacobians, rtol=1e-12, atol=1e-12)
    metric = np.swapaxes(jacobians, 1, 2) @ jacobians
    np.testing.assert_allclose(chart.metric(x), metric, rtol=1e-11, atol=1e-11)
    assert chart.volume == pytest.approx(weights @ elements, rel=1e-10)

    def log_q(y, element):
        return hand.log_density(np, *y.T) + (np.log(element) if hand.against == "volume" else 0)

    log_total = np.log(weights @ np.exp(log_q(nodes, elements)))
    expected = log_q(x, hand.elements(x)) - log_total
    np.testing.assert_allclose(chart.log_coordinate_density(x), expected, atol=1e-10)
    np.testing.assert_allclose(
        chart.log_density(x), expected - np.log(hand.elements(x)), atol=1e-10
    )


@every_chart
def test_samples_of_charts(hand):
    nodes, weights = hand.grid(200 if hand.chart.dim == 1 else 90)
    log_q = hand.log_density(np, *nodes.T)
    q = weights * np.exp(log_q) * (hand.elements(nodes) if hand.against == "volume" else 1)
    y = hand.chart.sample(20_000, np.random.default_rng(14))

    def moments(z):
        features = np.array(hand.embedding(np, *z.T))
        return np.array([*features, *(features**2)])

    values, exact = moments(y), moments(nodes) @ q / np.sum(q)
    spread = np.std(values, axis=1)
    z = (np.mean(values, axis=1) - exact) * np.sqrt(len(y)) / np.where(spread > 1e-12, spread, 1)
    assert np.all(2 * stats.norm.sf(np.abs(z)) > FALSE_ALARM_RATE / len(z))


@every_chart
def test_derivatives_on_charts(hand):
    """Δ of a function and of the embedding, and the gradient of log ρ, at one point."""
    chart, d = hand.chart, hand.chart.dim
    x = tuple(c.low + 0.37 * (c.high - c.low) for c in chart.coordinates)
    at, jacobian = np.array([x]), hand.jacobian(x)
    names = chart.names

    def f(*y):
        return mpmath.sin(y[0]) + y[-1] ** 2 / 3

    function = chart.function(f"sin({names[0]}) + {names[-1]}**2/3")
    with mpmath.workdps(30):
        expected = float(hand.mp_laplacian(f, x))
        curvature = [
            float(hand.mp_laplacian(lambda *y, i=i: hand.embedding(mpmath, *y)[i], x))
            for i in range(chart.ambient_dim)
        ]

        def log_rho(*y):
            root = mpmath.log(mpmath.det(hand.mp_metric(*y))) / 2
            return hand.log_density(mpmath, *y) - (0 if hand.against == "volume" else root)

        slope = [float(mpmath.diff(log_rho, x, unit(a, d))) for a in range(d)]
        slopes = [float(mpmath.diff(f, x, unit(a, d))) for a in range(d)]
    raise_index = jacobian @ np.linalg.inv(jacobian.T @ jacobian)
    assert function(at)[0] == pytest.approx(float(f(*x)), rel=1e-13)
    np.testing.assert_allclose(function.gradient(at)[0], slopes, atol=1e-13)
    np.testing.assert_allclose(chart.gradient(function, at)[0], raise_index @ slopes, atol=1e-11)
    assert chart.laplacian(function, at)[0] == pytest.approx(expected, rel=1e-9)
    scale = np.max(np.abs(curvature))
    np.testing.assert_allclose(chart.mean_curvature(at)[0], curvature, atol=1e-9 * scale)
    found = chart.log_density_gradient(at)[0]
    np.testing.assert_allclose(found, raise_index @ slope, atol=1e-9 * (1 + np.max(np.abs(slope))))
    second = np.diag([-np.sin(x[0]), *([2 / 3] * (d > 1))]) + (d == 1) * 2 / 3
    np.testing.assert_allclose(function.hessian(at)[0], second, atol=1e-13)


def test_volumes_in_closed_form():
    """Carlson's integral of a triaxial ellipsoid; elementary ones else."""
    a, b, c = 1.3, 1.0, 0.8
    area = 4 * PI * special.elliprg(a**2 * b**2, a**2 * c**2, b**2 * c**2)
    assert Ellipsoid(a, b, c).volume == pytest.approx(area, rel=1e-12)
    assert Ellipse(2, 1).volume == pytest.approx(8 * special.ellipe(0.75), rel=1e-13)
    assert TorusOfRevolution(3, 1).volume == pytest.approx(12 * PI**2, rel=1e-13)

    def arc(u):
        return (u * np.sqrt(1 + u**2) + np.arcsinh(u)) / 2

    assert SwissRoll(7.0).volume == pytest.approx(7 * (arc(4.5 * PI) - arc(1.5 * PI)), rel=1e-12)
    assert ClosedCurve().volume == pytest.approx(1.0, rel=1e-13)
    assert GraphSurface("2*u + v", 1.0).volume == pytest.approx(4 * np.sqrt(6), rel=1e-12)


def test_coordinates():
    line, turn = Coordinate("t", -1.0, 3.0), angle("u")
    assert (turn.low, turn.high, turn.periodic, turn.length) == (0.0, 2 * PI, True, 2 * PI)
    assert line.difference(np.array([2.5]), 1.0)[0] == 1.5
    wide = Coordinate("s", 0.0, 5.0, periodic=True)
    step = wide.difference(np.array([4.9]), 0.2)[0]  # 0.3 round the end, up to third order
    assert step == pytest.approx(-5 * np.sin(2 * PI * 0.06) / (2 * PI), rel=1e-13)
    nodes, weights = line.rule(12)
    assert weights @ np.exp(nodes) == pytest.approx(np.e**3 - 1 / np.e, rel=1e-13)
    nodes, weights = wide.rule(24)
    assert weights @ np.exp(np.cos(2 * PI * nodes / 5)) == pytest.approx(
        5 * special.i0(1), rel=1e-13
    )
