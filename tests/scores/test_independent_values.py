"""Every public score against numbers that share no code with it.

An error in a score changes an estimate and its reference alike, so that no claim sees it. Here
kernels are written out by hand, in the angles of a circle where that can be; P is held against a
plain double loop, the expectation of 4β(f - Pf) against a trapezoid sum over 512 angles, and the
limit against its formula.
"""

import types
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy import special

from convergence import limits, scores
from convergence.operators import MarkovOperator, ScoreOperator
from convergence.scores import (
    RANDOM_WALK,
    CoifmanLafon,
    Distance,
    GeneralLink,
    IndefiniteHead,
    Jump,
    KeyPotential,
    Mixture,
    Part,
    PerPointMetric,
    Sinkhorn,
    TargetMeasure,
    harmonic_link,
    killing_link,
)
from convergence.spaces import Circle, Ellipse, FlatTorus, Sphere

HELD = {
    "CoifmanLafon", "Distance", "GeneralLink", "IndefiniteHead", "Jump", "KeyPotential", "Mixture",
    "Part", "PerPointMetric", "RANDOM_WALK", "Sinkhorn", "TargetMeasure", "harmonic_link",
    "killing_link",
}  # fmt: skip
# in test_independent_heads.py
HEADS = {"CONVENTIONS", "Causal", "CausalScore", "Head", "MEMBERS", "ProductScore", "beta_from"}
PI, RNG = np.pi, np.random.default_rng(40)
KAPPA, MEAN = 0.9, 0.4
RING = Circle(KAPPA, MEAN)
CURVE = Ellipse(1, 1, "0.9*cos(u - 0.4)")  # the same in its angle
GRID = 2 * PI * np.arange(512) / 512
X = np.array([0.3, 1.9, -2.2])  # targets
HBAR = 0.7


def test_every_public_score_has_an_independent_value():
    aliases = {n for n in scores.__all__ if isinstance(getattr(scores, n), types.UnionType)}
    assert set(scores.__all__) - aliases == HELD | HEADS


def f(t):
    return np.cos(2 * t + 0.7)


def slope(t):
    return -2 * np.sin(2 * t + 0.7)


def log_rho(t):
    return KAPPA * np.cos(t - MEAN) - np.log(2 * PI * special.i0(KAPPA))


def rho_slope(t):
    """(log ρ)'."""
    return -KAPPA * np.sin(t - MEAN)


def chord(x, y):
    """|x - y|² on the unit circle."""
    return 4 * np.sin((y - x) / 2) ** 2


def wrapped(x, y):
    return (y - x + PI) % (2 * PI) - PI


def diffusion(drift):
    """-f'' - 2 (drift) f', for ħ = 1."""
    return lambda t: 4 * f(t) - 2 * drift(t) * slope(t)


@dataclass(frozen=True)
class Case:
    """A score on the ring, its log-kernel(β, x, y) in angles, weights of the keys included."""

    score: object
    log_kernel: object
    limit: object
    space: object = RING


def doob(t):
    return 0.5 * np.cos(t) - 0.8 * np.sin(t)


def doob_slope(t):
    return -0.5 * np.sin(t) - 0.8 * np.cos(t)


def turn(t):
    """One over four of a turn ahead."""
    return t + PI / 2


QUARTER = ((0.0, -1.0), (1.0, 0.0))
RATE = "3/2 + x0/2"


def rate(t):
    return 1.5 + np.cos(t) / 2


def sharp_jump(gamma):
    def log_kernel(beta, x, y):
        jump = np.log(rate(x) / (4 * beta**gamma)) - beta * chord(turn(x), y)
        return np.logaddexp(-beta * chord(x, y), jump) + doob(y)

    return log_kernel


def wide_jump(beta, x, y):
    """With Z(β) = ∫ e^{-β|x - y|²} dθ = 2π e^{-2β} I_0(2β)."""
    width = special.ive(0, 2 * beta) / special.ive(0, 3.0)
    jump = np.log(2.0 / (4 * beta) * width) - 1.5 * chord(turn(x), y)
    return np.logaddexp(-beta * chord(x, y), jump)


