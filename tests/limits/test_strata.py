"""Layers, crossings, mixed dimensions: closed forms against the exact step law and plain sums."""

import csv
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, special

from convergence import limits
from convergence.errors import InvalidInputError, NoReferenceError
from convergence.scores import CoifmanLafon, Distance
from convergence.spaces import (
    Cone,
    CrossingLines,
    Disc,
    HalfLine,
    Interval,
    LineThroughPlane,
    OpenBook,
    Ray,
    StarGraph,
    TouchingSpheres,
)

TABLE = (Path(__file__).parents[1] / "data" / "reference_values.csv").read_text()
ROWS = [r for r in csv.DictReader(TABLE.splitlines()) if r["family"] == "interval [0,1] uniform"]
PLAIN = Distance()


def law(space):
    return limits.step_law(space, PLAIN)


def scaled(space, f, ray, s, beta, power=0.5, width=0.5):
    """β^power (P - I) f at distance s β^-width along a ray."""
    return beta**power * law(space).mean_increment(
        f, space.along(ray, np.array(s * beta**-width)), beta, 1
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["quantity"] + r["parameters"])
def test_reference_values(row):
    p, interval = json.loads(row["parameters"]), Interval()
    f = interval.function("t" if row["quantity"].endswith("f = t") else "sin(3*t)")
    value = scaled(interval, f, interval.rays[0], p["s"], p["beta"])
    assert abs(value - float(row["real"])) < 1e-12


def test_all_reference_values_are_there():
    assert len(ROWS) == 12


# -- the step law ---------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [1, 2])
def test_crossing_lines_by_plain_quadrature(power):
    """Mass and both moments, from a point of the first line; uneven masses and densities."""
    omega, beta, t0 = 0.8, 30.0, 0.13
    space = CrossingLines(omega, 1.0, ("t/2", "-t"), (2.0, 1.0))
    f = space.function("sin(t)", "exp(-t) - 1")
    tilt = (lambda t: np.exp(t / 2), lambda t: np.exp(-t))
    norm = [integrate.quad(q, -1, 1, epsabs=1e-14)[0] for q in tilt]
    pieces = (np.sin, lambda t: np.exp(-t) - 1)
    direction = np.array([[1, 0], [np.cos(omega), np.sin(omega)]])

    def integral(moment):
        total = 0.0
        for k, share in enumerate((2 / 3, 1 / 3)):

            def integrand(t, k=k):
                away = t * direction[k] - t0 * direction[0]
                kernel = np.exp(-power * beta * away @ away) * tilt[k](t) / norm[k]
                return kernel * (pieces[k](t) - np.sin(t0)) ** moment

            total += share * integrate.quad(integrand, -1, 1, epsabs=1e-14, limit=200)[0]
        return total

    x = space.points(0, np.array([t0]))
    mass, first, second = (integral(m) for m in (0, 1, 2))
    assert law(space).log_mass(x, beta, power) == pytest.approx(np.log(mass), abs=1e-11)
    assert law(space).mean_increment(f, x, beta, power) == pytest.approx(first / mass, abs=1e-12)
    assert law(space).mean_squared_increment(f, x, beta, power) == pytest.approx(
        second / mass, rel=1e-10
    )


@pytest.mark.parametrize("beta", [40.0, 1e3, 1e5])
def test_the_degree_near_a_line_through_a_plane(beta):
    """At distance r on the plane: e^{-βr²} sqrt(π/β) erf(sqrt β)/2 of the line, π/β of the disc."""
    space = LineThroughPlane(0.3)
    s = 0.6
    x = space.along(space.plane_ray(0.4), np.array(s / np.sqrt(beta)))
    line = 0.3 * np.exp(-(s**2)) * np.sqrt(np.pi / beta) * special.erf(np.sqrt(beta)) / 2
    plane = 0.7 * -special.expm1(-beta) / beta  # at its centre; off it, up to e^{-β(1-r)²}
    accuracy = 2 * np.exp(-beta * (1 - s / np.sqrt(beta)) ** 2)
    mass = np.exp(law(space).log_mass(x, beta, 1))
    assert mass == pytest.approx(line + plane, rel=accuracy + 1e-10)


def test_a_stratum_left_out_is_a_wrong_law():
    space = CrossingLines(0.8)
    own = limits.StratifiedLaw(space, PLAIN, (0,))
    x = space.points(0, np.array([0.05]))
    f = space.function("t", "2*t")
    assert own.mean_increment(f, x, 100.0, 1) == pytest.approx(0, abs=1e-12)
    assert abs(law(space).mean_increment(f, x, 100.0, 1)) > 1e-3


