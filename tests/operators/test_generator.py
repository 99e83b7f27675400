"""The estimate against a plain double loop, and the faults people met elsewhere."""

import numpy as np
import pytest

from convergence.errors import InvalidInputError, NoMassError
from convergence.operators import generator, streamed_degree, streamed_generator
from convergence.scores import Distance, PerPointMetric
from convergence.spaces import Circle, FlatTorus, Gaussian, Sphere

rng = np.random.default_rng(5)
SPHERE = Sphere(2, kappa=1.0, mu=(0, 0, 1))
POINTS = SPHERE.sample(300, rng)
F = [SPHERE.polynomial(e) for e in ("x0*x1", "x2", "1")]
VALUES = np.stack([f(POINTS) for f in F], axis=1)
TARGETS = SPHERE.candidates()[:7]
TARGET_VALUES = np.stack([f(TARGETS) for f in F], axis=1)
DOOB = Distance((0.2, 0.3, -0.7))


def by_hand(points, values, targets, target_values, score, beta, hbar, skip_diagonal=False):
    a = score.slope(points.shape[1])
    result = np.empty(target_values.shape)
    for i, x in enumerate(targets):
        k = np.exp(-beta * np.sum((x - points) ** 2, axis=1) + points @ a)
        if skip_diagonal:
            k[i] = 0
        result[i] = 4 * hbar * beta * (target_values[i] - k @ values / k.sum())
    return result


@pytest.mark.parametrize("score", [Distance(), DOOB])
@pytest.mark.parametrize("beta", [0.1, 10.0, 200.0])
def test_at_targets(score, beta):
    got = generator(POINTS, VALUES, score, beta, 0.7, targets=TARGETS, target_values=TARGET_VALUES)
    expected = by_hand(POINTS, VALUES, TARGETS, TARGET_VALUES, score, beta, 0.7)
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11 * beta)


@pytest.mark.parametrize("self_loops", [True, False])
def test_at_the_sample(self_loops):
    got = generator(POINTS, VALUES, DOOB, 30.0, 0.7, self_loops=self_loops)
    expected = by_hand(POINTS, VALUES, POINTS, VALUES, DOOB, 30.0, 0.7, not self_loops)
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-10)


def test_whole_sample_and_target_routes_agree():
    """Targets that are sample points are rows of the whole-sample operator with self-loops."""
    points = SPHERE.sample(5000, np.random.default_rng(3))
    values = np.stack([f(points) for f in F], axis=1)
    whole = generator(points, values, DOOB, 150.0, self_loops=True)
    few = {"targets": points[:9], "target_values": values[:9]}
    got = generator(points, values, DOOB, 150.0, **few)
    np.testing.assert_allclose(got, whole[:9], rtol=1e-11, atol=1e-11)


def test_self_loops_multiply_by_one_minus_the_diagonal():
    beta = 100.0
    k = np.exp(-beta * np.sum((POINTS[:, None] - POINTS) ** 2, axis=-1))
    stay = 1 / k.sum(axis=1)
    with_loops, without = (
        generator(POINTS, VALUES[:, 0], Distance(), beta, self_loops=choice)
        for choice in (True, False)
    )
    np.testing.assert_allclose(with_loops, (1 - stay) * without, rtol=1e-10, atol=1e-10)


def test_two_points_without_self_loops_swap():
    """P is the swap however large β, also where the neighbour's kernel underflows."""
    points, values = np.array([[0.0], [1.0]]), np.array([2.0, 5.0])
    for beta in (1.0, 500.0):
        got = generator(points, values, Distance(), beta, self_loops=False)
        np.testing.assert_allclose(got, 4 * beta * np.array([-3.0, 3.0]), rtol=1e-14)


def test_constants_are_harmonic():
    for self_loops in (True, False):
        got = generator(POINTS, VALUES[:, 2], DOOB, 50.0, self_loops=self_loops)
        assert np.all(got == 0)


def test_ten_equal_points():
    points = np.ones((10, 2))
    values = np.arange(10.0)
    for choice in (True, False):
        got = generator(points, values, Distance(), 1e6, self_loops=choice)
        others = 4.5 if choice else (45 - values) / 9
        np.testing.assert_allclose(got, 4e6 * (values - others), rtol=1e-13)