def sharp_rate(x):
    weights = log_rho(turn(x)) + doob(turn(x)) - log_rho(x) - doob(x)
    return rate(x) * np.exp(weights) * (f(x) - f(turn(x)))


def wide_rate(x):
    y = GRID
    law = np.exp(3.0 * np.cos(y - turn(x)[:, None])) / (2 * PI * special.i0(3.0))
    gain = (f(x)[:, None] - f(y)) * np.exp(log_rho(y) - log_rho(x)[:, None])
    return 2.0 * np.sum(law * gain, axis=1) * 2 * PI / len(y)


def head(beta, x, y):
    gap, d = np.log(4 * beta / 1.5) / beta, y - x
    return beta * (np.cos(2 * d) + (0.2 + gap / 2) * np.cos(d) - 0.2 * np.cos(3 * d))


def metric(t):
    return 1.5 + 0.6 * np.sin(t)


def metric_slope(t):
    return 0.6 * np.cos(t)


def laplace_beltrami(t):
    """-(f''/G - G'f'/2G²) - 2 (log(q/√G))' f'/G."""
    g, s = metric(t), metric_slope(t)
    second = -4 * f(t) / g - s * slope(t) / (2 * g**2)
    return -second - 2 * (rho_slope(t) - s / (2 * g)) * slope(t) / g


def log_degree(beta):
    """log ∫ K(x, y) ρ(y) dy on the grid."""
    logs = -beta * chord(GRID[:, None], GRID) + log_rho(GRID)
    return special.logsumexp(logs, axis=1) + np.log(2 * PI / len(GRID))


def marginal(t):
    return np.sin(t) / 2 + np.cos(2 * t) / 4


def marginal_slope(t):
    return np.cos(t) / 2 - np.sin(2 * t) / 2


LOG_MARGINAL = CURVE.function("sin(u)/2 + cos(2*u)/4")


def log_sinkhorn(beta, log_a):
    """log u of u Ku = a, by the damped iteration on the grid."""
    logs = -beta * chord(GRID[:, None], GRID) + log_rho(GRID) + np.log(2 * PI / len(GRID))
    u = np.zeros(len(GRID))
    for _ in range(60):
        u += 0.5 * (log_a(GRID) - u - special.logsumexp(logs + u, axis=1))
    return u


def weighted(log_h):
    """The plain kernel with a weight, of one β, on the keys of the grid."""
    return lambda beta, x, y: -beta * chord(x, y) + log_h(beta)


def normalised(normalisation, log_h, drift):
    return Case(Distance(normalisation=normalisation), weighted(log_h), diffusion(drift), CURVE)


