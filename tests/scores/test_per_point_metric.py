"""Per-point metrics: scores against a plain double loop, exact ranks, and bad input by name."""

import pickle

import numpy as np
import pytest
import sympy

from convergence.errors import InvalidInputError
from convergence.scores import PerPointMetric
from convergence.spaces import Circle, FlatTorus

FACTOR = (("sin(u0 + u1)/2", "u1/3"), ("cos(u0)", "1/5"))
METRIC = (("2 + sin(u0)", "cos(u1)/2"), ("cos(u1)/2", "3/2"))


def metric_by_hand(u):
    return np.array([[2 + np.sin(u[0]), np.cos(u[1]) / 2], [np.cos(u[1]) / 2, 1.5]])


def low_rank_by_hand(u):
    factor = np.array([[np.sin(u[0] + u[1]) / 2, u[1] / 3], [np.cos(u[0]), 0.2]])
    return np.eye(2) + factor @ factor.T


def scores_by_hand(metric, u, v, beta, symmetrised, periodic):
    found = np.empty((len(u), len(v)))
    for i, x in enumerate(u):
        for j, y in enumerate(v):
            delta = y - x
            if periodic:
                delta = np.array([min(d + k for k in (-2 * np.pi, 0, 2 * np.pi)
                                      if abs(d + k) <= np.pi) for d in delta])  # fmt: skip
            g = (metric(x) + metric(y)) / 2 if symmetrised else metric(x)
            found[i, j] = -beta * delta @ g @ delta
    return found


@pytest.mark.parametrize("symmetrised", [False, True])
@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("form", ["metric", "factor"])
def test_scores(form, periodic, symmetrised):
    rng = np.random.default_rng(1)
    u, v = rng.uniform(-np.pi, np.pi, (5, 2)), rng.uniform(-np.pi, np.pi, (40, 2))
    given, by_hand = (METRIC, metric_by_hand) if form == "metric" else (FACTOR, low_rank_by_hand)
    score = PerPointMetric(**{form: given}, symmetrised=symmetrised, periodic=periodic)
    assert pickle.loads(pickle.dumps(score)) == score
    x, y = (points(w) if periodic else w for w in (u, v))
    expected = scores_by_hand(by_hand, u, v, 3.0, symmetrised, periodic)
    np.testing.assert_allclose(score(x, y, 3.0), expected, rtol=1e-12)


def points(angles, radius=1.7):
    """Points of a torus; angles do not depend on its radii."""
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(len(angles), -1)


def test_differences_are_wrapped_and_exact():
    """Across the cut at ±π, and for neighbours however close."""
    score = PerPointMetric(metric=(("1",),))
    circle = Circle()
    near = score(circle.at(np.array([3.1])), circle.at(np.array([-3.1])), 1.0)
    assert near[0, 0] == pytest.approx(-((2 * np.pi - 6.2) ** 2), rel=1e-13)
    close = score(circle.at(np.array([2.0])), circle.at(np.array([2.0 + 1e-4])), 1e8)
    assert close[0, 0] == pytest.approx(-1.0, rel=1e-11)


def test_low_rank_is_the_metric_it_stands_for():
    score = PerPointMetric(factor=FACTOR)
    u = dict(zip(sympy.symbols("u:2", real=True), (0.3, -1.1), strict=True))
    formed = np.array(score.matrix.subs(u), dtype=float)
    np.testing.assert_allclose(formed, low_rank_by_hand((0.3, -1.1)), rtol=1e-14)


@pytest.mark.parametrize("form", [{"metric": METRIC}, {"factor": FACTOR}])
def test_inverse(form):
    """By Woodbury for the low-rank form; here held against exact algebra."""
    score = PerPointMetric(**form)
    u = dict(zip(sympy.symbols("u:2", real=True), (0.7, 2.1), strict=True))
    inverse = PerPointMetric(metric=score.inverse).matrix.subs(u)
    product = np.array((score.matrix.subs(u) * inverse).evalf(), dtype=float)
    np.testing.assert_allclose(product, np.eye(2), atol=1e-14)


def exact_scores(score, u):
    """The score matrix at β = 1 in rational arithmetic."""
    symbols = sympy.symbols("u:2", real=True)
    at = [score.matrix.subs(dict(zip(symbols, x, strict=True))) for x in u]

    def entry(i, j):
        delta = sympy.Matrix(u[j]) - sympy.Matrix(u[i])
        g = (at[i] + at[j]) / 2 if score.symmetrised else at[i]
        return -(delta.T * g * delta)[0]

    return sympy.Matrix(len(u), len(u), entry)


def test_per_point_metrics_are_no_gram_matrices():
    """Exact ranks: q·k in the plane has rank 2, -|x - y|² rank 4, per-point metrics more.

    Without what depends on the query alone (softmax removes it) or on the key alone (a Doob
    weight), -|x - y|² is the Gram matrix 2x·y of rank 2; a per-point metric is none: one-sided,
    yᵀG(x)y adds d(d+1)/2 = 3, and symmetrised both yᵀG(x)y and xᵀG(y)x do.
    """
    rng = np.random.default_rng(3)
    numbers = rng.integers(-20, 21, (14, 2))
    u = [tuple(sympy.Rational(int(k), 10) for k in row) for row in numbers]
    factor = (("u0", "1"), ("u1**2", "u0*u1"))  # rational, so that ranks are exact
    centred = sympy.eye(14) - sympy.ones(14, 14) / 14
    ranks = {}
    for name, score in {
        "distance": PerPointMetric(metric=(("1", "0"), ("0", "1")), periodic=False),
        "one-sided": PerPointMetric(factor=factor, periodic=False),
        "symmetrised": PerPointMetric(factor=factor, periodic=False, symmetrised=True),
    }.items():
        exact = exact_scores(score, u)
        ranks[name] = (exact.rank(), (centred * exact * centred).rank())
        numeric = score(numbers / 10, numbers / 10, 1.0)
        np.testing.assert_allclose(numeric, np.array(exact, dtype=float), rtol=1e-12, atol=1e-13)
    assert ranks["distance"] == (4, 2)
    assert ranks["one-sided"] == (6, 5)
    assert min(ranks["symmetrised"]) > 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either"),
        ({"metric": METRIC, "factor": FACTOR}, "either"),
        ({"metric": (("1", "0"),)}, "square"),
        ({"metric": (("1", "0"), ("0",))}, "square"),
        ({"factor": ((), ())}, "factor"),
        ({"metric": (("1", "u0"), ("0", "1"))}, "symmetric"),
        ({"metric": (("1 + u1",),)}, "'1 . u1' is no expression in the coordinates u0"),
        ({"metric": (("1 +",),)}, "no expression"),
        ({"metric": (("[1]",),)}, "no expression"),
    ],
)
def test_refused_when_made(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        PerPointMetric(**arguments)


def test_refused_points_and_metrics():
    torus = FlatTorus((Circle(), Circle())).candidates()[:4]
    with pytest.raises(InvalidInputError, match=r"2 coordinates needs points of shape \(n, 2\)"):
        PerPointMetric(metric=METRIC, periodic=False)(torus, torus, 1.0)
    with pytest.raises(InvalidInputError, match=r"1 angles needs points of shape \(n, 2\)"):
        PerPointMetric(metric=(("1",),))(torus, torus, 1.0)
    for entry in ("sin(u0)", "log(u0)"):
        bad = PerPointMetric(metric=((entry,),), periodic=False)
        line = np.array([[-0.5], [-0.2]])
        with (
            np.errstate(invalid="ignore"),
            pytest.raises(InvalidInputError, match="not positive, or not finite"),
        ):
            bad(line, line, 1.0)
