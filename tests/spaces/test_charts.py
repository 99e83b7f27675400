"""Charts: what follows from an embedding, against finite differences, quadrature and by hand."""

import doctest
import pickle
import time

import numpy as np
import pytest
import sympy
from scipy import special, stats

from convergence.errors import InvalidInputError, QuadratureError, SamplerError
from convergence.spaces import (
    Chart,
    ClosedCurve,
    Coordinate,
    Ellipse,
    Ellipsoid,
    GraphSurface,
    Polynomial,
    Sphere,
    SwissRoll,
    TanhTorus,
    TorusOfRevolution,
    angle,
)
from convergence.spaces import chart as chart_module
from convergence.spaces.box import rejection_sample, tensor

CHARTS = [
    Ellipse(2, 1, "cos(u)/2", "coordinates"),
    Ellipsoid(1, 1.3, 0.8, "sin(u)*cos(v)/2"),
    TorusOfRevolution(2, 1, "cos(u)/2 + 3*sin(v)/10", "coordinates"),
    SwissRoll(log_density="-h/8"),
    GraphSurface("exp(-u**2 - v**2)", log_density="u/3"),
    ClosedCurve("cos(2*pi*t)"),
    TanhTorus(),
]
every_chart = pytest.mark.parametrize("chart", CHARTS, ids=str)
# chance that a right sampler fails, for each chart
FALSE_ALARM_RATE = 1e-6


def averages(chart, functions, n=200):
    """∫ f q by a plain tensor rule."""
    rules = [c.rule(n) for c in chart.coordinates]
    x = tensor([nodes for nodes, _ in rules])
    weights = np.prod(tensor([w for _, w in rules]), axis=1)
    q = weights * np.exp(chart.log_coordinate_density(x))
    return np.array([np.sum(q * f(x)) for f in functions])


def z_score(values, expected):
    return (np.mean(values) - expected) / (np.std(values, ddof=1) / np.sqrt(len(values)))


@every_chart
def test_sampler_against_quadrature(chart):
    expressions = ["1", "x0", "x1", "x0*x1", "x1**2", "x0**2*x1"]
    functions = [chart.function(e) for e in expressions]
    one, *expected = averages(chart, functions)
    assert one == pytest.approx(1, abs=1e-11)
    x = chart.sample(200_000, np.random.default_rng(4))
    for f, value in zip(functions[1:], expected, strict=True):
        p = 2 * stats.norm.sf(abs(z_score(f(x), value)))
        assert p > FALSE_ALARM_RATE / len(expected), f.label


def test_torus_is_uniform_by_area():
    """E cos v = r/(2R) = 0.25; uniform in the angles it would be 0."""
    torus, naive = TorusOfRevolution(), TorusOfRevolution(against="coordinates")
    f = torus.function("cos(v)")
    assert averages(torus, [f])[0] == pytest.approx(0.25, abs=1e-14)
    assert averages(naive, [f])[0] == pytest.approx(0, abs=1e-14)
    level = stats.norm.isf(FALSE_ALARM_RATE / 2)
    right, wrong = (c.sample(20_000, np.random.default_rng(5)) for c in (torus, naive))
    assert abs(z_score(f(right), 0.25)) < level
    assert abs(z_score(f(wrong), 0)) < level
    assert abs(z_score(f(wrong), 0.25)) > 2 * level


@every_chart
def test_geometry_against_finite_differences(chart):
    """J, and Δf = 1/sqrt(det 𝒢) ∂_a(sqrt(det 𝒢) 𝒢^ab ∂_b f) in divergence form."""
    x = chart.candidates()[:40]
    f, steps = chart.function("x0*x1 + x1"), np.eye(chart.dim)
    h = 1e-4 * min(c.length for c in chart.coordinates)

    def difference(function):
        """Central, of fourth order, the last axis the coordinate."""
        columns = [
            (8 * (function(x + h * e) - function(x - h * e)))
            - (function(x + 2 * h * e) - function(x - 2 * h * e))
            for e in steps
        ]
        return np.stack(columns, axis=-1) / (12 * h)

    jacobian = difference(chart.features)
    scale = np.max(np.abs(jacobian))
    np.testing.assert_allclose(chart.jacobian(x), jacobian, atol=1e-9 * scale)
    metric = np.einsum("nia,nib->nab", jacobian, jacobian)
    np.testing.assert_allclose(chart.metric(x), metric, atol=1e-8 * scale**2)
    np.testing.assert_allclose(
        chart.metric(x) @ chart.inverse_metric(x), np.broadcast_to(np.eye(chart.dim), metric.shape),
        atol=1e-12,
    )  # fmt: skip

    def flux(y):
        metric = chart.metric(y)
        raised = np.linalg.solve(metric, f.gradient(y)[..., None])[..., 0]
        return np.sqrt(np.linalg.det(metric))[:, None] * raised

    divergence = np.trace(difference(flux), axis1=1, axis2=2)
    expected = divergence / np.sqrt(np.linalg.det(chart.metric(x)))
    found = chart.laplacian(f, x)
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.max(np.abs(found)))
    curvature = chart.mean_curvature(x)
    for i in range(chart.ambient_dim):
        found = chart.laplacian(chart.function(f"x{i}"), x)
        np.testing.assert_allclose(found, curvature[:, i], atol=1e-10 * np.max(np.abs(curvature)))


