"""Readings of heads built by hand, whose answers are known."""

import numpy as np
import pytest

from convergence.errors import InvalidInputError
from convergence.operators import read_head, read_heads
from convergence.scores import Head

rng = np.random.default_rng(45)
N = 12
Q, K = rng.normal(size=(2, N, 4))


def test_a_directed_cycle():
    """P = (1 + (e^g - 1) shift)/(n - 1 + e^g): √2 for large g, with π uniform."""
    g = 14.0
    found = read_head(g * np.eye(N), np.roll(np.eye(N), 1, axis=0))
    p = np.ones(N)
    p[1] = np.exp(g)  # from 0 to 1
    p /= p.sum()
    epsilon = np.sqrt(2 * (p[1] - p[2]) ** 2 / np.sum(p**2))
    assert found.epsilon_rev == pytest.approx(epsilon, rel=1e-12)
    assert found.epsilon_rev == pytest.approx(np.sqrt(2), rel=1e-4)
    assert found.rho_skew == pytest.approx(1, rel=1e-14)
    assert found.effective_neighbours == pytest.approx(np.exp(-np.sum(p * np.log(p))), rel=1e-12)
    assert found.entropy_production == pytest.approx((p[1] - p[2]) * g, rel=1e-11)
    assert found.cycle_affinities[0] == pytest.approx(2 * g)  # i, i+1, i+2
    assert found.link_norm == pytest.approx(g * np.sqrt(N / 2))
    assert found.bond_norm == pytest.approx(g * np.sqrt(N / 2))
    assert found.definiteness == "indefinite"


@pytest.mark.parametrize("member", ["DMAP", "ATAP"])
def test_symmetric_members_are_reversible(member):
    found = read_head(Q, K, member=member)
    assert found.epsilon_rev < 1e-13
    assert abs(found.entropy_production) < 1e-13
    assert found.rho_skew < 1e-15
    assert max(found.cycle_affinities, default=0.0) < 1e-13
    assert found.definiteness == ("positive" if member == "DMAP" else "indefinite")


def test_equal_scores_see_everyone():
    found = read_head(np.ones((N, 3)), np.ones((N, 3)))
    assert found.effective_neighbours == pytest.approx(N)
    assert found.epsilon_rev == pytest.approx(0, abs=1e-15)
    assert (found.definiteness, found.positive, found.negative) == ("positive", 1 / 3, 0)


@pytest.mark.parametrize("member", ["ATTN", "DMTN"])
def test_general_heads(member):
    found = read_head(Q, K, member=member)
    scores = Head(Q, K, member).scores()
    skew, symmetric = 0.5 * (scores - scores.T), 0.5 * (scores + scores.T)
    assert found.rho_skew == pytest.approx(np.linalg.norm(skew) / np.linalg.norm(symmetric))
    everything = [
        2 * (skew[i, j] + skew[j, k] + skew[k, i])
        for i in range(N) for j in range(N) for k in range(N)
    ]  # fmt: skip
    assert found.cycle_affinities[0] == pytest.approx(max(everything))
    assert list(found.cycle_affinities) == sorted(found.cycle_affinities, reverse=True)
    assert 0 < found.epsilon_rev < np.sqrt(2)
    assert found.entropy_production > 0
    square = np.diag(scores)[:, None] + np.diag(scores) - scores - scores.T
    assert found.bond_norm == pytest.approx(np.linalg.norm(square) / 2)
    assert (found.tokens, found.head_dim) == (N, 4)
    assert found.definiteness == ("indefinite" if member == "ATTN" else "positive")


def test_causal_heads():
    found = read_head(Q, K, causal=True)
    p = np.tril(np.exp(Q @ K.T))
    p /= p.sum(axis=1, keepdims=True)
    assert found.epsilon_rev == pytest.approx(np.linalg.norm(p - p.T) / np.linalg.norm(p))
    assert found.entropy_production == np.inf
    logs = np.log(np.where(p > 0, p, 1))
    assert found.effective_neighbours == pytest.approx(np.exp(-np.mean(np.sum(p * logs, axis=1))))
    assert found.rho_skew == read_head(Q, K).rho_skew
    assert found.cycle_affinities == read_head(Q, K).cycle_affinities


def test_batches():
    queries, keys = rng.normal(size=(2, 2, 3, N, 4))
    table = read_heads(queries, keys)
    assert table.shape == (6, 12)
    assert table.loc[(1, 2), "rho_skew"] == read_head(queries[1, 2], keys[1, 2]).rho_skew
    assert list(read_heads(queries[0], keys[0], causal=True).index) == [0, 1, 2]
    with pytest.raises(InvalidInputError, match="batch"):
        read_heads(Q, K)


def test_small_heads():
    assert read_head(Q[:2], K[:2]).cycle_affinities == ()
    one = read_head(Q[:1], K[:1])
    assert (one.effective_neighbours, one.epsilon_rev, one.entropy_production) == (1, 0, 0)
    with pytest.raises(InvalidInputError):
        read_head(Q, K[:3])
