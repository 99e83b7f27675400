"""Currents against plain sums over dense matrices, and on chains solved by hand."""

import numpy as np
import pytest
from scipy.special import softmax

from convergence.errors import InvalidInputError, NoMassError
from convergence.operators import (
    Component,
    MarkovOperator,
    ScoreOperator,
    cycle_affinities,
    elimination_law,
    entropy_production,
    head_operator,
    key_difference,
    net_flux,
    query_difference,
    stationary,
    time_reversal,
)
from convergence.scores import Head
from convergence.spaces import Circle

rng = np.random.default_rng(43)
N = 30
Q, K = rng.normal(size=(2, N, 3))


def operators():
    share = rng.uniform(0.2, 0.8, N)
    mixture = [Component(Q, K, None, share), Component(K, 0.5 * Q, Q[:, 0], 1 - share)]
    return {
        "attention": head_operator(Head(Q, K)),
        "without loops": head_operator(Head(Q, K), self_loops=False),
        "symmetric": head_operator(Head(Q, K, "DMAP")),
        "mixture": MarkovOperator(mixture, 0.4),
        "any score": ScoreOperator(lambda x, y, beta: np.sin(x @ y.T), Q, K, 1.0),
    }


every_operator = pytest.mark.parametrize("name", operators())


def dense(name):
    operator = operators()[name]
    p = operator.toarray()
    law = elimination_law(p)
    return operator, p, law, law[:, None] * p


@every_operator
def test_entropy_production(name):
    operator, p, law, a = dense(name)
    off = ~np.eye(N, dtype=bool)
    expected = 0.5 * np.sum((a - a.T)[off] * np.log(a[off] / a.T[off]))
    assert entropy_production(operator, law) == pytest.approx(expected, rel=1e-10, abs=1e-13)
    assert (expected > 1e-3) == (name != "symmetric")
    # of a law that is not stationary the terms log π count
    other = np.arange(1.0, N + 1)
    a = other[:, None] * p
    expected = 0.5 * np.sum((a - a.T)[off] * np.log(a[off] / a.T[off]))
    assert entropy_production(operator, other) == pytest.approx(expected, rel=1e-10)


@every_operator
def test_cycle_affinities(name):
    operator, p, _, _ = dense(name)
    cycles = np.stack([rng.choice(N, 5, replace=False) for _ in range(20)])
    after = np.roll(cycles, -1, axis=1)
    expected = np.sum(np.log(p[cycles, after] / p[after, cycles]), axis=1)
    found = cycle_affinities(operator, cycles)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(cycle_affinities(operator, cycles[:, ::-1]), -found, atol=1e-12)
    assert np.all(np.abs(found) < 1e-12) == (name == "symmetric")


@every_operator
def test_flux_through_cuts(name):
    operator, _, law, a = dense(name)
    source, target = np.arange(N) < 9, np.arange(N) >= 20
    expected = a[np.ix_(source, target)].sum() - a[np.ix_(target, source)].sum()
    assert net_flux(operator, law, source, target) == pytest.approx(expected, abs=1e-15)
    assert (abs(expected) > 1e-4) == (name != "symmetric")
    assert net_flux(operator, law, source) == pytest.approx(0, abs=1e-15)  # nothing piles up


