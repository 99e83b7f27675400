"""Every stratified space against numbers that share no code with it: see the neighbouring file.

Each space is given by hand: what its strata's points are in R^D, with which density against the
stratum's own volume (closed forms), and how far from where strata meet or end, by brute force over
points of that set.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from scipy import special, stats

from convergence import spaces
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
    Ray,
    Ring,
    StarGraph,
    StratifiedSpace,
    Stratum,
    TouchingSpheres,
)

PI = np.pi
# chance that a right sampler fails, for each space
FALSE_ALARM_RATE = 1e-6
HELD = {"Flat", "Ray", "Ring", "StrataFunction", "StratifiedSpace", "Stratum"}


@dataclass(frozen=True)
class Hand:
    """A space by hand; coordinates are those of the chart of each stratum.

    Attributes
    ----------
    embeddings, densities : lists of functions of the coordinates, one a stratum
    singular : list of arrays (points, D)
        Polygons that are the set where strata meet or end; one point stands for itself.
    shares : list of float
        Of the strata.
    means : list of arrays (D,)
        Of the points of each stratum.
    """

    space: StratifiedSpace
    embeddings: list
    densities: list
    singular: list
    shares: list
    means: list


def circle(radius, height=None, n=2000):
    u = 2 * PI * np.arange(n + 1) / n
    flat = [radius * np.cos(u), radius * np.sin(u)]
    return np.stack(flat if height is None else [*flat, np.full(n + 1, height)], axis=1)


def to_segments(x, polygon):
    """The least distance of a point from a polygon."""
    if len(polygon) == 1:
        return np.linalg.norm(x - polygon[0])
    found = []
    for a, b in pairwise(polygon):
        share = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        found.append(np.linalg.norm(x - a - share * (b - a)))
    return min(found)


ANGLES = (0.0, 1.0, 2.8)
STAR = ((1.0, 0.6, 1.4), np.array([[1, 0, 0], [0, 2, 1], [-1, 0, 3]]))
UNITS = STAR[1] / np.sqrt(np.sum(STAR[1] ** 2, axis=1, keepdims=True))
SECOND = np.array([np.cos(0.7), np.sin(0.7)])
SLOPED = 4 * np.sinh(0.5)  # ∫ e^{t/2} from -1 to 1
HALF = np.sqrt(2 / PI)


def page(w):
    return lambda a, h: (a * np.cos(w), a * np.sin(w), h)


SPACES = {
    # ∫ e^t from -1 to 2, and its mean (e² + 2e^-1)/(e² - e^-1)
    "Interval": Hand(
        Interval(-1.0, 2.0, "t"),
        [lambda t: (t,)],
        [lambda t: np.exp(t) / (np.exp(2) - np.exp(-1))],
        [np.array([[-1.0]]), np.array([[2.0]])],
        [1.0],
        [[(np.exp(2) + 2 * np.exp(-1)) / (np.exp(2) - np.exp(-1))]],
    ),
    "HalfLine": Hand(
        HalfLine(),
        [lambda t: (t,)],
        [lambda t: HALF * np.exp(-(t**2) / 2)],
        [np.array([[0.0]])],
        [1.0],
        [[HALF]],
    ),
    # ∫ e^{x/2} over a disc of radius R is 4πR I_1(R/2), and that of x its derivative
    "Disc": Hand(
        Disc(1.5, "r*cos(u)/2"),
        [lambda r, u: (r * np.cos(u), r * np.sin(u))],
        [lambda r, u: np.exp(r * np.cos(u) / 2) / (6 * PI * special.i1(0.75))],
        [circle(1.5)],
        [1.0],
        [[1.5 * special.iv(2, 0.75) / special.i1(0.75), 0.0]],
    ),
    "CrossingLines": Hand(
        CrossingLines(0.7, 1.0, ("t/2", "0"), (2.0, 1.0)),
        [lambda t: (t, 0 * t), lambda t: (SECOND[0] * t, SECOND[1] * t)],
        [lambda t: 2 / 3 * np.exp(t / 2) / SLOPED, lambda t: np.full_like(t, 1 / 6)],
        [np.zeros((1, 2)), *(np.array([end]) for end in ((1, 0), (-1, 0), SECOND, -SECOND))],
        [2 / 3, 1 / 3],
        [[4 * (np.cosh(0.5) - 2 * np.sinh(0.5)) / SLOPED, 0], [0, 0]],
    ),
    "StarGraph": Hand(
        StarGraph(*STAR),
        [lambda t, u=u: tuple(t * c for c in u) for u in UNITS],
        [lambda t: np.full_like(t, 1 / 3)] * 3,
        [np.zeros((1, 3)), *(end * u[None] for end, u in zip(STAR[0], UNITS, strict=True))],
        [1 / 3, 0.2, 1.4 / 3],
        [end / 2 * u for end, u in zip(STAR[0], UNITS, strict=True)],
    ),
    "LineThroughPlane": Hand(
        LineThroughPlane(0.3, 0.8),
        [
            lambda r, u: (r * np.cos(u), r * np.sin(u), 0 * r),
            lambda t: (0 * t, 0 * t, t),
        ],
        [lambda r, u: np.full_like(r, 0.7 / PI), lambda t: np.full_like(t, 0.3 / 1.6)],
        [np.zeros((1, 3)), circle(1.0, 0.0), np.array([[0, 0, 0.8]]), np.array([[0, 0, -0.8]])],
        [0.7, 0.3],
        [np.zeros(3), np.zeros(3)],
    ),
    "TouchingSpheres": Hand(
        TouchingSpheres(),
        [
            lambda u, v, s=s: (np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), s - s * np.cos(u))
            for s in (1, -1)
        ],
        [lambda u, v: np.full_like(u, 1 / (8 * PI))] * 2,
        [np.zeros((1, 3))],
        [0.5, 0.5],
        [[0, 0, 1], [0, 0, -1]],
    ),
    # slant 1, rim 0.6, so that it is 0.8 high and πrs large; centroid two thirds of the way
    "Cone": Hand(
        Cone(0.6),
        [lambda r, u: (0.6 * r * np.cos(u), 0.6 * r * np.sin(u), 0.8 * r)],
        [lambda r, u: np.full_like(r, 1 / (PI * 0.6))],
        [np.zeros((1, 3)), circle(0.6, 0.8)],
        [1.0],
        [[0, 0, 0.8 * 2 / 3]],
    ),
    "OpenBook": Hand(
        OpenBook(ANGLES),
        [page(w) for w in ANGLES],
        [lambda a, h: np.full_like(a, 1 / 3)] * 3,
        [
            np.array([[0.0, 0, 0], [0, 0, 1]]),
            *(
                np.array([[0, 0, 0], [c, s, 0], [c, s, 1], [0, 0, 1]])
                for c, s in ((np.cos(w), np.sin(w)) for w in ANGLES)
            ),
        ],
        [1 / 3] * 3,
        [[np.cos(w) / 2, np.sin(w) / 2, 0.5] for w in ANGLES],
    ),
}
every_space = pytest.mark.parametrize("name", SPACES)


def test_every_public_stratified_space_has_an_independent_value():
    modules = ("convergence.spaces.strata", "convergence.spaces.stratified")
    public = {n for n in spaces.__all__ if getattr(spaces, n).__module__ in modules}
    assert public == HELD | set(SPACES)


@every_space
def test_points_densities_and_distances(name):
    hand = SPACES[name]
    space, rng = hand.space, np.random.default_rng(30)
    for k, (embedding, density) in enumerate(zip(hand.embeddings, hand.densities, strict=True)):
        box = space.charts[k].coordinates
        x = np.stack([rng.uniform(c.low, c.high, 12) for c in box], axis=1)
        points = space.points(k, x)
        features = np.stack(embedding(*x.T), axis=1)
        np.testing.assert_allclose(space.features(points), features, atol=1e-14)
        np.testing.assert_allclose(
            space.log_density(points), np.log(density(*x.T)), rtol=1e-11, atol=1e-11
        )
        assert set(space.local_dim(points)) == {len(box)}
        near = [min(to_segments(y, polygon) for polygon in hand.singular) for y in features]
        # a circle of 2000 chords is off by 1e-6 of its radius
        np.testing.assert_allclose(space.singular_distance(points), near, atol=2e-6)
    np.testing.assert_allclose(space.masses, hand.shares, rtol=1e-14)


@every_space
def test_samples(name):
    """Shares of the strata, and means of their points."""
    hand, n = SPACES[name], 30_000
    points = hand.space.sample(n, np.random.default_rng(31))
    features = hand.space.features(points)
    for k, (share, mean) in enumerate(zip(hand.shares, hand.means, strict=True)):
        own = points[:, 0] == k
        assert stats.binomtest(int(np.sum(own)), n, min(share, 1)).pvalue > FALSE_ALARM_RATE / 20
        found, spread = np.mean(features[own], axis=0), np.std(features[own], axis=0)
        z = (found - mean) * np.sqrt(np.sum(own)) / np.where(spread > 1e-12, spread, 1)
        assert np.all(2 * stats.norm.sf(np.abs(z)) > FALSE_ALARM_RATE / 20)


def test_rays_by_hand():
    """Where they start, which way they lead (in R^D, at unit speed), and slopes along them."""
    cases = [
        (Interval(-1.0, 2.0), Interval(-1.0, 2.0).rays[0], [-1.0], [1.0]),
        (HalfLine(), HalfLine().rays[0], [0.0], [1.0]),
        (Disc(1.5), Disc(1.5).rays_at(0.4)[0], 1.5 * np.array([np.cos(0.4), np.sin(0.4)]),
         -np.array([np.cos(0.4), np.sin(0.4)])),
        *(
            (CrossingLines(0.7), ray, [0, 0], way)
            for ray, way in zip(
                CrossingLines(0.7).rays, ([1, 0], [-1, 0], SECOND, -SECOND), strict=True
            )
        ),
        *((StarGraph(*STAR), ray, np.zeros(3), u)
          for ray, u in zip(StarGraph(*STAR).rays, UNITS, strict=True)),
        (LineThroughPlane(), LineThroughPlane().plane_ray(1.0), np.zeros(3),
         [np.cos(1.0), np.sin(1.0), 0]),
        (LineThroughPlane(), LineThroughPlane().line_ray, np.zeros(3), [0, 0, 1]),
        (TouchingSpheres(), TouchingSpheres().ray(1, 0.3), np.zeros(3),
         [np.cos(0.3), np.sin(0.3), 0]),
        *((OpenBook(ANGLES), ray, [0, 0, 0.25], [np.cos(w), np.sin(w), 0])
          for ray, w in zip(OpenBook(ANGLES).rays_at(0.25), ANGLES, strict=True)),
    ]  # fmt: skip
    for space, ray, start, way in cases:
        at, ahead = space.features(space.along(ray, np.array([0.0, 1e-7])))
        np.testing.assert_allclose(at, start, atol=1e-15)
        np.testing.assert_allclose((ahead - at) / 1e-7, way, atol=1e-6)
        toward = np.arange(1.0, 1.0 + space.ambient_dim)
        f = space.function(" + ".join(f"{w}*x{i}" for i, w in enumerate(toward)))
        assert f.slope(ray) == pytest.approx(toward @ np.asarray(way), abs=1e-12)


def test_parts_of_stratified_spaces():
    """Distances from flats and rings, and a space put together by hand."""
    x = np.array([1.0, -2.0, 3.0])
    assert Flat((0.5, 0.0, 1.0)).distance(x) == pytest.approx(np.sqrt(0.25 + 4 + 4), rel=1e-15)
    diagonal = ((np.sqrt(0.5), np.sqrt(0.5), 0.0),)
    # 3/√2 off the diagonal in the plane, and 3 above it
    assert Flat((0.0, 0.0, 0.0), diagonal).distance(x) == pytest.approx(np.sqrt(4.5 + 9))
    across = Ring((0.0, 1.0, 0.0), 2.0, first=0, second=2)
    assert across.distance(x) == pytest.approx(np.hypot(np.sqrt(10) - 2, 3), rel=1e-15)
    wall = Chart((Coordinate("u", -1, 1), Coordinate("v", -1, 1)), ("u", "v", "0"))
    rod = Chart((Coordinate("t", 0, 1),), ("0", "0", "2*t"), "t")
    space = StratifiedSpace((Stratum(wall, 3.0), Stratum(rod)), (Flat((0, 0, 0)),))
    assert (space.dims, space.masses, space.dim, space.ambient_dim) == ((2, 1), (0.75, 0.25), 2, 3)
    points = np.array([[0, 0.3, -0.4], [1, 0.5, 0.0]])
    np.testing.assert_allclose(space.features(points), [[0.3, -0.4, 0], [0, 0, 1.0]])
    np.testing.assert_allclose(space.singular_distance(points), [0.5, 1.0], rtol=1e-15)
    # by length: ∫ e^t 2 dt = 2(e - 1)
    expected = [0.75 / 4, 0.25 * np.exp(0.5) / (2 * (np.e - 1))]
    np.testing.assert_allclose(np.exp(space.log_density(points)), expected, rtol=1e-12)
    f = space.function("u*v", "x2**2")
    np.testing.assert_allclose(f(points), [-0.12, 1.0], rtol=1e-14)
    assert f.slope(Ray(1, (0.5,), (0.5,))) == pytest.approx(2.0)  # d(4t²)/dt · ½ at t = ½
