"""Stratified spaces: samples against quadrature, distances to where strata meet, refusals."""

import pickle

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy import stats

from convergence.errors import InvalidInputError
from convergence.spaces import (
    Chart,
    Cone,
    Coordinate,
    CrossingLines,
    Disc,
    Flat,
    HalfLine,
    Interval,
    LineThroughPlane,
    OpenBook,
    StarGraph,
    StratifiedSpace,
    Stratum,
    TouchingSpheres,
)
from convergence.spaces.box import tensor

# what the distance to the singular set is, stratum by stratum, in the chart's coordinates
SPACES = {
    "interval": (Interval(-1, 2, "sin(t)"), [lambda t: np.minimum(t + 1, 2 - t)]),
    "half-line": (HalfLine(), [lambda t: t]),
    "disc": (Disc(1.5, "r*cos(u)/2"), [lambda r, u: 1.5 - r]),
    "crossing": (
        CrossingLines(0.7, 1.0, ("t/2", "0"), (2.0, 1.0)),
        [lambda t: np.minimum(np.abs(t), 1 - np.abs(t))] * 2,
    ),
    "star": (
        StarGraph((1.0, 0.6, 1.4), ((1, 0, 0), (0, 2, 1), (-1, 0, 3))),
        [lambda t, end=end: np.minimum(t, end - t) for end in (1.0, 0.6, 1.4)],
    ),
    "line through plane": (
        LineThroughPlane(0.3, 0.8),
        [lambda r, u: np.minimum(r, 1 - r), lambda t: np.minimum(np.abs(t), 0.8 - np.abs(t))],
    ),
    "touching spheres": (TouchingSpheres(), [lambda u, v: 2 * np.sin(u / 2)] * 2),
    "cone": (Cone(0.6), [lambda r, u: np.minimum(r, 1 - r)]),
    "open book": (
        OpenBook((0.0, 1.0, 2.8)),
        [lambda a, h: np.minimum(np.minimum(a, 1 - a), np.minimum(h, 1 - h))] * 3,
    ),
}
every_space = pytest.mark.parametrize("name", SPACES)
# chance that a right space fails any of its statistical tests
FALSE_ALARM_RATE = 1e-6


def moments(space, functions):
    """E g by a tensor rule of 60 nodes on every chart, and the masses."""
    total = np.zeros(len(functions))
    for k, chart in enumerate(space.charts):
        nodes, weights = leggauss(60)
        ends = [(c.low, c.length) for c in chart.coordinates]
        x = tensor([low + length * (nodes + 1) / 2 for low, length in ends])
        w = np.prod(tensor([weights * length / 2 for _, length in ends]), axis=1)
        density = w * space.masses[k] * np.exp(chart.log_coordinate_density(x))
        assert np.sum(density) == pytest.approx(space.masses[k], rel=1e-9)
        total += [density @ g(space.points(k, x)) for g in functions]
    return total


@every_space
def test_samples_have_the_moments_of_the_density(name):
    space, _ = SPACES[name]
    axis = np.arange(1, space.ambient_dim + 1)
    functions = [
        *(lambda x, k=k: (x[:, 0] == k).astype(float) for k in range(len(space.strata))),
        lambda x: space.features(x) @ axis,
        lambda x: np.sum(space.features(x) ** 2, axis=1) * (1 + x[:, 0]),
        lambda x: np.cos(space.features(x) @ axis[::-1]),
    ]
    points = space.sample(100_000, np.random.default_rng(5))
    assert points.shape == (100_000, 1 + space.dim)
    for g, exact in zip(functions, moments(space, functions), strict=True):
        values = g(points)
        error = max(np.std(values) / np.sqrt(len(values)), 1e-12)
        assert 2 * stats.norm.sf(abs(np.mean(values) - exact) / error) > FALSE_ALARM_RATE / 60


@every_space
def test_a_sample_is_in_no_order(name):
    """Every second point has the law of all: the strata come mixed."""
    space, _ = SPACES[name]
    strata = space.sample(20_000, np.random.default_rng(6))[:, 0]
    for k, mass in enumerate(space.masses):
        count = np.count_nonzero(strata[::2] == k)
        assert stats.binomtest(count, 10_000, min(mass, 1)).pvalue > FALSE_ALARM_RATE / 40


