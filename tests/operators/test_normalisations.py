"""Weights from the sample: exact identities at finite N, and what must be refused."""

import numpy as np
import pytest
from scipy.special import iv

from convergence.errors import InvalidInputError, NoMassError
from convergence.operators import (
    Component,
    MarkovOperator,
    coifman_lafon,
    generator,
    log_row_sums,
    reversible_law,
    sample_log_weights,
    sinkhorn,
    stationary,
    streamed_generator,
    target_measure,
)
from convergence.scores import CoifmanLafon, Distance, KeyPotential, Sinkhorn, TargetMeasure
from convergence.spaces import Circle, Polynomial, Sphere

POINTS = Sphere(2, 1.0, (0, 0, 1)).sample(300, np.random.default_rng(4))
BETA = 15.0
PSI = Polynomial("0.4*x0 - x1*x2", 3)
NORMALISATIONS = [
    CoifmanLafon(0.5),
    CoifmanLafon(1.0),
    Sinkhorn(),
    TargetMeasure(PSI),
    KeyPotential(PSI),
]


def kernel(points, beta, self_loops=True):
    exponents = -beta * np.sum((points[:, None] - points) ** 2, axis=-1)
    if not self_loops:
        np.fill_diagonal(exponents, -np.inf)
    return np.exp(exponents)


def rows_to_one(matrix):
    return matrix / matrix.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("alpha", [-2.0, 0.0, 0.5, 1.0, 3.0])
def test_alpha_two_sided_one_sided_and_as_a_doob_transform(alpha, self_loops):
    """All three are the same P, and α = 0 is the random walk."""
    k = kernel(POINTS, BETA, self_loops)
    q = k.sum(axis=1)
    score = Distance(normalisation=CoifmanLafon(alpha))
    got = MarkovOperator.of_sample(POINTS, score, BETA, self_loops=self_loops).toarray()
    two_sided = rows_to_one(k / np.outer(q**alpha, q**alpha))
    np.testing.assert_allclose(got, two_sided, rtol=1e-11, atol=1e-15)
    walk, h = rows_to_one(k), q**-alpha
    doob = walk * h / (walk @ h)[:, None]
    np.testing.assert_allclose(got, doob, rtol=1e-11, atol=1e-15)
    if alpha == 0:
        np.testing.assert_allclose(got, walk, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("alpha", [-1e4, -100.0, 1e-300, 100.0, 1e4])
def test_extreme_alpha_neither_overflows_nor_loses_mass(alpha):
    operator = MarkovOperator.of_sample(
        POINTS, Distance(normalisation=CoifmanLafon(alpha)), BETA, self_loops=True
    )
    np.testing.assert_allclose(operator @ np.ones(300), 1, rtol=0, atol=1e-13)
    log_q = np.log(kernel(POINTS, BETA).sum(axis=1))
    np.testing.assert_allclose(operator.components_[0].log_weights, -alpha * log_q, rtol=1e-12)


@pytest.mark.parametrize("normalisation", NORMALISATIONS, ids=repr)
@pytest.mark.parametrize("self_loops", [True, False])
def test_constants_are_kept_and_the_walk_is_reversible(normalisation, self_loops):
    score = Distance(normalisation=normalisation)
    operator = MarkovOperator.of_sample(POINTS, score, BETA, self_loops=self_loops)
    np.testing.assert_allclose(operator @ np.ones(300), 1, rtol=0, atol=1e-13)
    joint = stationary(operator).law[:, None] * operator.toarray()
    np.testing.assert_allclose(joint, joint.T, rtol=1e-10, atol=1e-18)


def test_self_loops_are_a_choice():
    with_loops, without = (log_row_sums(POINTS, BETA, self_loops=c) for c in (True, False))
    np.testing.assert_allclose(np.exp(with_loops) - np.exp(without), 1, rtol=1e-11)


def test_target_measure_is_its_formula():
    log_target = PSI(POINTS)
    c = target_measure(POINTS, BETA, log_target, self_loops=True)
    expected = np.exp(0.5 * log_target) / kernel(POINTS, BETA).sum(axis=1)
    np.testing.assert_allclose(np.exp(c), expected, rtol=1e-12)


def quantiles(n, slope):
    """Angles with density ∝ 1 + slope cos θ, evenly spread in probability."""
    theta = np.linspace(0, 2 * np.pi, 200_001)
    cdf = (theta + slope * np.sin(theta)) / (2 * np.pi)
    return np.interp((np.arange(n) + 0.5) / n, cdf, theta)


@pytest.mark.parametrize(
    ("normalisation", "law"),
    [
        # stationary density ∝ (ρh)²: mean of cos θ for ρ ∝ 1 + ½ cos θ
        (CoifmanLafon(0.0), 1 / 2.25),
        (CoifmanLafon(0.5), 0.25),
        (CoifmanLafon(1.0), 0.0),
        (Sinkhorn(), 0.25),
        (TargetMeasure(Polynomial("-0.8*x0", 2)), -iv(1, 0.8) / iv(0, 0.8)),
    ],
    ids=repr,
)
def test_stationary_law_of_each_normalisation(normalisation, law):
    """Deterministic points; what is left is the bias, of order 1/β (Sinkhorn has none)."""
    points, score = Circle().at(quantiles(2000, 0.5)), Distance(normalisation=normalisation)
    errors = []
    for beta in (50.0, 100.0):
        operator = MarkovOperator.of_sample(points, score, beta, self_loops=True)
        errors.append(float(reversible_law(operator) @ points[:, 0]) - law)
    assert abs(errors[1]) < 0.5 / 100
    if isinstance(normalisation, Sinkhorn):
        np.testing.assert_allclose(errors, 0, atol=1e-6)
    else:
        assert abs(2 * errors[1] - errors[0]) < 2e-4  # Richardson's extrapolation in 1/β


@pytest.mark.parametrize("normalisation", NORMALISATIONS, ids=repr)
def test_estimate_outside_the_sample(normalisation):
    """The explicit weights in the generator, against the formula."""
    score = Distance(() if normalisation == Sinkhorn() else (0.2, 0.3, -0.7), normalisation)
    c = sample_log_weights(POINTS, score, BETA, self_loops=False)
    x, hbar = Sphere(2).candidates()[:5], 0.7
    values, target_values = POINTS[:, :2], x[:, :2]
    got = generator(
        POINTS, values, score, BETA, hbar, targets=x, target_values=target_values, log_weights=c
    )
    h = {
        CoifmanLafon(0.5): lambda q: q**-0.5,
        CoifmanLafon(1.0): lambda q: 1 / q,
        Sinkhorn(): lambda q: np.exp(sinkhorn(POINTS, BETA, self_loops=False).log_weights),
        TargetMeasure(PSI): lambda q: np.exp(0.5 * PSI(POINTS)) / q,
        KeyPotential(PSI): lambda q: np.exp(PSI(POINTS)),
    }[normalisation](kernel(POINTS, BETA, False).sum(axis=1))
    h = h * np.exp(POINTS @ score.slope(3))
    k = np.exp(-BETA * np.sum((x[:, None] - POINTS) ** 2, axis=-1)) * h
    expected = 4 * hbar * BETA * (target_values - rows_to_one(k) @ values)
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)
    at_sample = generator(POINTS, values, score, BETA, hbar, self_loops=False, log_weights=c)
    operator = MarkovOperator.of_sample(POINTS, score, BETA, self_loops=False)
    np.testing.assert_allclose(at_sample, operator.generator(values, hbar), rtol=1e-12, atol=1e-12)