def test_refusals():
    space = LineThroughPlane()
    with pytest.raises(NoReferenceError, match="closed-form"):
        limits.step_law(space, Distance(normalisation=CoifmanLafon(1.0)))
    with pytest.raises(InvalidInputError, match="outside"):
        law(space).log_mass(np.array([1.0, 1.5, 0.0]), 10.0, 1)
    with pytest.raises(InvalidInputError, match="outside"):
        law(space).log_mass(np.array([1.0, np.nan, 0.0]), 10.0, 1)
    with pytest.raises(InvalidInputError, match="their stratum"):
        law(space).log_mass(np.array([0.5, 0.5, 0.0]), 10.0, 1)
    with pytest.raises(InvalidInputError, match="rows of a stratum"):
        law(space).log_mass(np.array([1.0, 0.5]), 10.0, 1)
    star = StarGraph((1.0, 1.0))
    f, jump = star.function("t"), star.function("t", "t + 1")
    with pytest.raises(InvalidInputError, match="one point"):
        limits.layer(star, (Ray(0, (0.0,), (1.0,)), Ray(1, (0.1,), (1.0,))), (f,))
    with pytest.raises(InvalidInputError, match="unit speed"):
        limits.layer(star, (Ray(0, (0.0,), (2.0,)),), (f,))
    with pytest.raises(InvalidInputError, match="continuous"):
        limits.layer(star, star.rays, (jump,))
    with pytest.raises(InvalidInputError, match="s ≥ 0"):
        limits.layer(star, star.rays, (f,)).profile(0, -0.5)
    height = space.function("x2")
    with pytest.raises(InvalidInputError, match="one dimension"):
        limits.layer(space, (space.plane_ray(0.0), space.line_ray), (height,))
    cone = Cone(0.6)
    with pytest.raises(InvalidInputError, match="degenerate"):
        limits.layer(cone, (Ray(0, (0.0, 0.4), (1.0, 0.0)),), (cone.function("r"),))
    with pytest.raises(InvalidInputError, match="ends where"):
        limits.crossing_generator(star, star.rays, f)


# -- layers ---------------------------------------------------------------------------------------

TILTED, BOOK = (
    CrossingLines(1.2, log_densities=("t/2", "-t"), masses=(2.0, 1.0)),
    OpenBook((0, 1, 3)),
)
STAR = StarGraph(
    (1.0, 1.0, 1.2, 0.8), ((1, 0.2, 0), (-0.5, 1, 0.3), (0, -0.4, 1), (-0.6, -0.7, -0.6))
)
LAYERS = {
    "interval": (Interval(log_density="sin(2*t)"), ("sin(3*t)",)),
    "half-line": (HalfLine(), ("t + t**2",)),
    "crossing": (CrossingLines(0.5), ("2*sin(t) + t**2", "exp(-t) - 1")),
    "uneven": (TILTED, ("2*sin(t) + t**2", "exp(-t) - 1")),
    "star": (STAR, ("t", "2*t", "sin(3*t)", "t**2 - t")),
    "disc": (Disc(log_density="r*cos(u)/2"), ("sin(2*x0) - x1**2",)),
    "book": (BOOK, ("2*a + h*a", "sin(a)", "a**2 - a")),
}


def rays_of(name, space):
    return {"disc": lambda: space.rays_at(0.7), "book": lambda: space.rays_at(0.5)}.get(
        name, lambda: space.rays
    )()


@pytest.mark.parametrize("s", [0.0, 0.4, 1.3])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_reached_with_order_one_half(name, s):
    """The rest halves when β is four times larger, and vanishes in a linear extrapolation."""
    space, expressions = LAYERS[name]
    f = space.function(*expressions)
    rays = rays_of(name, space)
    near = limits.layer(space, rays, (f,))
    for ray in range(0, len(rays), 2):
        limit = near.profile(ray, s)[0]
        rests = [scaled(space, f, rays[ray], s, beta) - limit for beta in (4e6, 1.6e7)]
        assert abs(rests[0]) < 5e-3
        assert abs(2 * rests[1] - rests[0]) < 1e-5  # what is left is of order 1/β
        if abs(rests[0]) > 1e-4:
            assert rests[0] / rests[1] == pytest.approx(2, abs=0.05)


def test_one_ray_is_the_boundary_formula():
    interval = Interval()
    near = limits.layer(interval, interval.rays, (interval.function("3*t + t**2"),))
    for s in (0.0, 0.5, 2.0):
        expected = 3 * np.exp(-(s**2)) / (np.sqrt(np.pi) * (1 + special.erf(s)))
        assert near.profile(0, s)[0] == pytest.approx(expected, rel=1e-13)