def test_no_cancellation_at_large_beta():
    """Neighbours at distance h on a line: 4ħβ(f - Pf) = -4ħβ p (f₊ + f₋ - 2f)."""
    beta, h = 1e6, 1.2e-3
    points = np.array([[-h], [0.0], [h]])
    f = 1 + points[:, 0] ** 2
    got = generator(points, f, Distance(), beta, self_loops=True)[1]
    k = np.exp(-beta * h**2)
    assert got == pytest.approx(-4 * beta * 2 * k * h**2 / (1 + 2 * k), rel=1e-9)


def test_rows_without_mass_are_named():
    points = np.array([[0.0], [1.0], [2.0]])
    with pytest.raises(NoMassError, match=r"2 of 3 rows .* \(rows 0, 2\).*smaller beta"):
        generator(
            points, points[:, 0], Distance(), 1e18,
            targets=np.array([[0.5], [1.0], [7.0]]), target_values=np.zeros(3),
        )  # fmt: skip
    with pytest.raises(NoMassError, match="rows 0"):
        generator(points[:1], points[:1, 0], Distance(), 1.0, self_loops=False)
    # at the sample itself, with self-loops, P is the identity there
    got = generator(points, points[:, 0], Distance(), 1e18, self_loops=True)
    np.testing.assert_array_equal(got, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"self_loops": None, "targets": None, "target_values": None},
        {"self_loops": True},
        {"target_values": None},
        {"target_values": TARGET_VALUES[:3]},
        {"target_values": TARGET_VALUES[:, 0]},
        {"values": VALUES[:5]},
        {"points": POINTS[:, 0]},
        {"points": np.zeros((0, 3)), "values": np.zeros((0, 3))},
        {"points": np.full((300, 3), np.nan)},
        {"values": np.full((300, 3), np.inf)},
        {"values": 1j * VALUES},
        {"values": "text"},
        {"targets": np.zeros((0, 3)), "target_values": np.zeros((0, 3))},
        {"hbar": 0.0},
        {"hbar": -1.0},
        {"hbar": np.nan},
        {"hbar": None},
        {"beta": 0.0},
        {"beta": -1.0},
        {"beta": np.nan},
        {"targets": TARGETS[:, :2]},
        {"score": Distance((1.0,))},
        {"score": Distance((1.0, np.nan, 0.0))},
    ],
)
def test_refusals(change):
    arguments = {
        "points": POINTS, "values": VALUES, "score": Distance(), "beta": 10.0,
        "targets": TARGETS, "target_values": TARGET_VALUES, **change,
    }  # fmt: skip
    with pytest.raises(InvalidInputError):
        generator(**arguments)


@pytest.mark.parametrize("cuts", [[1], [100, 101, 250]])
def test_chunks_merge_to_the_whole(cuts):
    """Also where one chunk weighs e^300 times as much as another, or has no reach."""
    whole = generator(POINTS, VALUES, DOOB, 80.0, targets=TARGETS, target_values=TARGET_VALUES)
    parts = zip(np.split(POINTS, cuts), np.split(VALUES, cuts), strict=True)
    got = streamed_generator(parts, DOOB, 80.0, targets=TARGETS, target_values=TARGET_VALUES)
    np.testing.assert_allclose(got, whole, rtol=1e-12, atol=1e-11)

    line, f = np.array([[0.0], [0.1], [5.0]]), np.array([1.0, 2.0, 7.0])
    chunks = [(line[i : i + 1], f[i : i + 1]) for i in (2, 0, 1)]
    at = {"targets": np.array([[0.05]]), "target_values": np.array([1.5])}
    got = streamed_generator(chunks, Distance((60.0,)), 100.0, **at)
    expected = generator(line, f, Distance((60.0,)), 100.0, **at)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_circle_generator_is_near_its_limit():
    """A sanity check without statistics: 5 standard deviations and the bias."""
    circle, beta, n = Circle(), 100.0, 200_000
    f, x = circle.fourier(2, 0.3), circle.at(np.array([0.2, 1.9]))
    points = circle.sample(n, np.random.default_rng(0))
    got = generator(points, f(points), Distance(), beta, targets=x, target_values=f(x))
    slope = circle.gradient(f, x)
    sd = np.sqrt(4 * beta * np.sum(slope**2, axis=1) * np.sqrt(beta / (2 * np.pi)) * 2 * np.pi / n)
    assert np.all(np.abs(got - 4 * f(x)) < 5 * sd + 4 / beta)


