"""The step law by quadrature on charts: against closed forms, dense rules and the limit."""

from collections import OrderedDict

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from convergence import limits
from convergence.errors import InvalidInputError, QuadratureError
from convergence.limits.cells import base_cells
from convergence.scores import Distance, KeyPotential, harmonic_link
from convergence.spaces import (
    Chart,
    Circle,
    ClosedCurve,
    Coordinate,
    Ellipse,
    Ellipsoid,
    FlatTorus,
    GraphSurface,
    Sphere,
    SwissRoll,
    TanhTorus,
    TorusOfRevolution,
    angle,
)
from convergence.spaces.box import tensor
from convergence.verification.bias import richardson

HBAR = 0.7
m = (0.9, -0.4, 0.5)
unit = (np.array(m) / np.linalg.norm(m)).tolist()
TORUS = FlatTorus((Circle(0.8, 0.5), Circle(1.1, radius=0.7)))
# the closed form's space, the same as a chart, score, test function, targets, β
SAME = {
    "circle": (
        Circle(1.3, 0.6),
        Chart((angle("u"),), ("cos(u)", "sin(u)"), "1.3*cos(u - 0.6)"),
        Distance((0.5, -0.8)),
        "x0**3 - x0*x1 + x1",
        [[0.3], [2.5], [-2.0], [6.28]],
        (0.5, 4.0, 32.0, 700.0, 8192.0, 32768.0),
    ),
    "sphere": (
        Sphere(2, 1.1, m),
        Ellipsoid(
            1, 1, 1,
            f"1.1*({unit[0]!r}*sin(u)*cos(v) + {unit[1]!r}*sin(u)*sin(v) + {unit[2]!r}*cos(u))",
        ),
        Distance((0.2, 0.3, -0.7)),
        "x0*x1*x2 + x0**2",
        [[1.0, 0.3], [2.0, 4.0], [0.1, 6.2], [0.0, 1.0]],
        (0.5, 4.0, 32.0, 700.0, 8192.0, 32768.0),
    ),
    "torus": (
        TORUS,
        Chart(
            (angle("u"), angle("v")),
            ("cos(u)", "sin(u)", "7*cos(v)/10", "7*sin(v)/10"),
            "0.8*cos(u - 0.5) + 1.1*cos(v)",
        ),
        Distance((0.3, 0.0, -0.2, 0.4)),
        "x0*x2 + x1**2 - x3*x1",
        [[1.0, 0.3], [2.0, 4.0]],
        (0.5, 4.0, 32.0, 700.0, 8192.0, 32768.0),
    ),
    "torus with a link": (
        FlatTorus((Circle(0.8, 0.5), Circle(1.1, 0.0, 0.7))),
        Chart(
            (angle("u"), angle("v")),
            ("cos(u)", "sin(u)", "7*cos(v)/10", "7*sin(v)/10"),
            "0.8*cos(u - 0.5) + 1.1*cos(v)",
        ),
        Distance(
            (0.3, 0.0, -0.2, 0.4),
            link=((0.2, 0.9, 0.0, 0.3), (-0.5, 0.1, 0, 0), (0, 0.4, 0, -0.6), (0, 0, 0.8, -0.3)),
        ),
        "x0*x2 + x1**2 - x3*x1",
        [[1.0, 0.3], [2.0, 4.0]],
        (0.5, 32.0, 8192.0),
    ),
    "three-sphere": (
        Sphere(3),
        Chart(
            (Coordinate("a", 0, np.pi), Coordinate("b", 0, np.pi), angle("c")),
            ("sin(a)*sin(b)*cos(c)", "sin(a)*sin(b)*sin(c)", "sin(a)*cos(b)", "cos(a)"),
        ),
        Distance(),
        "x0*x1*x2 + x3**2",
        [[1.0, 1.3, 0.3]],
        (700.0,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_charts_agree_with_closed_forms(name):
    space, chart, score, expression, targets, betas = SAME[name]
    x = np.array(targets)
    y = chart.features(x)
    f, g = chart.function(expression), space.polynomial(expression)
    for beta in betas:
        for value in (limits.expectation, limits.sampling_constants):
            found = np.array(value(chart, score, f, x, beta, HBAR))
            exact = np.array(value(space, score, g, y, beta, HBAR))
            np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-9, err_msg=str(beta))
    mass = limits.step_law(chart, score).log_mass(x, 32.0, 1)
    np.testing.assert_allclose(mass, limits.step_law(space, score).log_mass(y, 32.0, 1), atol=1e-10)
    regular = x[chart.log_volume_element(x) > -10]
    np.testing.assert_allclose(
        limits.generator(chart, score, f, regular, HBAR),
        limits.generator(space, score, g, chart.features(regular), HBAR),
        atol=1e-12,
    )


def dense(chart, f, x, beta, n):
    """4ħβ (f(x) - P f(x)) by one tensor rule over the whole chart."""
    rules = [c.rule(n) if c.periodic else panels(c, n) for c in chart.coordinates]
    y = tensor([nodes for nodes, _ in rules])
    weights = np.prod(tensor([w for _, w in rules]), axis=1)
    squared = np.sum((chart.features(x) - chart.features(y)) ** 2, axis=1)
    mass = weights * np.exp(-beta * squared + chart.log_coordinate_density(y))
    return 4 * HBAR * beta * np.sum(mass * (f(x) - f(y))) / np.sum(mass)


def panels(coordinate, n):
    """Gauss-Legendre on n/20 equal panels."""
    nodes, weights = leggauss(20)
    half = coordinate.length / (n // 20) / 2
    centres = coordinate.low + half * (1 + 2 * np.arange(n // 20))
    return (centres[:, None] + half * nodes).ravel(), np.tile(half * weights, n // 20)


@pytest.mark.parametrize(
    ("chart", "x", "beta", "n"),
    [
        (Ellipse(2, 0.3, "cos(u)/2"), [0.9], 3.0, 4000),  # sees its other side
        (Ellipse(2, 1, "cos(u)/2"), [0.0], 900.0, 4000),  # where the angle closes
        (SwissRoll(), [9.0, 5.0], 0.05, 800),  # sees the neighbouring sheets
        (SwissRoll(log_density="h/5"), [4.8, 0.1], 8.0, 1600),  # beside two edges
        (GraphSurface("sin(3*u)*v"), [2.0, -2.0], 40.0, 600),  # in a corner
        (TanhTorus("cos(u - v)"), [0.1, 6.2], 5.0, 400),
    ],
    ids=str,
)
def test_against_one_dense_rule(chart, x, beta, n):
    f, x = chart.function("x0*x1 + x1"), np.array(x)
    expected = dense(chart, f, x, beta, n)
    assert expected == pytest.approx(dense(chart, f, x, beta, n - 200), rel=1e-10)
    found = limits.expectation(chart, Distance(), f, x, beta, HBAR)
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("chart", "expression", "first", "score"),
    [
        (Ellipse(2, 1, "cos(u)/2", "coordinates"), "sin(u) + cos(2*u)/2", 32.0, Distance()),
        (Ellipsoid(1, 1.3, 0.8, "sin(u)*cos(v)/2"), "x0*x1 + x2", 32.0, Distance()),
        (
            TorusOfRevolution(2, 1, "cos(u)/2 + 3*sin(v)/10", "coordinates"),
            "sin(u+2*v)",
            32.0,
            Distance(),
        ),
        (SwissRoll(log_density="-h/8"), "sin(u) + h**2/10", 2.0, Distance()),
        (GraphSurface("exp(-u**2 - v**2)", log_density="u/3"), "u*v + x2", 32.0, Distance()),
        (ClosedCurve("cos(2*pi*t)"), "sin(2*pi*t)", 4000.0, Distance()),
        (TanhTorus("cos(u - v)/2"), "x1 + cos(u)", 32.0, Distance()),
        (
            Ellipse(2, 1, "cos(u)/2"),
            "sin(u) + cos(2*u)/2",
            32.0,
            Distance(link=harmonic_link([0.5])),
        ),
        (
            GraphSurface("u*v/2", log_density="u/3"),
            "u*v + x2",
            32.0,
            Distance((0.1, 0.0, -0.2), link=((0.2, 0.9, 0.0), (-0.4, 0.0, 0.7), (0.3, -0.6, 0.1))),
        ),
    ],
    ids=str,
)
def test_expectation_tends_to_the_limit(chart, expression, first, score):
    """Bias of order 1/β: Richardson over five doublings leaves nothing."""
    f = chart.function(expression)
    x = chart.targets([f], 2)
    exact = limits.generator(chart, score, f, x, HBAR)
    betas = first * 4 * 2.0 ** np.arange(6)
    values = np.stack([limits.expectation(chart, score, f, x, b, HBAR) for b in betas])
    extrapolated, change = richardson(values, 2.0, 1.0)
    scale = np.max(np.abs(exact))
    assert np.max(change) < 1e-5 * scale
    np.testing.assert_allclose(extrapolated, exact, atol=2 * np.max(change) + 1e-8 * scale)
    order = np.log2(np.abs(values[-2] - exact) / np.abs(values[-1] - exact))
    np.testing.assert_allclose(order, 1, atol=0.05)


def test_a_normalisation_keeps_the_link():
    """A key potential ψ = a·F(y) beside a link is the Doob weight of the closed form."""
    link = harmonic_link([0.8])
    circle, chart = Circle(0.7), Chart((angle("u"),), ("cos(u)", "sin(u)"), "0.7*cos(u)")
    psi = KeyPotential(chart.function("cos(u)/2 - sin(u)/4"))
    x, f, g = np.array([[0.4], [2.0]]), chart.function("x0*x1"), circle.polynomial("x0*x1")
    score = Distance(normalisation=psi, link=link)
    doob = Distance((0.5, -0.25), link=link)
    found = limits.expectation(chart, score, f, x, 20.0, HBAR)
    np.testing.assert_allclose(
        found, limits.expectation(circle, doob, g, chart.features(x), 20.0, HBAR), rtol=1e-9
    )
    np.testing.assert_allclose(
        limits.generator(chart, score, f, x, HBAR),
        limits.generator(circle, doob, g, chart.features(x), HBAR),
        rtol=1e-12,
    )


def test_a_further_log_weight_is_a_doob_weight():
    """log w = a·F(y) as a callable of the coordinates gives what the score's weight gives."""
    chart, a, x = TorusOfRevolution(log_density="cos(u)"), (0.5, -0.3, 0.8), np.array([[0.4, 2.0]])
    f = chart.function("sin(u + v)")
    law = limits.QuadratureLaw(chart, Distance(), lambda y: chart.features(y) @ np.array(a))
    for beta in (16.0, 2000.0):
        got = limits.expectation_of(law, f, x, beta, HBAR)
        expected = limits.expectation(chart, Distance(a), f, x, beta, HBAR)
        np.testing.assert_allclose(got, expected, rtol=1e-12)
        both = limits.sampling_constants_of(law, f, x, beta, HBAR)
        pair = limits.sampling_constants(chart, Distance(a), f, x, beta, HBAR)
        np.testing.assert_allclose(both, pair, rtol=1e-11)
    assert np.all(limits.expectation(chart, Distance(), f, x, beta, HBAR) != expected)


def test_a_steep_weight_moves_the_step_far_away():
    """Where most of the mass lies far from the target, no cell of it is lost."""
    circle = Chart((angle("u"),), ("cos(u)", "sin(u)"))
    f, x, a = circle.function("x0"), np.array([[3.0]]), (60.0, 0.0)
    got = limits.expectation(circle, Distance(a), f, x, 10.0)
    exact = limits.expectation(
        Circle(), Distance(a), Circle().polynomial("x0"), circle.features(x), 10.0
    )
    np.testing.assert_allclose(got, exact, rtol=1e-11)


def test_rules_kept_are_bounded(monkeypatch):
    """Old rules go when too many nodes are held; values do not depend on it."""
    monkeypatch.setattr(limits.QuadratureLaw, "_rules", OrderedDict())
    law = limits.QuadratureLaw(TorusOfRevolution(), Distance())
    f, x = law.space.function("sin(u + v)"), TorusOfRevolution().candidates()[:6]
    first = law.mean_increment(f, x, 50.0, 1)
    assert len(law._rules) == 6
    np.testing.assert_array_equal(law.mean_increment(f, x, 50.0, 1), first)
    monkeypatch.setattr("convergence.limits.quadrature.KEPT_NODES", 1)
    assert np.all(law.mean_increment(f, x, 60.0, 2) != first)
    assert len(law._rules) == 1
    np.testing.assert_array_equal(law.mean_increment(f, x, 50.0, 1), first)


def test_refusals():
    graph = GraphSurface("u*v")
    f = graph.function("u")
    with pytest.raises(InvalidInputError, match="outside"):
        limits.expectation(graph, Distance(), f, np.array([[0.0, 2.1]]), 10.0)
    with pytest.raises(InvalidInputError, match="rows of 2"):
        limits.expectation(graph, Distance(), f, np.zeros((3, 1)), 10.0)
    with pytest.raises(InvalidInputError, match="beta"):
        limits.expectation(graph, Distance(), f, np.array([[0.0, 0.0]]), np.nan)
    with pytest.raises(InvalidInputError, match="Doob"):
        limits.expectation(graph, Distance((1.0,)), f, np.array([[0.0, 0.0]]), 10.0)
    sphere = Ellipsoid(1, 1, 1)
    with pytest.raises(InvalidInputError, match="degenerate"):
        limits.generator(sphere, Distance(), sphere.function("x0"), np.array([[0.0, 0.0]]))
    kinked = limits.QuadratureLaw(graph, Distance(), lambda y: np.abs(y[..., 0] - 0.123))
    with pytest.raises(QuadratureError, match="smoother"):
        kinked.mean_increment(f, np.array([[0.1, 0.0]]), 10.0, 1)
    wild = Chart((angle("u"), angle("v")), ("cos(4096*u)", "sin(u)", "cos(v)", "sin(v)"))
    with pytest.raises(QuadratureError, match="varies too fast"):
        base_cells(wild.features, wild.coordinates)