@every_operator
def test_time_reversal(name):
    operator, p, law, a = dense(name)
    reverse = time_reversal(operator, law)
    f = rng.normal(size=(N, 2))
    expected = a.T / law[:, None]
    np.testing.assert_allclose(reverse @ f, expected @ f, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(reverse.T @ f, expected.T @ f, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(reverse @ f[:, 0], expected @ f[:, 0], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(reverse @ np.ones(N), 1, atol=1e-12)
    same = np.allclose(expected, p, atol=1e-12)
    assert same == (name == "symmetric")


@every_operator
def test_square_root_factors(name):
    _, _, law, a = dense(name)
    f, g = rng.normal(size=(2, N))
    mean = np.sqrt(a * a.T)
    theta = 0.5 * np.log(np.where(a > 0, a, 1) / np.where(a > 0, a, 1).T)
    k, q = key_difference(a, f), query_difference(a, g)
    ahead, back = np.exp(theta / 2), np.exp(-theta / 2)
    np.testing.assert_allclose(k, np.sqrt(mean) * (ahead * f - back * f[:, None]), atol=1e-14)
    np.testing.assert_allclose(q, np.sqrt(mean) * (back * g - ahead * g[:, None]), atol=1e-14)
    form = g @ (mean.sum(axis=1) * f - a @ f)
    assert 0.5 * np.sum(q * k) == pytest.approx(form, abs=1e-14)
    deficit = law - mean.sum(axis=1)
    squares = 0.5 * np.sum((np.sqrt(a) - np.sqrt(a.T)) ** 2, axis=1)
    np.testing.assert_allclose(deficit, squares, atol=1e-15)


@every_operator
def test_elimination_law(name):
    operator, _, law, _ = dense(name)
    assert np.sum(law) == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(operator.T @ law, law, rtol=1e-12)
    np.testing.assert_allclose(stationary(operator).law, law, rtol=1e-8)


def test_elimination_keeps_relative_accuracy():
    """Birth and death with steps up of 1e-9: π_k = 1e-9k exactly."""
    step = 1e-9
    p = np.diag(np.full(7, step), 1) + np.diag(np.ones(7), -1)
    p[0, 0] = p[7, 7] = 0  # the diagonal is not read
    np.testing.assert_allclose(elimination_law(p)[1:] / elimination_law(p)[:-1], step, rtol=1e-14)
    p[4, 3] = 0
    with pytest.raises(NoMassError, match="state 4"):
        elimination_law(p)


def test_a_driven_ring_by_hand():
    """Forward with weight e^g, back with 1: one current, affinity n g, σ = (p - q) g."""
    n, g = 12, 0.7
    ring = np.arange(n)

    def hop(x, y, beta):
        step = np.rint(y[:, 0][None, :] - x[:, 0][:, None]) % n
        return np.where(step == 1, g, np.where(step == n - 1, 0.0, -np.inf))

    points = ring[:, None].astype(float)
    operator = ScoreOperator(hop, points, points, 1.0)
    law = np.full(n, 1 / n)
    forward = np.exp(g) / (np.exp(g) + 1)
    current = (2 * forward - 1) / n
    assert net_flux(operator, law, ring == 3, ring == 4) == pytest.approx(current, rel=1e-13)
    assert net_flux(operator, law, ring == 4, ring == 3) == pytest.approx(-current, rel=1e-13)
    assert cycle_affinities(operator, ring[None]) == pytest.approx([n * g], rel=1e-13)
    assert entropy_production(operator, law) == pytest.approx((2 * forward - 1) * g, rel=1e-12)
    with pytest.raises(NoMassError, match="both ways"):
        cycle_affinities(operator, np.array([[0, 1, 2]]))


def test_one_way_rings_have_infinite_affinity():
    def hop(x, y, beta):
        step = np.rint(y[:, 0][None, :] - x[:, 0][:, None]) % 4
        return np.where(step <= 1, 0.0, -np.inf)

    operator = ScoreOperator(hop, *[np.arange(4.0)[:, None]] * 2, 1.0)
    found = cycle_affinities(operator, np.array([[0, 1, 2, 3], [3, 2, 1, 0]]))
    np.testing.assert_array_equal(found, [np.inf, -np.inf])
    assert entropy_production(operator, np.full(4, 0.25)) == np.inf


def test_link_on_a_fine_ring():
    """u = x + Mᵀx/(2β): 4ħβ × σ → 4ħc² and 4ħβ × flux through a cut → 2ħc/(2π)."""
    n, beta, c = 2000, 400.0, 0.8
    points = Circle().at(2 * np.pi * np.arange(n) / n)
    turn = np.array([[0.0, c], [-c, 0.0]])  # xᵀMy = c sin(y - x)
    operator = MarkovOperator([Component(points + points @ turn / (2 * beta), points)], beta)
    law = np.full(n, 1 / n)
    np.testing.assert_allclose(operator.T @ law, law, rtol=1e-12)
    assert 4 * beta * entropy_production(operator, law) == pytest.approx(4 * c**2, rel=1 / beta)
    quarter = n // 4
    before, after = np.arange(n) >= n - quarter, np.arange(n) < quarter
    flux = 4 * beta * net_flux(operator, law, before, after)
    assert flux == pytest.approx(2 * c / (2 * np.pi), rel=1 / beta)
    with pytest.raises(InvalidInputError, match="boolean"):
        net_flux(operator, law, np.arange(3))


def test_causal_steps_have_no_reverse():
    operator = head_operator(Head(Q, K), causal=True)
    assert entropy_production(operator, np.full(N, 1 / N)) == np.inf
    with pytest.raises(NoMassError, match="both ways"):
        cycle_affinities(operator, np.array([[1, 2, 3]]))


def test_refusals():
    operator = operators()["mixture"]
    law = np.full(N, 1 / N)
    with pytest.raises(InvalidInputError, match="bytes"):
        entropy_production(operator, law, largest=100)
    entropy_production(operators()["attention"], law, largest=100)  # needs no dense matrix
    with pytest.raises(InvalidInputError, match="weight"):
        entropy_production(operator, law[:3])
    with pytest.raises(InvalidInputError, match="positive law"):
        time_reversal(operator, np.zeros(N))
    with pytest.raises(InvalidInputError, match="cycles"):
        cycle_affinities(operator, np.array([0, 1, 2]))


def test_softmax_of_the_score_gives_the_affinity():
    """Σ s_ij - s_ji, whatever is added to the score of one token alone."""
    scores = Q @ K.T + rng.normal(size=(N, 1)) + 3 * rng.normal(size=N)
    p = softmax(scores, axis=1)
    cycle = np.array([[4, 9, 17, 2]])
    after = np.roll(cycle, -1, axis=1)
    expected = np.sum(np.log(p[cycle, after] / p[after, cycle]))
    found = cycle_affinities(head_operator(Head(Q, K)), cycle)
    assert found == pytest.approx([expected], rel=1e-12)