@every_space
def test_the_density_counts_the_mass_of_the_stratum(name):
    space, _ = SPACES[name]
    points = space.sample(50, np.random.default_rng(7))
    for k, chart in enumerate(space.charts):
        own = points[points[:, 0] == k]
        expected = np.log(space.masses[k]) + chart.log_density(own[:, 1 : 1 + chart.dim])
        np.testing.assert_allclose(space.log_density(own), expected, atol=1e-14)
        assert set(space.local_dim(own)) <= {chart.dim}


@every_space
def test_the_distance_to_the_singular_set_is_exact(name):
    space, distances = SPACES[name]
    points = space.sample(2_000, np.random.default_rng(8))
    expected = np.empty(len(points))
    for k, (chart, distance) in enumerate(zip(space.charts, distances, strict=True)):
        own = points[:, 0] == k
        expected[own] = distance(*points[own, 1 : 1 + chart.dim].T)
    np.testing.assert_allclose(space.singular_distance(points), expected, atol=1e-13)


def test_rays_lead_inwards_at_unit_speed():
    star = StarGraph((1.0, 0.6, 1.4))
    ways = [
        (Interval(), Interval().rays[0]),
        (HalfLine(), HalfLine().rays[0]),
        (Disc(1.5), Disc(1.5).rays_at(0.4)[0]),
        (star, star.rays[1]),
        (OpenBook((0, 2)), OpenBook((0, 2)).rays_at(0.5)[1]),
        (TouchingSpheres(), TouchingSpheres().ray(1, 0.3)),
        (LineThroughPlane(), LineThroughPlane().plane_ray(1.0)),
        (LineThroughPlane(), LineThroughPlane().line_ray),
    ]
    for space, ray in ways:
        start, ahead = space.along(ray, np.array([0.0, 1e-6]))
        assert space.singular_distance(start) == pytest.approx(0, abs=1e-14)
        assert space.singular_distance(ahead) == pytest.approx(1e-6, rel=1e-6)


def test_functions_are_given_once_or_for_every_stratum():
    space = LineThroughPlane()
    points = space.sample(100, np.random.default_rng(9))
    f, g = space.function("x0 + 2*x2"), space.function("r*cos(u)", "2*t")
    np.testing.assert_allclose(f(points), g(points), atol=1e-14)
    assert g.slope(space.line_ray) == 2
    assert g.slope(space.plane_ray(1.0)) == pytest.approx(np.cos(1.0))
    again = pickle.loads(pickle.dumps((space, g)))
    np.testing.assert_array_equal(again[1](points), g(points))
    np.testing.assert_array_equal(again[0].features(points), space.features(points))


def test_refusals():
    space = LineThroughPlane()
    with pytest.raises(InvalidInputError, match="one for each"):
        space.function("r", "t", "t")
    with pytest.raises(InvalidInputError, match="stratum"):
        space.features(np.array([[2.0, 0.1, 0.1]]))
    with pytest.raises(InvalidInputError, match="angle"):
        CrossingLines(0.0)
    with pytest.raises(InvalidInputError, match="radius"):
        Cone(1.0)
    with pytest.raises(InvalidInputError, match="directions"):
        StarGraph((1.0, 2.0), ((1, 0),))
    for wrong in ((0, 0), (np.nan, 1), (np.inf, 0)):
        with pytest.raises(InvalidInputError, match="not zero"):
            StarGraph((1.0, 2.0), ((1, 0), wrong))
    for angles in ((0.0, np.nan), ()):
        with pytest.raises(InvalidInputError, match="angles"):
            OpenBook(angles)
    with pytest.raises(InvalidInputError, match="two masses"):
        CrossingLines(1.0, masses=(1.0, 2.0, 3.0))
    for stratum in (-1.0, 0.5, 2.0):
        with pytest.raises(InvalidInputError, match="stratum"):
            space.local_dim(np.array([[stratum, 0.1, 0.1]]))
    line, plane = (Chart((Coordinate("t", 0, 1),), e) for e in (("t",), ("t", "t")))
    with pytest.raises(InvalidInputError, match="one R"):
        StratifiedSpace((Stratum(line), Stratum(plane)), (Flat((0.0,)),))
    with pytest.raises(InvalidInputError, match="meet or end"):
        StratifiedSpace((Stratum(line),), ())
    with pytest.raises(InvalidInputError, match="mass"):
        Stratum(line, 0.0)