def test_exact_volumes_and_metrics():
    assert Ellipse(2, 1).volume == pytest.approx(8 * special.ellipe(0.75), rel=1e-13)
    assert TorusOfRevolution(2, 1).volume == pytest.approx(8 * np.pi**2, rel=1e-13)
    assert Ellipsoid(1.5, 1.5, 1.5).volume == pytest.approx(9 * np.pi, rel=1e-13)
    assert ClosedCurve().volume == pytest.approx(1, rel=1e-13)
    roll = SwissRoll()
    x = roll.sample(5, np.random.default_rng(0))
    expected = np.zeros((5, 2, 2))
    expected[:, 0, 0], expected[:, 1, 1] = 1 + x[:, 0] ** 2, 1
    np.testing.assert_allclose(roll.metric(x), expected, rtol=1e-14, atol=1e-13)


def test_round_sphere_as_an_ellipsoid():
    chart, sphere = Ellipsoid(1, 1, 1), Sphere(2)
    x = chart.candidates()
    f, g = chart.function("x0*x1*x2 + x0**2"), sphere.polynomial("x0*x1*x2 + x0**2")
    y = chart.features(x)
    np.testing.assert_allclose(f(x), g(y), atol=1e-14)
    np.testing.assert_allclose(chart.gradient(f, x), sphere.gradient(g, y), atol=1e-13)
    np.testing.assert_allclose(chart.laplacian(f, x), sphere.laplacian(g, y), atol=1e-12)
    np.testing.assert_allclose(chart.projector(x), sphere.projector(y), atol=1e-13)
    np.testing.assert_allclose(chart.mean_curvature(x), sphere.mean_curvature(y), atol=1e-12)
    np.testing.assert_allclose(chart.log_density(x), sphere.log_density(y), atol=1e-13)


@pytest.mark.parametrize("against", ["volume", "coordinates"])
def test_mapped_is_the_chart_of_the_mapped_embedding(against):
    """W F as an embedding of its own, with the sampling law q dx of the chart it came from."""
    torus = TorusOfRevolution(2, 1, "cos(u)/2 + sin(v)/3", against)
    matrix = np.array([[1.1, 0.2, 0], [0, 0.5, -0.3], [0.4, 0, 2], [0.1, -0.7, 0]])
    x0, x1, x2 = (f"({e})" for e in torus.embedding)
    explicit = Chart(
        torus.coordinates,
        (
            f"1.1*{x0} + 0.2*{x1}",
            f"0.5*{x1} - 0.3*{x2}",
            f"0.4*{x0} + 2*{x2}",
            f"0.1*{x0} - 0.7*{x1}",
        ),
        "cos(u)/2 + sin(v)/3" + (" + log(2 + cos(v))" if against == "volume" else ""),
        "coordinates",
    )
    mapped, x = torus.mapped(matrix), torus.candidates()
    np.testing.assert_allclose(mapped.features(x), torus.features(x) @ matrix.T, atol=1e-14)
    for name in ("features", "metric", "mean_curvature", "log_density", "log_density_gradient"):
        got, expected = getattr(mapped, name)(x), getattr(explicit, name)(x)
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-12, err_msg=name)
    stretched = np.einsum(
        "nia,ij,njb->nab", torus.jacobian(x), matrix.T @ matrix, torus.jacobian(x)
    )
    np.testing.assert_allclose(mapped.metric(x), stretched, atol=1e-12)
    same = [c.log_coordinate_density(x) for c in (torus, mapped)]
    np.testing.assert_allclose(*same, atol=1e-12)


