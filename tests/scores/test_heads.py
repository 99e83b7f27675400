"""The transport family by its definition, the primitive it becomes, and the split of the score."""

import numpy as np
import pytest

from convergence.errors import InvalidInputError
from convergence.scores import MEMBERS, Head

rng = np.random.default_rng(41)
TOKENS = rng.normal(size=(25, 6))
W_Q, W_K = rng.normal(size=(2, 6, 3)) / np.sqrt(6)
every_member = pytest.mark.parametrize("member", MEMBERS)
ALL = np.indices((25, 25)).reshape(2, -1)


def defined(member, q, k):
    """The printed scores, by a plain double loop."""
    m, n = (q + k) / 2**0.5, (q - k) / 2**0.5
    score = {
        "ATTN": lambda i, j: q[i] @ k[j],
        "DMTN": lambda i, j: 0.5 * m[i] @ m[j] + 0.5 * (q[i] @ k[j] - k[i] @ q[j]),
        "ATAP": lambda i, j: 0.5 * (q[i] @ k[j] + k[i] @ q[j]),
        "DMAP": lambda i, j: -0.5 * np.sum((m[i] - m[j]) ** 2),
        "DMTN by n": lambda i, j: q[i] @ k[j] + 0.5 * n[i] @ n[j],
    }[member]
    return np.array([[score(i, j) for j in range(len(k))] for i in range(len(q))])


def head(member="ATTN", scale=1.0):
    return Head.from_tokens(TOKENS, W_Q, W_K, member, scale=scale)


@every_member
def test_scores_by_definition(member):
    expected = defined(member, TOKENS @ W_Q, TOKENS @ W_K)
    found = head(member)
    np.testing.assert_allclose(found.scores(), expected, atol=1e-13)
    np.testing.assert_allclose(found.pair_scores(*ALL).reshape(25, 25), expected, atol=1e-13)
    if member == "DMTN":
        again = defined("DMTN by n", found.queries, found.keys)
        np.testing.assert_allclose(found.scores(), again, atol=1e-13)


@every_member
@pytest.mark.parametrize("beta", [0.5, 7.0])
def test_the_primitive_and_back(member, beta):
    """-β|u_i - v_j|² + c_j + r_i is the score."""
    found = head(member, 0.3)
    u, v, c = found.kernel(beta)
    kernel = -beta * np.sum((u[:, None] - v) ** 2, axis=-1) + c
    np.testing.assert_allclose(kernel + found.row_terms[:, None], found.scores(), atol=1e-12)


def test_plain_attention_is_queries_keys_and_half_the_square():
    found = head()
    u, v, c = found.kernel()
    np.testing.assert_array_equal(u, found.queries)
    np.testing.assert_array_equal(v, found.keys)
    np.testing.assert_allclose(c, [0.5 * (k @ k) for k in found.keys], rtol=1e-14)


def test_the_distance_member_is_a_plain_symmetric_kernel():
    u, v, c = head("DMAP").kernel(2.0)
    assert u is v
    np.testing.assert_allclose(c, 0, atol=1e-14)


@every_member
def test_split(member):
    found, scores = head(member), head(member).scores()
    bond = found.squared_bond(*ALL).reshape(25, 25)
    link = found.link(*ALL).reshape(25, 25)
    np.testing.assert_allclose(found.sites, 0.5 * np.diag(scores), atol=1e-13)
    np.testing.assert_allclose(bond, bond.T, atol=1e-13)
    np.testing.assert_allclose(link, 0.5 * (scores - scores.T), atol=1e-13)
    together = -0.5 * bond + link + found.sites[:, None] + found.sites
    np.testing.assert_allclose(together, scores, atol=1e-12)
    assert (np.max(np.abs(link)) > 0.1) == (member in ("ATTN", "DMTN"))


def test_definiteness_of_the_weights():
    """The eigenvalues of ½(W_Q W_Kᵀ + W_K W_Qᵀ), and what they say of the tokens' bond."""
    form = 0.5 * (W_Q @ W_K.T + W_K @ W_Q.T)
    expected = np.linalg.eigvalsh(form)
    np.testing.assert_allclose(Head(W_Q, W_K).bond_eigenvalues, expected, atol=1e-14)
    assert Head(W_Q, W_K).definiteness == "indefinite"
    assert Head(W_Q, W_K).signature == (np.sum(expected > 1e-12), np.sum(expected < -1e-12))
    assert Head(W_Q, W_Q).definiteness == "positive"
    assert Head(W_Q, W_Q).signature == (3, 0)
    assert Head(W_Q, -2 * W_Q).definiteness == "negative"
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    assert Head(np.eye(2), turn.T).definiteness == "zero"
    for member, sign in [("ATTN", "indefinite"), ("ATAP", "indefinite"), ("DMTN", "positive"),
                         ("DMAP", "positive")]:  # fmt: skip
        assert head(member).definiteness == sign


def test_only_the_sum_of_the_weights_enters_the_distance_member():
    change = rng.normal(size=W_Q.shape)
    folded = Head.from_tokens(TOKENS, W_Q + change, W_K - change, "DMAP")
    np.testing.assert_allclose(folded.scores(), head("DMAP").scores(), atol=1e-12)
    mean = 0.5 * (W_Q + W_K)
    half = Head.from_tokens(TOKENS, mean, mean, "DMAP")
    np.testing.assert_allclose(half.scores(), head("DMAP").scores(), atol=1e-12)
    other = Head.from_tokens(TOKENS, W_Q + change, W_K - change)
    assert np.max(np.abs(other.scores() - head().scores())) > 1


@every_member
def test_scale_multiplies_the_scores(member):
    np.testing.assert_allclose(
        head(member, 0.25).scores(), 0.25 * head(member).scores(), rtol=1e-12, atol=1e-14
    )


def test_refusals():
    with pytest.raises(InvalidInputError, match="as many queries"):
        Head(np.ones((3, 2)), np.ones((4, 2)))
    with pytest.raises(InvalidInputError, match="member"):
        Head(np.ones((3, 2)), np.ones((3, 2)), "DMAT")
    with pytest.raises(InvalidInputError, match="NaN"):
        Head(np.full((3, 2), np.nan), np.ones((3, 2)))
    with pytest.raises(InvalidInputError, match="as many rows"):
        Head.from_tokens(TOKENS, W_Q[:4], W_K)
    with pytest.raises(InvalidInputError, match="scale"):
        Head.from_tokens(TOKENS, W_Q, W_K, scale=-1.0)
    with pytest.raises(InvalidInputError, match="beta"):
        head().kernel(0.0)