def test_at_a_vertex_the_mean_of_the_outgoing_derivatives():
    f = STAR.function("t", "2*t", "sin(3*t)", "t**2 - t")
    # densities are equal: edges are uniform by length
    found = np.sqrt(np.pi) * limits.layer(STAR, STAR.rays, (f,)).profile(0, 0.0)[0]
    assert found == pytest.approx((1 + 2 + 3 - 1) / 4, rel=1e-13)


@pytest.mark.parametrize("omega", [0.4, np.pi / 3, np.pi / 2, 2.5])
def test_two_lines_are_the_crossing_formula(omega):
    """w/(1+w) ∇f·(s cos ω u₂ - s u₁), w = e^{-s² sin²ω}, for an f of the plane."""
    space = CrossingLines(omega)
    near = limits.layer(space, space.rays, (space.function("3*x0 - 2*x1 + x0*x1"),))
    u = np.array([[1, 0], [np.cos(omega), np.sin(omega)]])
    for s in (0.3, 1.1):
        w = np.exp(-(s**2) * np.sin(omega) ** 2)
        way = s * np.cos(omega) * u[1] - s * u[0]
        expected = w / (1 + w) * np.array([3, -2]) @ way
        assert near.profile(0, s)[0] == pytest.approx(expected, rel=1e-12)


def test_a_layer_with_wrong_parts_is_another():
    space = CrossingLines(0.5)
    f = space.function("2*sin(t) + t**2", "exp(-t) - 1")
    near = limits.layer(space, space.rays, (f,))
    exact = scaled(space, f, space.rays[0], 0.7, 1e8)
    assert near.profile(0, 0.7)[0] == pytest.approx(exact, abs=1e-3)
    perpendicular = near.directions.copy()
    perpendicular[2:] = [[0, 1], [0, -1]]
    for wrong in (
        dataclasses.replace(near, directions=perpendicular),  # w = e^{-s²} without its sin²
        dataclasses.replace(near, densities=near.densities * [1, 1, 2, 2]),
        dataclasses.replace(near, densities=near.densities * [1, 1, 0, 0]),
        dataclasses.replace(near, slopes=-near.slopes),
    ):
        assert abs(wrong.profile(0, 0.7)[0] - exact) > 0.05


def test_exactly_at_the_crossing():
    """-(ħ/2)(f₁'' + f₂'') between uniform lines, with an error of order 1/β."""
    space = CrossingLines(np.pi / 3)
    f = space.function("sin(t) + t**2", "t + t**3 - 2*t**2")
    limit = limits.crossing_generator(space, space.rays[::2], f, hbar=0.7)
    assert limit == pytest.approx(-0.35 * (2 - 4), rel=1e-13)
    uneven = TILTED.function("sin(t) + t**2", "t - t**2")
    generators = [-(2 + 2 * 0.5 * 1), -(-2 + 2 * -1 * 1)]  # -(f'' + 2 (log q)' f')
    density = np.array([2 / (4 * np.sinh(0.5)), 1 / (2 * np.sinh(1.0))])
    expected = density @ generators / density.sum()
    found = limits.crossing_generator(TILTED, TILTED.rays[::2], uneven)
    assert found == pytest.approx(expected, rel=1e-12)
    rests = [-4 * scaled(TILTED, uneven, TILTED.rays[0], 0.0, b, 1.0) - found for b in (1e4, 4e4)]
    assert rests[0] / rests[1] == pytest.approx(4, rel=0.01)


# -- inside, the bias is what the kernel sees of the edge ------------------------------------------


def test_interior_limits_are_met_exponentially_fast_in_s_squared():
    """sqrt β (P - I) t = e^{-s²}/(sqrt π (1 + erf s)) exactly: minus its logarithm goes like s²."""
    interval = Interval()
    f, square = interval.function("t"), interval.function("t**2")
    s = np.array([3.0, 4.0, 5.0])
    values = [scaled(interval, f, interval.rays[0], v, 1e4) for v in s]
    exact = np.exp(-(s**2)) / (np.sqrt(np.pi) * (1 + special.erf(s)))
    np.testing.assert_allclose(values, exact, rtol=1e-8, atol=1e-13)
    # and the diffusive limit: of t² exactly -2, up to the same
    rest = [abs(-4 * scaled(interval, square, interval.rays[0], v, 1e4, 1.0) + 2) for v in s]
    np.testing.assert_allclose(np.diff(np.log(rest)), -np.diff(s**2), rtol=0.15)


# -- mixed dimensions ------------------------------------------------------------------------------


def squared_distance(space, x):
    place = space.features(x)
    return lambda y: np.sum((space.features(y) - place) ** 2, axis=-1)