@every_chart
def test_pickles_without_what_it_computed(chart):
    x = chart.sample(20, np.random.default_rng(6))
    f = chart.function("x0*x1")
    expected = chart.laplacian(f, x)
    copy, g = pickle.loads(pickle.dumps((chart, f)))
    assert (copy, g) == (chart, f)
    assert "_features" not in vars(copy)
    np.testing.assert_array_equal(copy.laplacian(g, x), expected)
    np.testing.assert_array_equal(copy.sample(20, np.random.default_rng(6)), x)


def test_functions_of_coordinates_and_features():
    ellipse, u = Ellipse(2, 1), np.linspace(0, 6, 9)
    f = ellipse.function("sin(u) + x0**2")
    np.testing.assert_allclose(f(u[:, None]), np.sin(u) + 4 * np.cos(u) ** 2, atol=1e-14)
    slope = np.cos(u) - 4 * np.sin(2 * u)
    np.testing.assert_allclose(f.gradient(u[:, None])[:, 0], slope, atol=1e-14)
    bend = -np.sin(u) - 8 * np.cos(2 * u)
    np.testing.assert_allclose(f.hessian(u[:, None])[:, 0, 0], bend, atol=1e-14)
    assert "x_{0}" in f.label
    # the same from SymPy, whatever was assumed of its symbols
    again = ellipse.function(sympy.sin(sympy.Symbol("u")) + sympy.Symbol("x0", positive=True) ** 2)
    np.testing.assert_array_equal(again(u[:, None]), f(u[:, None]))


def test_numbers_keep_every_bit():
    third = sympy.Float(1 / 3)
    line = Chart((Coordinate("u", 0, 1),), (third * sympy.Symbol("u"),))
    assert line.features(np.array([1.0]))[0] == 1 / 3


def test_candidates_keep_away_from_edges():
    roll = SwissRoll(8.0)
    x = roll.candidates()
    assert x[:, 1].min() >= 2
    assert x[:, 1].max() <= 6
    poles = Ellipsoid(1, 2, 3).candidates()[:, 0]
    assert poles.min() >= np.pi / 4
    assert poles.max() <= 3 * np.pi / 4


