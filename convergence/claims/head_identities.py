"""Residuals of exact identities of a head's scores and of several heads together.

Each function takes tokens X, shape (n, D), and a factor of the scores, draws the weights of a head
from a fixed seed, and returns residuals by name. Where exponentials are compared the rounding of
their exponents is that of the largest exponent, so residuals are divided by one plus its size.
"""

from __future__ import annotations

import numpy as np
import sympy
from scipy.special import log_softmax, softmax

from ..operators import Component, MarkovOperator, head_operator, log_matrix
from ..scores import MEMBERS, Head, PerPointMetric
from ..scores.per_point_metric import metric_coordinates, symbolic

HEAD_DIM = 3
Weights = tuple[np.ndarray, np.ndarray]


def drawn_weights(dim: int, seed: int = 0, columns: int = HEAD_DIM) -> Weights:
    """W_Q and W_K of shape (dim, columns), Gaussian, for scores of order one."""
    rng = np.random.default_rng([seed, dim, columns])
    query, key = rng.standard_normal((2, dim, columns)) / np.sqrt(dim)
    return query, key


def drawn_head(tokens: np.ndarray, factor: float, member: str = "ATTN", seed: int = 0) -> Head:
    """A head with seeded weights on given tokens, its scores multiplied by a factor."""
    weights = drawn_weights(tokens.shape[1], seed)
    return Head.from_tokens(tokens, *weights, member, scale=factor)


def exponent_size(head: Head) -> float:
    """One plus the largest term in the exponent -β|u_i - v_j|² + c_j of a head."""
    return 1 + 2 * max(float(np.max(np.sum(f * f, axis=1))) for f in head.factors)


def relative(found: np.ndarray, expected: np.ndarray, size: float | None = None) -> float:
    """Largest |found - expected| over a size, by default the largest |expected|."""
    largest = float(np.max(np.abs(expected))) if size is None else size
    return float(np.max(np.abs(np.asarray(found) - expected))) / largest


def transition(operator: MarkovOperator) -> np.ndarray:
    """P as a dense matrix whose entries keep their relative accuracy, however small."""
    return np.exp(log_matrix(operator))