def local_dimension(space, x, beta):
    return 2 * beta * law(space).mean_increment(squared_distance(space, x), x, beta, 1)


def test_the_local_dimension_is_the_slope_of_the_degree():
    space, beta = LineThroughPlane(), 50.0
    x = space.along(space.plane_ray(0.2), np.array(0.1))
    up, down = (law(space).log_mass(x, beta * np.exp(e), 1) for e in (1e-4, -1e-4))
    assert local_dimension(space, x, beta) == pytest.approx(-2 * (up - down) / 2e-4, abs=1e-6)


def test_the_local_dimension_tells_the_strata_apart():
    space = LineThroughPlane(0.6)
    away = [(space.plane_ray(0.3), 0.5, 2.0), (space.line_ray, 0.5, 1.0)]
    for ray, distance, dim in away:
        x = space.along(ray, np.array(distance))
        assert local_dimension(space, x, 300.0) == pytest.approx(dim, abs=1e-10)
    for s in (0.0, 0.4, 1.0):
        rests = [
            local_dimension(space, space.along(space.plane_ray(1.0), np.array(s / b**0.5)), b)
            - (1 + 2 * s**2)
            for b in (1e10, 4e10)
        ]
        assert abs(rests[1]) < 1e-3
        assert rests[0] / rests[1] == pytest.approx(2, rel=0.01)


def test_tangent_sheets_see_each_other_up_to_a_quarter_power():
    spheres = TouchingSpheres()
    inside = spheres.function("0", "1")
    for s in (0.5, 1.0):
        share = limits.tangent_share(s)
        assert share == pytest.approx(np.exp(-(s**4)) / (1 + np.exp(-(s**4))), rel=1e-13)
        rests = [
            scaled(spheres, inside, spheres.ray(0, 0.3), s, b, 0.0, 0.25) - share
            for b in (1e6, 4e6)
        ]
        assert abs(rests[0]) < 1e-3
        assert rests[0] / rests[1] == pytest.approx(2, rel=0.01)
        # a layer of the transversal width would have shares of one half, or none
        narrow = scaled(spheres, inside, spheres.ray(0, 0.3), s, 1e6, 0.0, 0.5)
        assert narrow == pytest.approx(0.5, abs=1e-3)


def test_a_cone_is_flat_off_its_apex():
    """f = r² cos u: the bias times βr² is the same at every r; at the apex E r = ½ sqrt(π/β)."""
    cone = Cone(0.6)
    f, radius = cone.function("r**2*cos(u)"), cone.function("r")
    rays = Ray(0, (0.0, 0.4), (1.0, 0.0))
    x = cone.along(rays, np.array([0.3, 0.45, 0.6]))
    limit = limits.strata_generator(cone, f, x)
    # Δ = ∂_r² + ∂_r/r + ∂_u²/(a r)², a the radius
    np.testing.assert_allclose(limit, -(4 - 1 / 0.36) * np.cos(0.4), rtol=1e-12)
    beta = 3000.0
    bias = -4 * beta * law(cone).mean_increment(f, x, beta, 1) - limit
    approach = bias * beta * np.array([0.3, 0.45, 0.6]) ** 2
    np.testing.assert_allclose(approach, approach[-1], rtol=0.02)
    assert abs(approach[-1]) > 0.1
    apex = scaled(cone, radius, rays, 0.0, 500.0)
    assert apex == pytest.approx(np.sqrt(np.pi) / 2, rel=1e-12)


@pytest.mark.parametrize(("line_share", "exponent"), [(0.6, 15.0), (0.6, 38.0), (1e-30, 90.0)])
def test_a_far_stratum_is_seen_as_long_as_it_matters(line_share, exponent):
    """P 1_disc from the height 3 over a disc, 9β = 15 or 38; or 90, where the line holds little.

    By closed forms: ∫ e^{-β(9 + r²)} over the disc, and error functions along the line.
    """
    space, beta = LineThroughPlane(line_share, 4.0), exponent / 9
    disc = (1 - line_share) / np.pi * np.exp(-exponent) * np.pi / beta * -np.expm1(-beta)
    ends = special.erf(np.sqrt(beta) * np.array([1.0, 7.0]))
    line = line_share / 8 * np.sqrt(np.pi / beta) * np.sum(ends) / 2
    law, inside = limits.StratifiedLaw(space, Distance()), space.function("1", "0")
    x = space.along(space.line_ray, np.array(3.0))
    found = law.mean_increment(inside, x, beta, 1)
    assert found == pytest.approx(disc / (disc + line), rel=1e-8, abs=0)