SEGMENT = (Coordinate("u", -1, 1),)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Ellipse(2, 1, "cos(w)"), "contains w"),
        (lambda: Ellipse(2, 1, "x0"), "contains x0"),
        (lambda: Chart(SEGMENT, ("u", "bump(u)")), "contains bump"),
        (lambda: Chart(SEGMENT, ("u +",)), "no expression"),
        (lambda: Chart(SEGMENT, ("u < 1",)), "no expression"),
        (lambda: Ellipse(2, 1).function("x0 + x7"), "contains x7"),
        (lambda: Coordinate("u", 1.0, 1.0), "low < high"),
        (lambda: Coordinate("u", 0.0, np.inf), "low < high"),
        (lambda: Coordinate("x0", 0.0, 1.0), "ambient"),
        (lambda: Coordinate("a b", 0.0, 1.0), "identifier"),
        (lambda: Chart((angle("u"), angle("u")), ("u", "u")), "different"),
        (lambda: Chart((angle("u"), angle("v")), ("u",)), "as many features"),
        (lambda: Chart((), ()), "as many features"),
        (lambda: Ellipse(2, 1, against="area"), "area"),
        (lambda: Ellipse(2, 1, "u/2"), "log density .* not periodic in u"),
        (lambda: Chart((angle("u"), angle("v")), ("u", "cos(v)", "sin(v)")), "not periodic in u"),
        (lambda: Ellipse(-1, 1), "a must be"),
        (lambda: TorusOfRevolution(1, 2), "smaller"),
        (lambda: SwissRoll(0), "height"),
        (lambda: Chart(SEGMENT, ("log(u)",)).features(np.array([[0.5], [-0.5]])), "not finite at"),
        (lambda: Chart(SEGMENT, ("u",), "log(u)").log_density(np.array([[-0.5]])), "nan"),
        (lambda: Chart(SEGMENT, ("u",), "-log(u)").sample(3, np.random.default_rng()), "nan|inf"),
        (lambda: Ellipse(2, 1).features(np.zeros((3, 2))), "1 coordinates"),
        (lambda: Ellipse(2, 1).laplacian(Polynomial("x0", 2), np.zeros((3, 1))), "on a chart"),
        (lambda: Ellipsoid(1, 1, 1).inverse_metric(np.zeros((1, 2))), "degenerate at"),
        (lambda: Ellipse(2, 1).mapped(np.eye(3)), "2 columns"),
        (lambda: Ellipse(2, 1).mapped(np.array([[1, np.nan]])), "finite matrix"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(InvalidInputError, match=words):
        make()


@pytest.mark.parametrize("log_density", ["abs(sin(u))", "u*(2*pi - u)/4"])
def test_densities_that_are_not_smooth_are_refused(log_density):
    """A kink, and a slope that jumps where the angle closes."""
    with pytest.raises(QuadratureError, match="smooth"):
        TorusOfRevolution(log_density=log_density).log_density(np.array([[0.5, 1.0]]))


UNIT, BEYOND = (Coordinate("t", 0, 1),), (Coordinate("t", 0, 3),)


@pytest.mark.parametrize(
    ("chart", "words"),
    [
        (Chart(UNIT, ("t", "t**2"), "Abs(t-1/3)"), "settles"),
        (Chart(UNIT, ("t", "t**2"), "-log(t)/2"), "settles"),
        (Chart(UNIT, ("1", "2")), "vanishes everywhere"),
        (Chart(UNIT, ("1/t", "t")), "settles"),
        (Chart(BEYOND, ("sqrt(t-2)", "t")), "not finite"),
    ],
)
def test_integrals_that_do_not_exist_or_settle_end_in_seconds(chart, words):
    """Gauss-Legendre rules of up to four million nodes would take days."""
    start = time.process_time()
    with pytest.raises(QuadratureError, match=words):
        _ = chart.log_normaliser
    assert time.process_time() - start < 60


@pytest.mark.parametrize(
    "chart",
    [
        Chart(UNIT, ("1", "2")),
        Chart(UNIT, ("1/t", "t")),
        Chart(BEYOND, ("sqrt(t-2)", "t")),
        Chart(UNIT, ("t",), "-1e24*(t-1/3)**2"),
    ],
)
def test_laws_that_cannot_be_sampled_are_refused(chart):
    with pytest.raises(SamplerError, match=r"vanish everywhere|narrow"):
        chart.sample(3, np.random.default_rng(0))


def test_a_density_above_its_bound_is_an_error():
    with pytest.raises(SamplerError, match="supposed maximum"):
        rejection_sample(lambda x: -(x[:, 0] ** 2), -0.5, SEGMENT, 10, np.random.default_rng(0))


def test_examples():
    assert doctest.testmod(chart_module, extraglobs={"np": np}) == (0, 6)


@pytest.mark.parametrize("end", ["4*pi", np.nan, None, 1j])
def test_ends_that_are_no_numbers_are_refused(end):
    with pytest.raises(InvalidInputError, match="finite numbers"):
        Coordinate("u", 0.0, end)


@pytest.mark.parametrize("n", [-1, 2.5, "3"])
def test_a_number_of_points_is_whole(n):
    with pytest.raises(InvalidInputError, match="whole number"):
        Ellipse(2, 1).sample(n, np.random.default_rng(0))


@pytest.mark.parametrize("length", [1.0, 3.0])
def test_periods_other_than_two_pi(length):
    """The same curve and density over another period: every number of the space is the same."""
    turn, factor = Coordinate("t", 0.5, 0.5 + length, periodic=True), 2 * np.pi / length
    angles = f"{factor!r}*(t - 1/2)"
    shape, density = ("2*cos({0})", "sin({0})", "sin({0})**2"), "cos({0})"
    slow = Chart((turn,), tuple(f.format(angles) for f in shape), density.format(angles))
    plain = Chart((angle("t"),), tuple(f.format("t") for f in shape), density.format("t"))
    t = np.linspace(0, 2 * np.pi, 9)[:, None]
    s = 0.5 + t / factor
    np.testing.assert_allclose(slow.volume, plain.volume, rtol=1e-13)
    np.testing.assert_allclose(slow.log_density(s), plain.log_density(t), atol=1e-12)
    f, g = slow.function("x0*x2"), plain.function("x0*x2")
    for what in ("laplacian", "gradient"):
        expected = getattr(plain, what)(g, t)
        np.testing.assert_allclose(getattr(slow, what)(f, s), expected, atol=1e-11)
    # the difference of coordinates: slope one, the same after a whole period, zero at half of one
    near = turn.difference(np.array([0.7 + 1e-6]), 0.7)[0]
    np.testing.assert_allclose(near, 1e-6, rtol=1e-9)
    y = np.array([0.6, 0.9, 0.7 + length / 2])
    np.testing.assert_allclose(
        turn.difference(y + length, 0.7), turn.difference(y, 0.7), atol=1e-14
    )
    np.testing.assert_allclose(turn.difference(y, 0.7)[2], 0, atol=1e-15)
