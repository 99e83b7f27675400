"""The references against 40-digit values made by code that shares nothing with this project."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from convergence import limits
from convergence.errors import InvalidInputError, NoReferenceError
from convergence.scores import (
    CoifmanLafon,
    Distance,
    IndefiniteHead,
    Jump,
    Mixture,
    PerPointMetric,
    Sinkhorn,
    harmonic_link,
    killing_link,
)
from convergence.spaces import Circle, Ellipse, Gaussian, Polynomial, Sphere, TorusOfRevolution

TABLE = (Path(__file__).parents[1] / "data" / "reference_values.csv").read_text()
ROWS = list(csv.DictReader(TABLE.splitlines()))
HARMONICS = {1: "x0", 2: "x0*x1", 3: "x0**3 - 3*x0*x1**2"}


def uniform_sphere(p):
    d, ell = p["d"], p["l"]
    space = Sphere(d)
    f = space.polynomial(HARMONICS[ell])
    x = np.array([2.0, *[1.0] * d]) / np.sqrt(4.0 + d)
    return limits.expectation(space, Distance(), f, x, p["beta"]) / f(x)


def circle_von_mises(p):
    space = Circle(kappa=p["kappa"])
    score = Distance((0.0, p["a"])) if "a" in p else Distance()
    x = space.at(p["theta"])
    real, imaginary = (
        limits.expectation(space, score, space.fourier(p["k"], phase), x, p["beta"])
        for phase in (0.0, -np.pi / 2)
    )
    return real + 1j * imaginary


def fisher_sphere(p, doob, ell):
    space = Sphere(2, kappa=float(np.linalg.norm(p["m"])), mu=tuple(p["m"]))
    score = Distance(tuple(p["a"])) if doob else Distance()
    f = space.polynomial({2: "x0*x1", 3: "x0*x1*x2"}[ell])
    return limits.expectation(space, score, f, np.array(p["x"]), p["beta"])


def gaussian_line(p, normalisation):
    """P maps N(0, s²) to itself for s² = C/(1 - r²); its eigenfunctions are those Hermites."""
    space, score = Gaussian(((p["sigma2"],),)), Distance(normalisation=normalisation)
    x, scale = np.array([0.83]), 4 * p["beta"]
    gap = limits.expectation(space, score, space.polynomial("x0"), x, p["beta"]) / x[0] / scale
    origin = np.zeros(1)
    spread = -limits.expectation(space, score, space.polynomial("x0**2"), origin, p["beta"]) / scale
    stationary = float(spread / (gap * (2 - gap)))  # 1 - r² for r = 1 - gap
    f = Gaussian(((2 * stationary,),)).hermite(p.get("k", 1))
    return limits.expectation(space, score, f, x, p["beta"]) / f(x)


def sampling(p, which):
    space = Circle(kappa=p["kappa"])
    f = space.fourier(2, 0.4 - np.pi / 2)  # sin(2θ + 0.4)
    return limits.sampling_constants(space, Distance(), f, space.at(p["theta"]), p["beta"])[which]


def chart_limit(space, expression, p):
    """The limit; β → ∞ of the quadrature is held to it in test_charts.py."""
    x = np.array([p[name] for name in space.names])
    return limits.generator(space, Distance(), space.function(expression), x)


def metric_limit(p, symmetrised):
    """sin(u) + cos(2u)/2, density ∝ exp(9/10 cos u), G = 3/2 + 3/5 sin u."""
    space = Circle(kappa=0.9)
    score = PerPointMetric(metric=(("3/2 + 3/5*sin(u0)",),), symmetrised=symmetrised)
    f = space.polynomial("x1 + (x0**2 - x1**2)/2")
    return limits.generator(space, score, f, space.at(p["u"]))


def circle_link(p):
    """The eigenvalue on e^{ikθ}, from two real functions at one point."""
    space, theta = Circle(), 0.3
    score, x = Distance(link=harmonic_link([p["c"]])), space.at(theta)
    real, imaginary = (
        limits.expectation(space, score, space.fourier(p["k"], phase), x, p["beta"])
        for phase in (0.0, -np.pi / 2)
    )
    return (real + 1j * imaginary) / np.exp(1j * p["k"] * theta)


def sphere_link(p, ell):
    space = Sphere(2)
    f = space.polynomial({2: "x0*x1", 3: "x0*x1*x2"}[ell])
    score = Distance(link=killing_link(p["omega"]))
    return limits.expectation(space, score, f, np.array(p["x"]), p["beta"])


def bilinear_head(p, ell):
    """P f of exp(β xᵀBy), the link M = β(B - 2I)."""
    space, x = Sphere(2), np.array(p["x"])
    f = space.polynomial({2: "x0*x1", 3: "x0*x1*x2"}[ell])
    score = Distance(link=p["beta"] * (np.array(p["B"]) - 2 * np.eye(3)))
    return f(x) + limits.step_law(space, score).mean_increment(f, x, p["beta"], 1)


def gaussian_plane(row, p):
    space = Gaussian(tuple(map(tuple, p["Sigma"])))
    score = Distance(link=((0.0, p["w"]), (-p["w"], 0.0)))
    f = space.polynomial("x0*x1" if "x0 x1" in row["quantity"] else "x0**2")
    return limits.expectation(space, score, f, np.array(p["x"]), p["beta"])


def tilted_ring(p):
    score = Distance(link=harmonic_link([p["c"]]))
    ring = limits.TiltedRing(Circle(kappa=p["kappa"]), score, p["hbar"])
    return ring.density(p["theta"]) if "theta" in p else ring.current


ANTIPODE, QUARTER_TURN = ((-1.0, 0.0), (0.0, -1.0)), ((0.0, -1.0), (1.0, 0.0))


def eigenvalue(p, score):
    """On e^{ikθ} of the uniform circle, from two real functions at one point."""
    space, theta = Circle(), 0.3
    real, imaginary = (
        limits.expectation(space, score, space.fourier(p["k"], phase), space.at(theta), p["beta"])
        for phase in (0.0, -np.pi / 2)
    )
    return (real + 1j * imaginary) / np.exp(1j * p["k"] * theta)


def directed_jump(p):
    """Of relative mass λ/4β exactly: next to the local kernel with its link, not without."""
    link, plain = np.hypot(2 * p["beta"], p["c"]), 2 * p["beta"]
    ratio = special.ive(0, link) / special.ive(0, plain) * np.exp(link - plain)
    jump = Jump(p["lam"] * ratio, QUARTER_TURN, beta=1.5)
    return eigenvalue(p, Mixture(Circle(), Distance(link=harmonic_link([p["c"]])), (jump,)))


ANTIPODAL = "circle, antipodal bond of relative mass lam/(4 beta)"
DIRECTED = (
    "circle, link c and directed von Mises jump (kappa 3 about x + pi/2) of relative mass "
    "lam/(4 beta)"
)
HEAD = "single head b2 = 1, gap log(4 beta/lam)/beta"
METRIC = "circle, per-point metric 3/2 + 3/5 sin, {}, density exp(9/10 cos), limit"
TILTED = "tilted ring, density exp(kappa cos)/Z, link c sin(y - x), limit"
PLANE = "Gaussian plane, link x^T M y, M = [[0,w],[-w,0]]"
FAMILIES = {
    "circle uniform, link c sin(y - x)": lambda row, p: circle_link(p),
    "S2 uniform, link (omega cross x).y": lambda row, p: sphere_link(p, degree(row)),
    "S2 uniform, bilinear head beta x^T B y": lambda row, p: bilinear_head(p, degree(row)),
    PLANE: gaussian_plane,
    "circle magnetic, phase exp(i a0 sin(y - x))": lambda row, p: limits.magnetic_expectation(
        p["a0"], p["k"], p["beta"]
    ),
    TILTED: lambda row, p: tilted_ring(p),
    ANTIPODAL: lambda row, p: eigenvalue(
        p, Mixture(Circle(), Distance(), (Jump(p["lam"], ANTIPODE),))
    ),
    DIRECTED: lambda row, p: directed_jump(p),
    HEAD: lambda row, p: eigenvalue(p, IndefiniteHead(1.0, p["c"], p["lam"])),
    "uniform sphere": lambda row, p: uniform_sphere(p),
    "circle von Mises": lambda row, p: circle_von_mises(p),
    "circle von Mises, Doob h = exp(a sin y)": lambda row, p: circle_von_mises(p),
    "S2 von Mises-Fisher density exp(m.y)": lambda row, p: fisher_sphere(p, False, degree(row)),
    "S2 von Mises-Fisher, Doob h = exp(a.y)": lambda row, p: fisher_sphere(p, True, degree(row)),
    "Gaussian line, alpha-normalised": lambda row, p: gaussian_line(p, CoifmanLafon(p["alpha"])),
    "Gaussian line, Sinkhorn": lambda row, p: gaussian_line(p, Sinkhorn()),
    "circle von Mises, f = sin(2 theta + 0.4)": lambda row, p: sampling(
        p, 1 if "sd^2" in row["quantity"] else 0
    ),
    METRIC.format("one-sided"): lambda row, p: metric_limit(p, False),
    METRIC.format("symmetrised"): lambda row, p: metric_limit(p, True),
    "torus of revolution R=2 r=1, coordinate density exp(cos(u)/2 + 3 sin(v)/10), limit": (
        lambda row, p: chart_limit(
            TorusOfRevolution(2, 1, "cos(u)/2 + 3*sin(v)/10", "coordinates"),
            "sin(u + 2*v) + cos(v)",
            p,
        )
    ),
    "ellipse (2 cos u, sin u), coordinate density exp(cos(u)/2), limit": (
        lambda row, p: chart_limit(
            Ellipse(2, 1, "cos(u)/2", "coordinates"), "sin(u) + cos(2*u)/2", p
        )
    ),
}


def degree(row):
    return 3 if "l=3" in row["quantity"] else 2


def concerned(row):
    return row["family"] in FAMILIES


@pytest.mark.parametrize(
    "row", [row for row in ROWS if concerned(row)], ids=lambda r: f"{r['family']} {r['parameters']}"
)
def test_reference_value(row):
    value = FAMILIES[row["family"]](row, json.loads(row["parameters"]))
    exact = complex(float(row["real"]), float(row["imaginary"]))
    if row["quantity"].startswith("N *"):
        assert abs(value / exact - 1) < 1e-10  # promised: 1e-6
    else:
        assert abs(value - exact) < 1e-11  # promised: 1e-9 (ħ = 1)


def test_every_row_that_concerns_us_is_used():
    counts = Counter(row["family"] for row in ROWS if concerned(row))
    assert counts == {
        "uniform sphere": 48,
        "circle von Mises": 6,
        "circle von Mises, Doob h = exp(a sin y)": 6,
        "S2 von Mises-Fisher density exp(m.y)": 6,
        "S2 von Mises-Fisher, Doob h = exp(a.y)": 6,
        "Gaussian line, alpha-normalised": 27,
        "Gaussian line, Sinkhorn": 3,
        "circle von Mises, f = sin(2 theta + 0.4)": 8,
        "circle uniform, link c sin(y - x)": 9,
        "S2 uniform, link (omega cross x).y": 6,
        "S2 uniform, bilinear head beta x^T B y": 6,
        PLANE: 6,
        "circle magnetic, phase exp(i a0 sin(y - x))": 12,
        TILTED: 4,
        ANTIPODAL: 9,
        DIRECTED: 9,
        HEAD: 8,
        METRIC.format("one-sided"): 2,
        METRIC.format("symmetrised"): 2,
        "torus of revolution R=2 r=1, coordinate density exp(cos(u)/2 + 3 sin(v)/10), limit": 2,
        "ellipse (2 cos u, sin u), coordinate density exp(cos(u)/2), limit": 2,
    }


def test_hbar_scales_the_generator():
    space, f = Circle(kappa=1.3), Circle().fourier(2)
    args = (space, Distance(), f, space.at(0.7))
    assert limits.expectation(*args, 50.0, 2.5) == pytest.approx(
        2.5 * limits.expectation(*args, 50.0), rel=1e-15
    )
    assert limits.generator(*args, 2.5) == pytest.approx(2.5 * limits.generator(*args), rel=1e-15)
    one, scaled = (
        limits.sampling_constants(*args, 50.0),
        limits.sampling_constants(*args, 50.0, 2.5),
    )
    assert scaled[0] == pytest.approx(2.5 * one[0], rel=1e-14)
    assert scaled[1] == pytest.approx(2.5**2 * one[1], rel=1e-14)


def test_unknown_problems_are_named():
    x = np.array([[0.6, 0.8]])
    with pytest.raises(NoReferenceError, match="register"):
        limits.expectation(object(), Distance(), Polynomial("x0", 2), x, 1.0)  # type: ignore
    with pytest.raises(NoReferenceError, match="Polynomial"):
        limits.expectation(Circle(), Distance(), np.sin, x, 1.0)  # type: ignore
    for beta in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidInputError, match="beta"):
            limits.expectation(Circle(), Distance(), Circle().fourier(1), x, beta)
    with pytest.raises(InvalidInputError, match="Doob"):
        limits.expectation(Circle(), Distance((1.0,)), Circle().fourier(1), x, 1.0)
    with pytest.raises(InvalidInputError, match="lie on"):
        limits.expectation(Circle(), Distance(), Circle().fourier(1), 1.01 * x, 1.0)
