"""Residuals of exact identities of the walk that a head drives: its steady state and couplings.

Each function takes tokens X, shape (n, D), and a factor of the scores, and returns residuals by
name, as in `head_identities`.
"""

from __future__ import annotations

import numpy as np
import sympy
from scipy.special import logsumexp

from ..operators import (
    Component,
    MarkovOperator,
    ScoreOperator,
    bridge,
    cycle_affinities,
    dirichlet_parts,
    elimination_law,
    entropy_production,
    head_operator,
    key_difference,
    log_matrix,
    net_flux,
    query_difference,
    reversible_law,
    sinkhorn,
    time_reversal,
)
from ..scores import GeneralLink, Head
from ..scores.distance import squared_distances
from .head_identities import drawn_head, exponent_size, relative, transition

_SWEEPS = 2000


def log_asymmetry(log_coupling: np.ndarray) -> float:
    """Largest |log A_ij - log A_ji|."""
    return float(np.max(np.abs(log_coupling - log_coupling.T)))


def doob_reversibility(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """diag(Kh)⁻¹ K diag(h) with symmetric K is reversible for π ∝ h ⊙ Kh."""
    log_h = np.sin(2 * tokens[:, 0]) + tokens[:, 1]

    def asymmetry(member: str, own: float = 1.0, mass: float = 1.0, inside: float = 1.0) -> float:
        """With π ∝ h^own ⊙ (K h^inside)^mass."""
        head = drawn_head(tokens, factor, member)
        u, v, c = head.kernel()
        log_p = log_matrix(MarkovOperator([Component(u, v, c + log_h)], 0.5))
        log_law = own * log_h + mass * logsumexp(head.scores() + inside * log_h, axis=1)
        return log_asymmetry(log_law[:, None] + log_p) / exponent_size(head)

    return {
        "DMAP": asymmetry("DMAP"),
        "ATAP": asymmetry("ATAP"),
        "h omitted from π": asymmetry("DMAP", own=0.0),
        "h squared in π": asymmetry("ATAP", own=2.0),
        "Kh omitted from π": asymmetry("DMAP", mass=0.0),
        "K1 for Kh in π": asymmetry("ATAP", inside=0.0),
        "asymmetric K": asymmetry("ATTN"),
    }


def exact_links(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """a = w(y) - w(x) is the Doob transform h = e^w and carries no current; other links do."""
    exact = GeneralLink(f"{factor!r}*(sin(2*y0) + y1*y2 - sin(2*x0) - x1*x2)")
    around = GeneralLink(f"{factor!r}*(x0*y1 - x1*y0)")
    weight = exact.exact_weight
    assert weight is not None
    w = sympy.lambdify(sympy.symbols("x:3", real=True), weight)(*tokens.T[:3])
    exponents = 0.5 * squared_distances(tokens, tokens)
    size = 1 + float(np.max(exponents)) + 2 * float(np.max(np.abs(w)))
    linked, turning = (ScoreOperator(link, tokens, tokens, 0.5) for link in (exact, around))
    cycles = np.stack([np.roll(np.arange(len(tokens)), -k)[:4] for k in range(10)])
    still = np.zeros(len(cycles))

    def entropy(operator: MarkovOperator) -> float:
        return entropy_production(operator, elimination_law(transition(operator))) / size

    def affinities(operator: MarkovOperator) -> float:
        return relative(cycle_affinities(operator, cycles), still, size)

    def off(share: float) -> float:
        """P of the link less that of the Doob transform h = e^(share·w)."""
        doob = MarkovOperator([Component(tokens, tokens, share * w)], 0.5)
        return relative(log_matrix(linked), log_matrix(doob), size)

    return {
        "P of the Doob transform": off(1.0),
        "cycle affinities": affinities(linked),
        "entropy production": abs(entropy(linked)),
        "exact link without its weight": off(0.0),
        "sign of the weight": off(-1.0),
        "weight doubled": off(2.0),
        "circulating link: no affinity": affinities(turning),
        "circulating link: no entropy production": abs(entropy(turning)),
    }


def bridges(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """Equal marginals on a symmetric kernel: a symmetric coupling. Unequal ones: a - b flows."""
    points = drawn_head(tokens, factor, "DMAP").kernel()[0]
    a, b = (np.exp(0.5 * np.sin(tokens[:, k])) for k in (0, 1))
    a, b = a / np.sum(a), b / np.sum(b)
    equal = bridge(points, points, 0.5, a, a, tolerance=1e-15)
    unequal = bridge(points, points, 0.5, a, b, tolerance=1e-15).coupling()
    coupling = equal.coupling()
    kernel = -0.5 * np.sum((points[:, None] - points) ** 2, axis=-1)
    general = bridge(points, points, 0.5, a, a, symmetric=False, tolerance=1e-15).coupling()
    alternating = np.exp(alternating_scaling(kernel, np.log(a), np.log(a), start=tokens[:, 0]))
    size = float(np.max(a))
    current = np.sum(unequal - unequal.T, axis=1)
    flux = equal.operator.flux(a) @ points
    rows = a[:, None] * np.exp(kernel - logsumexp(kernel, axis=1, keepdims=True))
    directed = coupling_of(drawn_head(tokens, factor), a)
    return {
        "symmetric coupling": relative(coupling, coupling.T),
        "zero currents": relative(flux, np.zeros_like(flux), size * float(np.max(np.abs(points)))),
        "general solver too": relative(general, general.T),
        "alternating updates find it too": relative(coupling, alternating),
        "unequal marginals carry a - b": relative(current, a - b, size),
        "unequal: symmetric coupling": relative(unequal, unequal.T),
        "unequal: no transport": relative(current, np.zeros_like(a), size),
        "unequal marginals carry b - a": relative(current, b - a, size),
        "rows alone scaled": relative(rows, rows.T),
        "asymmetric kernel: symmetric coupling": relative(directed, directed.T),
    }


def alternating_scaling(
    log_kernel: np.ndarray,
    log_rows: np.ndarray,
    log_columns: np.ndarray,
    *,
    start: np.ndarray | float = 0.0,
    sweeps: int = _SWEEPS,
) -> np.ndarray:
    """Sinkhorn's alternating updates, dense, rows last: log of the coupling φ + log K + ψ.

    Parameters
    ----------
    log_kernel : ndarray, shape (n, n)
    log_rows, log_columns : ndarray, shape (n,)
        Logarithms of the marginals.
    start : ndarray or float
        φ before the first sweep.
    sweeps : int
        At most; it stops when φ changes by rounding only.
    """
    phi = np.zeros(len(log_kernel)) + start
    for _ in range(sweeps):
        psi = log_columns - logsumexp(log_kernel + phi[:, None], axis=0)
        old, phi = phi, log_rows - logsumexp(log_kernel + psi, axis=1)
        if np.ptp(phi - old) < 1e-15:
            break
    return phi[:, None] + log_kernel + psi


def coupling_of(head: Head, masses: np.ndarray) -> np.ndarray:
    """Sinkhorn's scaling of exp S with both marginals equal, by the solver of bridges.

    The weights of the keys that a head has beside its distance go into their potential.
    """
    u, v, _ = head.kernel()
    found = bridge(u, v, 0.5, masses, masses, symmetric=False, tolerance=1e-15)
    return found.coupling()


def sinkhorn_symmetry(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """The doubly stochastic scaling of a symmetric kernel is symmetric, of another one not.

    A⁺⁻ is the scaling of exp S, A⁻⁺ that of exp Sᵀ, and at one sweep rows-then-columns and
    columns-then-rows differ as well; carried on, the order of the two makes no difference.
    """
    ones = np.ones(len(tokens))
    head, mean = drawn_head(tokens, factor), drawn_head(tokens, factor, "ATAP")
    turned = Head(head.keys, head.queries)
    forward, back = coupling_of(head, ones), coupling_of(turned, ones)
    symmetric, scores = coupling_of(mean, ones), head.scores()
    points = drawn_head(tokens, factor, "DMAP").kernel()[0]
    log_u = sinkhorn(points, 0.5, self_loops=True, tolerance=1e-15).log_weights
    distance = -0.5 * squared_distances(points, points)
    rows_first = log_matrix(head_operator(head))
    rows_first = np.exp(rows_first - logsumexp(rows_first, axis=0))
    columns_first = np.exp(alternating_scaling(scores, 0 * ones, 0 * ones, sweeps=1))
    rows_alone = transition(head_operator(mean))
    return {
        "symmetric kernel": relative(symmetric, symmetric.T),
        "$A^{-+}$ is the transpose of $A^{+-}$": relative(back, forward.T),
        "symmetric solver": relative(
            np.exp(log_u[:, None] + distance + log_u),
            np.exp(alternating_scaling(distance, 0 * ones, 0 * ones)),
        ),
        "$A^{+-} = A^{-+}$": relative(back, forward),
        "$A^{+-}$ symmetric": relative(forward, forward.T),
        "one sweep in either order": relative(rows_first, columns_first),
        "rows alone scaled": relative(rows_alone, rows_alone.T),
        "mean of $A^{+-}$ and $A^{-+}$ for symmetric scores": relative(
            0.5 * (forward + back), symmetric
        ),
    }


def kolmogorov(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """Affinities are Σ s_ij - s_ji, zero for symmetric scores, blind to terms of one token."""
    n = len(tokens)
    rng = np.random.default_rng([3, n])
    cycles = np.stack([rng.choice(n, 5, replace=False) for _ in range(50)])
    after = np.roll(cycles, -1, axis=1)
    heads = {m: drawn_head(tokens, factor, m) for m in ("ATTN", "DMTN", "ATAP", "DMAP")}
    found = {m: cycle_affinities(head_operator(h), cycles) for m, h in heads.items()}
    size = {m: exponent_size(h) for m, h in heads.items()}
    attention = heads["ATTN"]
    expected = 2 * np.sum(attention.link(cycles, after), axis=1)
    u, v, c = attention.kernel()
    potential = 3 * np.sin(tokens[:, 0])
    weighted = cycle_affinities(MarkovOperator([Component(u, v, c + potential)], 0.5), cycles)
    forward = np.sum(log_matrix(head_operator(attention))[cycles, after], axis=1)
    seen = expected + np.sum(potential[cycles], axis=1)
    zero = np.zeros(len(cycles))
    return {
        "DMAP: zero": relative(found["DMAP"], zero, size["DMAP"]),
        "ATAP: zero": relative(found["ATAP"], zero, size["ATAP"]),
        "ATTN: from the link": relative(found["ATTN"], expected, size["ATTN"]),
        "DMTN: that of ATTN": relative(found["DMTN"], expected, size["DMTN"]),
        "site potentials": relative(weighted, expected, size["ATTN"]),
        "ATTN: zero": relative(found["ATTN"], zero, size["ATTN"]),
        "half the affinity": relative(found["ATTN"], 0.5 * expected, size["ATTN"]),
        "sign of the affinity": relative(found["ATTN"], -expected, size["ATTN"]),
        "site potentials seen": relative(weighted, seen, size["ATTN"]),
        "$P_{ji}$ dropped": relative(forward, expected, size["ATTN"]),
    }


def square_root_factors(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """½Σ(D_Q g)_ij(D_K f)_ij = ⟨g, (diag(Ā1) - A)f⟩, and π - Ā1 = ½Σ_j(√A_ij - √A_ji)² ≥ 0."""
    head = drawn_head(tokens, factor)
    p = transition(head_operator(head))
    law = elimination_law(p)
    n = len(law)
    f, g = np.random.default_rng([4, n]).standard_normal((2, n))

    def parts(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        a = weights[:, None] * p
        return (
            a,
            np.sum(np.sqrt(a * a.T), axis=1),
            0.5 * np.sum((np.sqrt(a) - np.sqrt(a.T)) ** 2, 1),
        )

    a, kept, squares = parts(law)
    d_k, d_q = key_difference(a, f), query_difference(a, g)
    form, size = g @ (kept * f - a @ f), float(np.abs(g) @ (kept * np.abs(f) + a @ np.abs(f)))
    _, kept_uniform, squares_uniform = parts(np.full(n, 1 / n))
    largest = exponent_size(head) * float(np.max(law))
    return {
        "factors": relative(0.5 * np.sum(d_q * d_k), form, size),
        "factors of the reversed walk": relative(
            0.5 * np.sum(key_difference(a, g) * query_difference(a, f)),
            f @ (kept * g - a @ g),
            size,
        ),
        "deficit": relative(law - kept, squares, largest),
        "deficit not negative": float(max(0.0, np.max(kept - law))) / largest,
        "½ dropped": relative(np.sum(d_q * d_k), form, size),
        "$D_K$ on both sides": relative(0.5 * np.sum(key_difference(a, g) * d_k), form, size),
        r"$\pi$ for $\bar{A}1$": relative(0.5 * np.sum(d_q * d_k), g @ (law * f - a @ f), size),
        "deficit without stationarity": relative(1 / n - kept_uniform, squares_uniform, 1 / n),
    }


def steady_currents(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """Entropy production without the dense matrix; no net flux out of a set; the reversed walk.

    In a steady state the terms of single tokens cancel: the link alone, 2 Σ A_ij a_ij, is produced.
    """
    head = drawn_head(tokens, factor)
    operator = head_operator(head)
    law = elimination_law(transition(operator))
    log_a = np.log(law)[:, None] + log_matrix(operator)
    a, ratio = np.exp(log_a), log_a - log_a.T
    size = exponent_size(head) * float(np.sum(a * np.abs(ratio)))
    dense = 0.5 * float(np.sum((a - a.T) * ratio))
    found = entropy_production(operator, law)
    pairs = np.indices(a.shape).reshape(2, -1)
    link = float(np.sum(a.ravel() * head.link(*pairs)))
    symmetric = drawn_head(tokens, factor, "ATAP")
    symmetric_law = elimination_law(transition(head_operator(symmetric)))
    reverse = time_reversal(operator, law) @ np.eye(len(law))
    inside, largest = tokens[:, 0] > 0, exponent_size(head) * float(np.max(law))
    through = float(np.sum(a[np.ix_(inside, ~inside)]))
    return {
        "entropy production": abs(found - dense) / size,
        "twice the mean link": abs(found - 2 * link) / size,
        "ATAP produces none": abs(entropy_production(head_operator(symmetric), symmetric_law))
        / exponent_size(symmetric),
        "flux out of a set": abs(net_flux(operator, law, inside)) / largest,
        "reversed walk": relative(law[:, None] * reverse, a.T, largest),
        "½ dropped": abs(found - 2 * dense) / size,
        "the mean link once": abs(found - link) / size,
        "ATTN produces none": abs(found) / size,
        "flux one way only": through / largest,
        "walk is its reverse": relative(law[:, None] * reverse, a, largest),
    }


def energy(tokens: np.ndarray, factor: float) -> dict[str, float]:
    """⟨f|I-P|f⟩_π (1ᵀp) = (1ᵀp) Σ λ_k|c_k|² = ½ΣK_ij(f_i-f_j)², p the degrees of symmetric K."""
    operator = head_operator(drawn_head(tokens, factor, "DMAP"))
    p = transition(operator)
    mass = float(np.sum(np.exp(operator.log_degrees)))
    law = reversible_law(operator)
    f = np.sin(tokens[:, 0]) + tokens[:, 1]
    root = np.sqrt(law)
    values, vectors = np.linalg.eigh(root[:, None] * (np.eye(len(law)) - p) / root)
    spectral = mass * np.sum(values * (vectors.T @ (root * f)) ** 2)
    hbar = 0.25 / operator.beta  # 4ħβ = 1
    increments = operator.generator(f, hbar)
    form = mass * float(law @ (f * increments))
    parts = mass * float(np.sum(dirichlet_parts(operator, f, hbar)))
    squares = mass * float(law @ np.sum(p * (f[:, None] - f) ** 2, axis=1))
    uniform = mass * float(np.mean(f * increments))
    rootless = mass * np.sum(values * (vectors.T @ f) ** 2)
    size = mass * float(law @ f**2)
    return {
        "spectral sum": abs(form - spectral) / size,
        "sum over bonds": abs(form - 0.5 * squares) / size,
        "energy of the kernel's parts": abs(parts - spectral) / size,
        "½ dropped": abs(form - squares) / size,
        "law not normalised": abs(mass * form - spectral) / size,
        "uniform law": abs(uniform - spectral) / size,
        "law omitted from $c_k$": abs(form - rootless) / size,
    }