def split_of_the_score(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """S = -½d² + link + ½S_ii + ½S_jj; under softmax the last term alone is left of the sites."""
    head = drawn_head(tokens, factor)
    n = len(tokens)
    scores = head.queries @ head.keys.T
    pairs = np.indices((n, n)).reshape(2, -1)
    bond = head.squared_bond(*pairs).reshape(n, n)
    link = head.link(*pairs).reshape(n, n)
    site = head.sites
    sites = site[:, None] + site
    markov, size = log_matrix(head_operator(head)), exponent_size(head)
    half = -0.5 * bond + link
    return {
        "score": relative(half + sites, scores),
        "Doob weight": relative(log_softmax(half + site, axis=1), markov, size),
        "½ dropped": relative(half - 0.5 * bond + sites, scores),
        "sign of the link": relative(half - 2 * link + sites, scores),
        "column terms dropped": relative(log_softmax(half, axis=1), markov, size),
        "row terms dropped": relative(half + site, scores),
        "½ dropped from the sites": relative(half + 2 * sites, scores),
    }


def family(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """The four members as the fused primitive, against softmax of their printed scores."""
    q, k = (drawn_head(tokens, factor).queries, drawn_head(tokens, factor).keys)
    m, n = (q + k) / np.sqrt(2), (q - k) / np.sqrt(2)
    scores = q @ k.T
    printed = {
        "ATTN": scores,
        "DMTN": 0.5 * (m @ m.T + scores - scores.T),
        "ATAP": 0.5 * (scores + scores.T),
        "DMAP": -0.5 * np.sum((m[:, None] - m) ** 2, axis=-1),
    }
    heads = {member: Head(q, k, member) for member in MEMBERS}
    found = {member: head_operator(head).toarray() for member, head in heads.items()}
    size = {member: exponent_size(head) for member, head in heads.items()}

    def off(member: str, score: np.ndarray) -> float:
        return relative(found[member], softmax(score, axis=1), size[member])

    pairs = np.indices(scores.shape).reshape(2, -1)
    bond = {m: heads[m].squared_bond(*pairs) for m in ("DMTN", "DMAP")}
    query, key = drawn_weights(tokens.shape[1])
    shift = drawn_weights(tokens.shape[1], seed=1)[0]
    folded = {
        member: Head.from_tokens(tokens, query + shift, key - shift, member, scale=factor)
        for member in ("ATTN", "DMAP")
    }
    return {
        **{member: off(member, score) for member, score in printed.items()},
        "DMTN = S + ½⟨n,n⟩": off("DMTN", scores + 0.5 * n @ n.T),
        "bond of DMTN half that of DMAP": relative(2 * bond["DMTN"], bond["DMAP"]),
        "bond of DMTN that of DMAP": relative(bond["DMTN"], bond["DMAP"]),
        "fold of DMAP": relative(folded["DMAP"].scores(), printed["DMAP"]),
        "c = |k|²": off("ATTN", scores + 0.5 * np.sum(k * k, axis=1)),
        "rows for columns": off("ATTN", scores.T),
        "DMTN without its link": off("DMTN", 0.5 * m @ m.T),
        "DMTN with the link's sign wrong": off("DMTN", 0.5 * (m @ m.T - scores + scores.T)),
        "DMAP without its ½": off("DMAP", 2 * printed["DMAP"]),
        "fold of ATTN": relative(folded["ATTN"].scores(), scores),
    }


def products_of_experts(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """With d→_ij = S_ii - S_ij and d← its transpose: exp(-d→) ⊙ exp(-d←) = exp(-(d→ + d←)).

    The sum of the two is the bond d², and the row-normalised product of the row-normalised experts
    is the row-normalised bond kernel.
    """
    head = drawn_head(tokens, factor)
    scores = head.queries @ head.keys.T
    ahead = np.diag(scores)[:, None] - scores
    pairs = np.indices(scores.shape).reshape(2, -1)
    bond = head.squared_bond(*pairs).reshape(scores.shape)
    both, size = softmax(-bond, axis=1), exponent_size(head)
    # the terms S_ii of a row cancel in one expert, and weight the keys of its transpose
    u, v, c = Head(head.keys, head.queries).kernel()
    first = transition(head_operator(head))
    second = transition(MarkovOperator([Component(u, v, c - np.diag(scores))], 0.5))
    transposed = transition(MarkovOperator([Component(u, v, c)], 0.5))

    def rows(kernel: np.ndarray) -> np.ndarray:
        return kernel / np.sum(kernel, axis=1, keepdims=True)

    product = np.exp(-ahead) * np.exp(-ahead.T)
    return {
        "kernels multiply": relative(product / np.exp(-bond), np.ones_like(bond), size),
        "sum is the bond": relative(bond, ahead + ahead.T),
        "normalised experts": relative(rows(first * second), both, size),
        "one expert is the bond": relative(rows(first * first), both, size),
        "transpose of a normalised expert": relative(rows(first * first.T), both, size),
        "experts added": relative(rows(first + second), both, size),
        "site terms dropped": relative(rows(first * transposed), both, size),
    }


def softmax_expansion(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """softmax(βS) = 11ᵀ/N + (β/N) S(I - 11ᵀ/N) + O(β²): measured order of the remainder, less 2.

    The order log₂(r(2β)/r(β)) at β and its halves, extrapolated to β = 0 three times: the error
    left is of order β⁴.
    """
    head = drawn_head(tokens, 1.0)
    scores = head.queries @ head.keys.T
    largest = np.max(np.abs(scores))
    scores /= largest
    n = len(scores)

    def softmax_of(beta: float) -> np.ndarray:
        root = np.sqrt(beta / largest)
        return transition(head_operator(Head(root * head.queries, root * head.keys)))

    centred = scores - np.mean(scores, axis=1, keepdims=True)

    def order(first_term: np.ndarray) -> float:
        def remainder(beta: float) -> float:
            rest = softmax_of(beta) - 1 / n - beta / n * first_term
            return float(np.linalg.norm(rest))

        sizes = np.array([remainder(factor * 2.0**-k) for k in range(5)])
        orders = np.log2(sizes[:-1] / sizes[1:])
        for power in (1, 2, 3):
            orders = (2**power * orders[1:] - orders[:-1]) / (2**power - 1)
        return float(orders[-1])

    return {
        "order 2": abs(order(centred) - 2),
        "order 2 without the centring": abs(order(scores) - 2),
        "order 2 with half the linear term": abs(order(0.5 * centred) - 2),
        "order 2 with the linear term's sign wrong": abs(order(-centred) - 2),
        "order 2 with columns centred": abs(order(scores - np.mean(scores, axis=0)) - 2),
        "order 3": abs(order(centred) - 3),
    }


def connection_walks(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """One head transports every token by one matrix, h heads by one matrix an edge.

    Σ_h A_h X W_h = h Σ_j w_ij T_ij x_j, w_ij = Σ_h A_h,ij / h, T_ij = Σ_h A_h,ij W_h / Σ_h A_h,ij.
    """
    n, dim = tokens.shape
    heads = 3
    drawn = [drawn_head(tokens, factor, seed=h) for h in range(heads)]
    operators = [head_operator(head) for head in drawn]
    attention = np.stack([transition(operator) for operator in operators])
    values = np.random.default_rng([9, dim]).standard_normal((heads, dim, dim)) / np.sqrt(dim)
    # the fused sums of the heads, against walks over the entries of P
    outputs = [p @ (tokens @ w) for p, w in zip(operators, values, strict=True)]
    together = np.sum(outputs, axis=0)
    weights = np.mean(attention, axis=0)
    weighted = np.einsum("hij,hab->ijab", attention, values)
    transport = weighted / (heads * weights)[:, :, None, None]

    def walk(edges: np.ndarray, matrices: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ja,ijab->ib", edges, tokens, matrices)

    def constant(matrix: np.ndarray) -> np.ndarray:
        return np.broadcast_to(matrix, (n, n, dim, dim))

    size = float(np.max(np.abs(tokens))) * max(exponent_size(head) for head in drawn)
    many, mean = heads * walk(weights, transport), np.mean(values, axis=0)
    return {
        "one head": relative(walk(attention[0], constant(values[0])), outputs[0], size),
        "many heads": relative(many, together, size),
        "walk is Markov": relative(
            np.sum(weights, axis=1), np.ones(n), max(exponent_size(head) for head in drawn)
        ),
        "not scaled by h": relative(many / heads, together, size),
        "one transport for all edges": relative(
            heads * walk(weights, constant(mean)), together, size
        ),
        "transport transposed": relative(
            heads * walk(weights, np.swapaxes(transport, -1, -2)), together, size
        ),
        "transport not over its weights": relative(heads * walk(weights, weighted), together, size),
        "one head's transport transposed": relative(
            walk(attention[0], constant(values[0].T)), outputs[0], size
        ),
    }


def per_point_metrics(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """Scores of a metric that varies have a rank above the dimension of the points.

    Terms of one point alone are taken out by centring rows and columns; what a constant metric
    leaves, 2β x·Gy, has rank d. The residual is the singular value after the d-th over the first.
    """
    points = tokens[:, :1]

    def excess(metric: str, symmetrised: bool, centred: tuple[int, ...] = (0, 1)) -> float:
        score = PerPointMetric(((metric,),), symmetrised=symmetrised, periodic=False)
        scores = score(points, points, factor)
        for axis in centred:
            scores = scores - np.mean(scores, axis=axis, keepdims=True)
        values = np.linalg.svd(scores, compute_uv=False)
        return float(values[1] / values[0])

    gram = drawn_head(tokens, factor)
    values = np.linalg.svd(gram.scores(), compute_uv=False)
    varying = "3/2 + sin(u0)/2"
    return {
        "head of dimension d": float(values[HEAD_DIM] / values[0]),
        "constant metric": excess("3/2", True),
        "one-sided metric is a Gram matrix": excess(varying, False),
        "symmetrised metric is a Gram matrix": excess(varying, True),
        "terms of the key left in": excess("3/2", True, centred=(1,)),
        "head of dimension d has rank d - 1": float(values[HEAD_DIM - 1] / values[0]),
    }


def woodbury(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """(I + UUᵀ)⁻¹ = I - U(I + UᵀU)⁻¹Uᵀ as `PerPointMetric` has it, point by point.

    The product's inverse is held against that of NumPy, its scores, which never form G, against
    -β δᵀGδ with the G formed; relative to 1 + |U|².
    """
    points, root = tokens[:, :2], float(np.sqrt(factor))
    metric = PerPointMetric(
        factor=((f"{root!r}*sin(u0 + u1)",), (f"{root!r}*(1/5 + cos(u0))",)), periodic=False
    )
    x, y = points.T
    u = root * np.stack([np.sin(x + y), 0.2 + np.cos(x)], axis=-1)
    outer, one = u[:, :, None] * u[:, None, :], np.eye(2)
    square = np.sum(u * u, axis=-1)[:, None, None]
    formed, expected = one + outer, np.linalg.inv(one + outer)
    evaluate = sympy.lambdify(metric_coordinates(2), symbolic(metric.inverse), "numpy")
    found = np.stack([np.asarray(evaluate(*at), dtype=float) for at in points])
    size = 1 + float(np.max(square))
    delta = points[None] - points[:, None]
    scores = -factor * np.einsum("ija,iab,ijb->ij", delta, formed, delta)
    own = metric(points, points, factor)
    mean = 0.5 * (scores + scores.T)
    both = PerPointMetric(factor=metric.factor, symmetrised=True, periodic=False)
    return {
        "inverse": relative(found, expected, size),
        "scores": relative(own, scores),
        "symmetrised scores": relative(both(points, points, factor), mean),
        "$I - UU^T$": relative(one - outer, found, size),
        "$I + UU^T$ for $I + U^TU$": relative(one - outer @ found @ found, found, size),
        "sign of the correction": relative(one + outer / (1 + square), found, size),
        "$U^TU$ for $I + U^TU$": relative(one - outer / square, found, size),
        "$G$ of the key": relative(own, scores.T),
    }