def test_a_key_potential_needs_no_sample():
    """A quadratic Doob weight streams, and equals its explicit weights."""
    score, x = Distance(normalisation=KeyPotential(PSI)), Sphere(2).candidates()[:3]
    at = {"targets": x, "target_values": PSI(x)}
    chunks = [(part, PSI(part)) for part in np.split(POINTS, 3)]
    got = streamed_generator(chunks, score, BETA, **at)
    expected = generator(POINTS, PSI(POINTS), Distance(), BETA, **at, log_weights=PSI(POINTS))
    np.testing.assert_allclose(got, expected, rtol=1e-11)


@pytest.mark.parametrize("normalisation", [CoifmanLafon(1.0), Sinkhorn(), TargetMeasure(PSI)])
def test_weights_of_the_sample_are_never_left_out_silently(normalisation):
    score, x = Distance(normalisation=normalisation), POINTS[:2]
    with pytest.raises(InvalidInputError, match="sample_log_weights"):
        generator(POINTS, POINTS, score, BETA, targets=x, target_values=x)
    with pytest.raises(InvalidInputError, match="sample_log_weights"):
        generator(POINTS, POINTS, score, BETA, self_loops=True)
    with pytest.raises(InvalidInputError, match="sample_log_weights"):
        streamed_generator([(POINTS, POINTS)], score, BETA, targets=x, target_values=x)


def test_duplicates():
    """Ten equal points beside a pair: exact values, whatever the weights."""
    points = np.concatenate([np.zeros((10, 1)), np.ones((2, 1))])
    c = coifman_lafon(points, 1e6, 1.0, self_loops=True)
    np.testing.assert_allclose(np.exp(-c), np.repeat([10.0, 2.0], [10, 2]), rtol=1e-14)
    got = MarkovOperator([Component(points, points, c)], 1e6).toarray()
    np.testing.assert_allclose(got[0], np.repeat([0.1, 0.0], [10, 2]), rtol=1e-14)


def test_refusals():
    for call in (
        lambda: CoifmanLafon(np.nan),
        lambda: coifman_lafon(POINTS, BETA, np.inf, self_loops=True),
        lambda: target_measure(POINTS, BETA, np.zeros(3), self_loops=True),
        lambda: target_measure(POINTS, BETA, np.full(300, -np.inf), self_loops=True),
        lambda: Distance((1.0, 0.0, 0.0), Sinkhorn()),
        lambda: sample_log_weights(POINTS, Distance((), "alpha"), BETA, self_loops=True),
    ):
        with pytest.raises(InvalidInputError):
            call()
    with pytest.raises(NoMassError, match="rows 0"):
        coifman_lafon(np.array([[0.0], [9.0]]), 1e4, 1.0, self_loops=False)