@pytest.mark.parametrize("symmetrised", [False, True])
@pytest.mark.parametrize("self_loops", [None, True, False])
def test_the_euclidean_per_point_metric_is_the_distance_kernel(symmetrised, self_loops):
    plane = Gaussian(((0.8, 0.3), (0.3, 0.5)))
    flat = PerPointMetric(factor=(("0",), ("0",)), symmetrised=symmetrised, periodic=False)
    f, points = plane.polynomial("x0**2*x1 - x1"), plane.sample(500, np.random.default_rng(2))
    at = {"self_loops": self_loops}
    if self_loops is None:
        targets = plane.candidates()[:7]
        at = {"targets": targets, "target_values": f(targets)}
    got, expected = (
        generator(points, f(points), score, 20.0, 0.7, **at) for score in (flat, Distance())
    )
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11)
    weights = points[:, 0]  # the keys' own, seen by both kernels
    weighted = [
        generator(points, f(points), score, 20.0, 0.7, log_weights=weights, **at)
        for score in (flat, Distance())
    ]
    np.testing.assert_allclose(*weighted, rtol=1e-11, atol=1e-11)
    assert not np.allclose(weighted[0], got, rtol=1e-3)


@pytest.mark.parametrize("symmetrised", [False, True])
def test_per_point_metric_by_hand_whole_and_in_chunks(symmetrised):
    torus = FlatTorus((Circle(0.8, 0.5), Circle(0.6)))
    score = PerPointMetric(
        factor=(("3/5*sin(u0 + u1)",), ("1/5 + 3/5*cos(u0)",)), symmetrised=symmetrised
    )
    points, targets = torus.sample(400, np.random.default_rng(6)), torus.candidates()[:5]
    f = torus.fourier((1, 2), (0.3, 0.9))

    def angles(x):
        return np.arctan2(x[:, 1::2], x[:, ::2])

    def metric(u):
        factor = np.stack([0.6 * np.sin(u[:, 0] + u[:, 1]), 0.2 + 0.6 * np.cos(u[:, 0])], axis=-1)
        return np.eye(2) + factor[:, :, None] * factor[:, None, :]

    u, v = angles(targets), angles(points)
    expected = []
    for i in range(len(targets)):
        delta = np.angle(np.exp(1j * (v - u[i])))
        g = (metric(u[i : i + 1]) + metric(v)) / 2 if symmetrised else metric(u[i : i + 1])
        k = np.exp(-6.0 * np.einsum("na,nab,nb->n", delta, np.broadcast_to(g, (400, 2, 2)), delta))
        expected.append(4 * 0.7 * 6.0 * (f(targets[i]) - k @ f(points) / k.sum()))
    at = {"targets": targets, "target_values": f(targets)}
    whole = generator(points, f(points), score, 6.0, 0.7, **at)
    np.testing.assert_allclose(whole, expected, rtol=1e-11, atol=1e-11)
    chunks = ((part, f(part)) for part in np.split(points, [1, 150]))
    np.testing.assert_allclose(streamed_generator(chunks, score, 6.0, 0.7, **at), whole, rtol=1e-11)


def test_rows_out_of_reach_of_a_per_point_metric_are_named():
    score = PerPointMetric(metric=(("2 + sin(u0)",),), periodic=False)
    points = np.array([[0.0], [1.0]])
    with pytest.raises(NoMassError, match=r"1 of 2 rows .* \(rows 1\)"):
        generator(
            points, points[:, 0], score, 1e3,
            targets=np.array([[0.1], [9.0]]), target_values=np.zeros(2),
        )  # fmt: skip


def test_a_degree_of_no_points_is_refused():
    with pytest.raises(InvalidInputError, match="pass at least one chunk"):
        streamed_degree([], Distance(), 20.0, targets=TARGETS)


@pytest.mark.parametrize("cuts", [[], [1], [1, 150, 180]])
def test_a_degree_in_chunks_is_the_mean_of_the_kernel(cuts):
    points = SPHERE.sample(200, np.random.default_rng(3))
    kernel = np.exp(-20 * np.sum((TARGETS[:, None] - points) ** 2, axis=-1))
    found = streamed_degree(np.split(points, cuts), Distance(), 20.0, targets=TARGETS)
    np.testing.assert_allclose(found, np.mean(kernel, axis=1), rtol=1e-12)
