"""Heads as Markov operators against dense softmax, with and without a causal mask."""

import mpmath
import numpy as np
import pytest
from scipy.special import softmax

from convergence.errors import InvalidInputError, NoMassError
from convergence.operators import (
    MarkovOperator,
    ScoreOperator,
    head_operator,
    log_entries,
    log_matrix,
    read_head,
)
from convergence.scores import MEMBERS, Head

EPS = np.finfo(float).eps
rng = np.random.default_rng(42)
Q, K = rng.normal(size=(2, 40, 4))
every_member = pytest.mark.parametrize("member", MEMBERS)


def rounding(n, exponents):
    """Relative, of weights exp(exponent) over their sum of n terms, twice: ours and the test's."""
    return EPS * (2 * n + 8 * exponents)


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
    off = rounding(40, max(head.kernel_size, np.max(np.abs(scores))))
    largest = 2 * np.max(np.abs(f))  # |f_j - f_i|
    np.testing.assert_allclose(operator.toarray(), expected, rtol=off, atol=4 * EPS)
    np.testing.assert_allclose(operator @ f, expected @ f, rtol=0, atol=off * largest)
    columns = expected.T @ np.abs(f)
    assert np.all(np.abs(operator.T @ f - expected.T @ f) <= off * columns)
    np.testing.assert_allclose(np.exp(log_matrix(operator)), expected, rtol=off, atol=0)
    i, j = rng.integers(0, 40, (2, 70))
    np.testing.assert_allclose(np.exp(log_entries(operator, i, j)), expected[i, j], rtol=off)
    generator = 4 * 3.0 * (f - expected @ f)
    np.testing.assert_allclose(operator.generator(f), generator, rtol=0, atol=12 * off * largest)


@every_member
def test_large_scores(member):
    """Scores of some thousands: one-hot rows, no overflow, and the rounding of products."""
    head = Head(30 * Q, 30 * K, member)
    scores = head.scores()
    assert np.max(np.abs(scores)) > 1000
    off = rounding(40, np.max(np.sum(np.abs(head.factors[0]), axis=1)) * np.max(np.abs(30 * K)))
    np.testing.assert_allclose(
        np.exp(log_matrix(head_operator(head))), softmax(scores, axis=1), rtol=off
    )


def exact(head):
    """Softmax of the printed scores in 60 digits, and Σ_d |a_d||b'_d| of every pair."""
    with mpmath.workdps(60):
        q, k = (
            [[mpmath.mpf(float(x)) for x in row] for row in a] for a in (head.queries, head.keys)
        )

        def dot(x, y):
            return mpmath.fsum(s * t for s, t in zip(x, y, strict=True))

        m = [[s + t for s, t in zip(*rows, strict=True)] for rows in zip(q, k, strict=True)]
        apart = [[s - t for s, t in zip(*rows, strict=True)] for rows in zip(q, k, strict=True)]
        score = {
            "ATTN": lambda i, j: dot(q[i], k[j]),
            "DMTN": lambda i, j: dot(q[i], k[j]) + dot(apart[i], apart[j]) / 4,
            "ATAP": lambda i, j: (dot(q[i], k[j]) + dot(k[i], q[j])) / 2,
            "DMAP": lambda i, j: -sum((s - t) ** 2 for s, t in zip(m[i], m[j], strict=True)) / 4,
        }[head.member]
        n = len(q)
        rows = [[score(i, j) for j in range(n)] for i in range(n)]
        tops = [max(row) for row in rows]
        weights = [[mpmath.exp(s - t) for s in row] for row, t in zip(rows, tops, strict=True)]
        sums = [mpmath.fsum(row) for row in weights]
        p = [[float(w / s) for w in row] for row, s in zip(weights, sums, strict=True)]
    b = head.centred[1]
    return np.array(p), np.abs(head.factors[0]) @ np.abs(b).T


GRID_Q, GRID_K = np.round(np.random.default_rng(7).normal(size=(2, 9, 3)) * 2**20) / 2**20
FIRST = np.eye(9)[:, :1] * np.eye(3)[:1]  # the first token's first coordinate
ADVERSE = {
    "common part of keys": (GRID_Q, GRID_K + 1e8),
    "common part of queries": (GRID_Q + 1e8, GRID_K),
    "large spread of keys": (GRID_Q, 1e6 * GRID_K),
    "large keys, small queries": (1e-8 * GRID_Q, 1e8 * GRID_K),
    "large queries, small keys": (1e8 * GRID_Q, 1e-8 * GRID_K),
    "huge queries": (1e12 * GRID_Q, GRID_K),
    "an outlier that no token looks at": (np.abs(GRID_Q), GRID_K - 1e8 * FIRST),
    "a single huge query": (GRID_Q + 1e10 * FIRST, GRID_K),
    "two clouds of keys": (GRID_Q * [0, 1, 1], GRID_K + 1e8 * (np.arange(9) % 2)[:, None]),
    "large beside small coordinates": (GRID_Q * [1e9, 1, 1e-9], GRID_K * [1e-9, 1, 1e9]),
}