CASES = {
    "random walk": Case(
        Distance(normalisation=RANDOM_WALK), lambda b, x, y: -b * chord(x, y), diffusion(rho_slope)
    ),
    "Doob weight and link": Case(
        Distance((0.5, -0.8), link=harmonic_link([1.1])),
        lambda b, x, y: -b * chord(x, y) + 1.1 * np.sin(y - x) + doob(y),
        diffusion(lambda t: rho_slope(t) + doob_slope(t) + 1.1),
    ),
    "general link": Case(
        GeneralLink("(x0*y1 - x1*y0)*(1 + x0 + y0)"),
        lambda b, x, y: -b * chord(x, y) + np.sin(y - x) * (1 + np.cos(x) + np.cos(y)),
        diffusion(lambda t: rho_slope(t) + 1 + 2 * np.cos(t)),
        CURVE,
    ),
    "sharp jumps": Case(
        Mixture(RING, Distance((0.5, -0.8)), (Jump(RING.polynomial(RATE), QUARTER),)),
        sharp_jump(1.0),
        lambda t: diffusion(lambda s: rho_slope(s) + doob_slope(s))(t) + sharp_rate(t),
    ),
    "rare jumps": Case(
        Mixture(RING, Distance((0.5, -0.8)), (Jump(RING.polynomial(RATE), QUARTER, exponent=1.5),)),
        sharp_jump(1.5),
        None,  # no finite rate
    ),
    "wide jumps": Case(
        Mixture(RING, Distance(), (Jump(2.0, QUARTER, beta=1.5),)),
        wide_jump,
        lambda t: diffusion(rho_slope)(t) + wide_rate(t),
    ),
    "indefinite head": Case(
        IndefiniteHead(1.0, 0.2, 1.5),
        head,
        # κ₀ = 2.4, κ_π = 5.6; e^{2iθ} is the same at the far maximum
        lambda t: 2 * 4 / 2.4 * f(t),
        Circle(),
    ),
    "metric at the query": Case(
        PerPointMetric((("3/2 + 3/5*sin(u0)",),)),
        lambda b, x, y: -b * metric(x) * wrapped(x, y) ** 2,
        lambda t: diffusion(rho_slope)(t) / metric(t),
    ),
    "metric at both": Case(
        PerPointMetric((("3/2 + 3/5*sin(u0)",),), symmetrised=True),
        lambda b, x, y: -b * (metric(x) + metric(y)) / 2 * wrapped(x, y) ** 2,
        laplace_beltrami,
    ),
    "α = 0.6": normalised(
        CoifmanLafon(0.6), lambda b: -0.6 * log_degree(b), lambda t: 0.4 * rho_slope(t)
    ),
    "Sinkhorn": normalised(
        Sinkhorn(), lambda b: log_sinkhorn(b, np.zeros_like), lambda t: 0.5 * rho_slope(t)
    ),
    "bridge": normalised(
        Sinkhorn(LOG_MARGINAL),
        lambda b: log_sinkhorn(b, marginal),
        lambda t: 0.5 * (rho_slope(t) + marginal_slope(t)),
    ),
    "target": normalised(
        TargetMeasure(LOG_MARGINAL),
        lambda b: 0.5 * marginal(GRID) - log_degree(b),
        lambda t: 0.5 * marginal_slope(t),
    ),
    "key potential": normalised(
        KeyPotential(LOG_MARGINAL),
        lambda b: marginal(GRID),
        lambda t: rho_slope(t) + marginal_slope(t),
    ),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def places(case):
    """The targets as points of the space, and f as a function of it."""
    if isinstance(case.space, Circle):
        return np.stack([np.cos(X), np.sin(X)], axis=1), case.space.fourier(2, 0.7)
    return X[:, None], case.space.function("cos(2*u + 7/10)")


@every_case
def test_expectations(case):
    """4ħβ(f - Pf), P(x, dy) ∝ K(x, y) ρ(y) dy: to the rounding of 4β over a few hundred terms."""
    beta = 9.0
    density = 0 if case.space == Circle() else log_rho(GRID)
    logs = case.log_kernel(beta, X[:, None], GRID) + density
    weights = np.exp(logs - np.max(logs, axis=1, keepdims=True))
    increments = f(GRID) - f(X)[:, None]
    expected = -4 * HBAR * beta * np.sum(weights * increments, axis=1) / np.sum(weights, axis=1)
    x, function = places(case)
    found = limits.expectation(case.space, case.score, function, x, beta, HBAR)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)


@every_case
def test_limits(case):
    if case.limit is None:
        return
    x, function = places(case)
    found = limits.generator(case.space, case.score, function, x, HBAR)
    np.testing.assert_allclose(found, HBAR * case.limit(X), rtol=1e-12, atol=1e-12)


def loop(log_kernel, queries, keys, beta):
    """P by a double loop."""
    logs = np.array([[log_kernel(beta, x, y) for y in keys] for x in queries])
    kernel = np.exp(logs - np.max(logs, axis=1, keepdims=True))
    return kernel / np.sum(kernel, axis=1, keepdims=True)


WITHOUT_SAMPLE = {
    name: case
    for name, case in CASES.items()
    if not (isinstance(case.score, Distance) and case.space == CURVE)
}


@pytest.mark.parametrize("case", WITHOUT_SAMPLE.values(), ids=WITHOUT_SAMPLE)
def test_operators(case):
    """On points of the circle, self-loops and all."""
    theta, beta = RNG.uniform(-PI, PI, 14), 3.0
    points = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    if callable(case.score):
        found = ScoreOperator(case.score, points, points, beta)
    else:
        found = MarkovOperator.of_sample(points, case.score, beta, self_loops=True)
    expected = loop(case.log_kernel, theta, theta, beta)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-11, atol=1e-14)


