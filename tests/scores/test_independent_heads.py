"""Heads, masks and conventions against numbers that share no code with them: by a double loop."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from convergence import limits
from convergence.operators import ScoreOperator, head_operator
from convergence.scores import (
    CONVENTIONS,
    MEMBERS,
    Causal,
    CausalScore,
    Head,
    ProductScore,
    beta_from,
)
from convergence.spaces import Gaussian

RNG = np.random.default_rng(41)


def loop(log_kernel, queries, keys, beta):
    """P by a double loop."""
    logs = np.array([[log_kernel(beta, x, y) for y in keys] for x in queries])
    kernel = np.exp(logs - np.max(logs, axis=1, keepdims=True))
    return kernel / np.sum(kernel, axis=1, keepdims=True)


def test_positions():
    """The mask y ≤ x, equal positions seen, and its transport -f', on a line."""
    points, beta = np.array([[0.2], [-0.5], [0.2], [1.3]]), 2.0
    found = ScoreOperator(Causal(), points, points, beta).toarray()
    future = ScoreOperator(Causal(reversed=True), points, points, beta).toarray()

    def past(b, x, y):
        return -b * (x - y) ** 2 if y <= x else -np.inf

    t = points[:, 0]
    np.testing.assert_allclose(found, loop(past, t, t, beta), rtol=1e-14)
    np.testing.assert_allclose(future, loop(past, -t, -t, beta), rtol=1e-14)
    line, x = Gaussian(((1.7,),)), np.array([[0.4]])
    nodes, weights = leggauss(200)
    y = 0.4 - 4 * (nodes + 1)
    kernel = weights * np.exp(-9 * (y - 0.4) ** 2 - y**2 / 3.4)
    expected = -36 * np.sum(kernel * (y**3 - 0.4**3)) / np.sum(kernel)
    g = line.polynomial("x0**3")
    found = limits.expectation(line, Causal(), g, x, 9.0)
    assert found[0] == pytest.approx(expected, rel=1e-10)
    assert limits.causal_limit(Causal(), line, g, x)[0] == pytest.approx(-3 * 0.16, rel=1e-13)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("member", MEMBERS)
def test_heads(member, causal):
    """Softmax of the printed scores, loop by loop; a causal head sees itself and those before."""
    q, k = RNG.normal(size=(2, 7, 3))

    def score(i, j):
        m = (q + k) / np.sqrt(2)
        return {
            "ATTN": q[i] @ k[j],
            "DMTN": 0.5 * m[i] @ m[j] + 0.5 * (q[i] @ k[j] - k[i] @ q[j]),
            "ATAP": 0.5 * (q[i] @ k[j] + k[i] @ q[j]),
            "DMAP": -0.5 * np.sum((m[i] - m[j]) ** 2),
        }[member]

    def seen(beta, i, j):
        return -np.inf if causal and j > i else score(i, j)

    found = head_operator(Head(q, k, member), causal=causal).toarray()
    np.testing.assert_allclose(found, loop(seen, range(7), range(7), 0.5), rtol=1e-12)
    pairs = np.hstack([q, np.arange(7.0)[:, None]]), np.hstack([k, np.arange(7.0)[:, None]])
    masked = CausalScore()(*pairs, 0.5)
    np.testing.assert_allclose(
        masked[3], [*(q[3] @ k[:4].T), -np.inf, -np.inf, -np.inf], rtol=1e-14
    )


def test_conventions():
    """Each kernel, at two distances of unit vectors, is exp(-β d²) up to a constant."""
    scale, d = 0.37, np.array([0.5, 1.2])
    kernels = {
        "exp(-beta d^2)": -scale * d**2,
        "exp(-d^2/4eps)": -(d**2) / (4 * scale),
        "exp(-d^2/2eps)": -(d**2) / (2 * scale),
        "exp(-d^2/eps)": -(d**2) / scale,
        "softmax(beta x.y)": scale * (1 - d**2 / 2),
    }
    assert set(kernels) == set(CONVENTIONS)
    for name, logs in kernels.items():
        beta = -np.diff(logs)[0] / np.diff(d**2)[0]
        assert beta_from(name, scale) == pytest.approx(beta, rel=1e-14)


def test_products_do_not_see_beta():
    queries, keys = RNG.standard_normal((7, 3)), RNG.standard_normal((9, 3))
    right = loop(lambda beta, x, y: sum(a * b for a, b in zip(x, y, strict=True)), queries, keys, 4)
    found = ScoreOperator(ProductScore(), queries, keys, 4.0).toarray()
    np.testing.assert_allclose(found, right, rtol=1e-13, atol=1e-15)  # rows sum to one