@pytest.mark.parametrize("case", ADVERSE)
def test_scores_have_the_rounding_of_products(case):
    """Against 60 digits: log P is off by a few roundings of Σ_d |a_d||b'_d|, row by row."""
    head = Head(*ADVERSE[case])
    expected, products = exact(head)
    size = np.max(products, axis=1, keepdims=True) + min(head.kernel_size, 32.0)
    off = 8 * EPS * (1 + size)
    known = np.broadcast_to(off < 0.1, expected.shape)
    assert np.any(known)
    operator = head_operator(head)
    for found, least in ((operator.toarray(), EPS), (np.exp(log_matrix(operator)), 1e-300)):
        error = np.abs(found - expected) / np.maximum(expected, least)
        assert np.all((error <= off)[known])


@every_member
@pytest.mark.parametrize("third", [1e6, 1e8])
def test_what_every_key_has_and_no_query_sees(member, third):
    """Queries with a third coordinate of zero, keys with a large one: P to 1e-14."""
    queries, keys = Q[:, :3] * [1, 1, 0], K[:, :3] * [1, 1, 0]
    shifted = keys + third * np.eye(3)[2]
    found = head_operator(Head(queries, shifted, member)).toarray()
    expected = head_operator(Head(queries, keys, member)).toarray()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found, exact(Head(queries, shifted, member))[0], rtol=0, atol=1e-14)
    if member == "ATTN":
        reading, plain = read_head(queries, shifted), read_head(queries, keys)
        for name in ("effective_neighbours", "epsilon_rev", "bond_norm", "entropy_production"):
            assert getattr(reading, name) == pytest.approx(getattr(plain, name), rel=1e-13)
        assert reading.cycle_affinities == pytest.approx(plain.cycle_affinities, rel=1e-13)


@pytest.mark.parametrize("common", [1.0, 1e3, 1e6, 1e8])
@pytest.mark.parametrize("causal", [False, True])
def test_a_common_part_of_all_keys_changes_nothing(common, causal):
    queries, keys = (np.round(x * 2**20) / 2**20 for x in (Q, K))
    found, expected = (
        head_operator(Head(queries, k), causal=causal).toarray() for k in (keys + common, keys)
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    reading, plain = read_head(queries, keys + common), read_head(queries, keys)
    assert reading.bond_norm == pytest.approx(plain.bond_norm, rel=1e-14)
    assert reading.cycle_affinities == pytest.approx(plain.cycle_affinities, rel=1e-13)


@pytest.mark.parametrize("member", ["ATTN", "ATAP", "DMTN"])
def test_products_and_fused_sums_are_one_operator(member):
    """On both sides of the size at which the engine changes."""
    for size, engine in ((31.0, MarkovOperator), (33.0, ScoreOperator)):
        scale = np.sqrt(size / Head(Q, K, member).kernel_size)
        head = Head(scale * Q, scale * K, member)
        operator = head_operator(head, 3.0)
        assert type(operator) is engine
        f, off = rng.normal(size=40), rounding(40, size)
        expected = softmax(head.scores(), axis=1)
        np.testing.assert_allclose(np.exp(log_matrix(operator)), expected, rtol=off)
        np.testing.assert_allclose(operator @ f, expected @ f, rtol=0, atol=off * np.ptp(f))
        np.testing.assert_allclose(operator.T @ f, expected.T @ f, rtol=0, atol=40 * off)


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
    exponents = np.max(np.abs(-2 * np.abs(Q[:7, :1] - K[:, 0]) + weights))
    off = rounding(40, exponents)
    # columns are summed about their mean 1/40
    np.testing.assert_allclose(operator.toarray(), expected, rtol=off, atol=4 * EPS)
    w = rng.normal(size=7)
    assert np.all(np.abs(operator.T @ w - expected.T @ w) <= off * (expected.T @ np.abs(w)))


def test_fully_masked_rows_are_named():
    def blind(x, y, beta):
        return np.where(x[:, :1] > 0.5, -np.inf, x @ y.T)

    rows = np.flatnonzero(Q[:, 0] > 0.5)
    with pytest.raises(NoMassError, match=f"{len(rows)} of 40 rows .*rows {rows[0]}"):
        ScoreOperator(blind, Q, K, 1.0) @ np.ones(40)


def test_flags_are_flags():
    for wrong in ({"causal": "no"}, {"causal": 1}, {"self_loops": "no"}):
        with pytest.raises(InvalidInputError, match="True or False"):
            head_operator(Head(Q, K), **wrong)
    with pytest.raises(InvalidInputError, match="True or False"):
        read_head(Q, K, causal="no")


def test_a_head_keeps_its_own_arrays():
    queries = Q.copy()
    head = Head(queries, K)
    before = head.scores()
    queries *= 3
    np.testing.assert_array_equal(head.scores(), before)