def test_links_in_the_plane_and_in_space():
    """c sin(θ' - θ) on circles of other radii; (ω×x)·y; both with their one-forms by hand."""
    a, b, radius = 0.4, -1.3, 0.7
    x, y = (radius * np.array([np.cos(t), np.sin(t)]) for t in (a, b))
    score = Distance(link=harmonic_link([0.8], [radius]))
    points = np.stack([x, y])
    found = MarkovOperator.of_sample(points, score, 2.0, self_loops=True).toarray()
    odds = np.exp(-2 * radius**2 * chord(a, b) + 0.8 * np.sin(b - a))
    assert found[0, 1] / found[0, 0] == pytest.approx(odds, rel=1e-13)
    # c = c dθ: along the unit tangent c/R
    assert score.one_form(x) @ [-np.sin(a), np.cos(a)] == pytest.approx(0.8 / radius, rel=1e-13)
    torus = FlatTorus((Circle(), Circle(radius=radius)))
    mode = torus.fourier((0, 1), (0.0, 0.2))
    at = np.array([1.0, 0.0, *x])
    form = limits.generator(
        torus, Distance(link=harmonic_link([0.5, 0.8], [1.0, radius])), mode, at
    )
    along = np.cos(a + 0.2) / radius**2 + 2 * 0.8 * np.sin(a + 0.2) / radius**2
    assert form == pytest.approx(along, rel=1e-12)
    omega = np.array([0.3, -0.5, 0.9])
    u, v = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])
    turning = Distance(link=killing_link(omega))
    pair = MarkovOperator.of_sample(np.stack([u, v]), turning, 1.0, self_loops=True).toarray()
    assert pair[0, 1] / pair[0, 0] == pytest.approx(np.exp(-2 + np.cross(omega, u) @ v), rel=1e-13)
    np.testing.assert_allclose(turning.one_form(u), np.cross(omega, u), atol=1e-15)


def test_a_killing_field_on_the_sphere():
    """By a tensor rule over the sphere: expectation; and the limit -Δf - 2(ω×x)·∇f."""
    omega, x, beta = np.array([0.3, -0.5, 0.9]), np.array([0.6, 0.0, 0.8]), 5.0
    z, w = leggauss(80)
    v = 2 * PI * np.arange(160) / 160
    r = np.sqrt(1 - z**2)[:, None]
    y = np.stack([r * np.cos(v), r * np.sin(v), np.broadcast_to(z[:, None], (80, 160))], axis=-1)
    weights = w[:, None] * np.exp(-beta * np.sum((y - x) ** 2, -1) + y @ np.cross(omega, x))
    values = y[..., 0] * y[..., 1] - x[0] * x[1]
    expected = -4 * beta * np.sum(weights * values) / np.sum(weights)
    space, score = Sphere(2), Distance(link=killing_link(omega))
    g = space.polynomial("x0*x1")
    assert limits.expectation(space, score, g, x, beta) == pytest.approx(expected, rel=1e-11)
    limit = 6 * x[0] * x[1] - 2 * np.cross(omega, x) @ [x[1], x[0], 0]
    assert limits.generator(space, score, g, x) == pytest.approx(limit, rel=1e-13)


def test_parts_are_their_kernels():
    """A mixture's parts in ambient coordinates: a link with its own row terms, then the jump."""
    point, key, beta = np.array([0.6, 0.8]), np.array([-1.0, 0.3]), 2.0
    score = Mixture(RING, Distance(link=harmonic_link([0.8])), (Jump(1.5, QUARTER),))
    local, jump = (part.log_kernel(key) for part in score.parts(point, beta))
    skew = 0.8 * (point[0] * key[1] - point[1] * key[0])
    assert local == pytest.approx(-beta * np.sum((point - key) ** 2) + skew, rel=1e-13)
    there = np.array([-0.8, 0.6])
    expected = np.log(1.5 / 8) - beta * np.sum((there - key) ** 2)
    assert jump == pytest.approx(expected, rel=1e-13)
    plain = Part(point, beta, 0.25)
    assert plain.log_kernel(key) == pytest.approx(0.25 - beta * np.sum((point - key) ** 2))
