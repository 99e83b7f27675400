"""Heads as Markov operators against dense softmax, with and without a causal mask."""

import numpy as np
import pytest
from scipy.special import softmax

from convergence.errors import NoMassError
from convergence.operators import ScoreOperator, head_operator, log_entries, log_matrix
from convergence.scores import MEMBERS, Head

rng = np.random.default_rng(42)
Q, K = rng.normal(size=(2, 40, 4))
every_member = pytest.mark.parametrize("member", MEMBERS)


@every_member
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("self_loops", [False, True])
def test_softmax(member, causal, self_loops):
    head = Head(Q, K, member)
    scores = head.scores()
    hidden = np.triu(np.ones((40, 40), dtype=bool), 1) & causal
    if not self_loops:
        np.fill_diagonal(hidden, True)
    operator = head_operator(head, 3.0, causal=causal, self_loops=self_loops)
    if causal and not self_loops:  # the first token sees nothing
        with pytest.raises(NoMassError, match="rows 0"):
            operator @ np.ones(40)
        return
    expected = softmax(np.where(hidden, -np.inf, scores), axis=1)
    f = rng.normal(size=(40, 2))
    np.testing.assert_allclose(operator.toarray(), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(operator @ f, expected @ f, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(operator.T @ f, expected.T @ f, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(np.exp(log_matrix(operator)), expected, rtol=1e-12, atol=0)
    i, j = rng.integers(0, 40, (2, 70))
    np.testing.assert_allclose(np.exp(log_entries(operator, i, j)), expected[i, j], rtol=1e-12)
    generator = 4 * 3.0 * (f - expected @ f)
    np.testing.assert_allclose(operator.generator(f), generator, rtol=1e-11, atol=1e-12)


@every_member
def test_large_scores(member):
    """Scores of some thousands: one-hot rows, no overflow."""
    head = Head(30 * Q, 30 * K, member)
    scores = head.scores()
    assert np.max(np.abs(scores)) > 1000
    u, v, _ = head.kernel()
    largest = np.max(np.sum(u * u + v * v, axis=1))  # rounding of the exponents
    np.testing.assert_allclose(
        head_operator(head).toarray(), softmax(scores, axis=1), rtol=1e-10, atol=1e-15 * largest
    )


@pytest.mark.parametrize("member", ["DMAP", "ATAP"])
def test_symmetric_members_are_reversible(member):
    p = head_operator(Head(Q, K, member)).toarray()
    weight = np.sum(np.exp(Head(Q, K, member).scores()), axis=1)
    coupling = weight[:, None] * p
    np.testing.assert_allclose(coupling, coupling.T, rtol=1e-11)


def test_scores_of_any_kind_with_weights_and_other_targets():
    def score(x, y, beta):
        return -beta * np.abs(x[:, :1] - y[:, 0])

    weights = rng.normal(size=40)
    operator = ScoreOperator(score, Q[:7], K, 2.0, weights)
    expected = softmax(-2 * np.abs(Q[:7, :1] - K[:, 0]) + weights, axis=1)
    np.testing.assert_allclose(operator.toarray(), expected, rtol=1e-13)
    w = rng.normal(size=7)
    np.testing.assert_allclose(operator.T @ w, expected.T @ w, rtol=1e-12)


def test_fully_masked_rows_are_named():
    def blind(x, y, beta):
        return np.where(x[:, :1] > 0.5, -np.inf, x @ y.T)

    rows = np.flatnonzero(Q[:, 0] > 0.5)
    with pytest.raises(NoMassError, match=f"{len(rows)} of 40 rows .*rows {rows[0]}"):
        ScoreOperator(blind, Q, K, 1.0) @ np.ones(40)
