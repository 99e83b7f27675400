"""Sampled mixtures against dense sums: operator, parts, energies, several steps."""

from dataclasses import replace

import numpy as np
import pytest

from convergence import limits
from convergence.errors import InvalidInputError, NoMassError
from convergence.operators import (
    MarkovOperator,
    dirichlet_parts,
    generator,
    stationary,
    streamed_parts,
    walk_density,
)
from convergence.scores import Distance, IndefiniteHead, Jump, KeyPotential, Mixture, harmonic_link
from convergence.spaces import Circle

ring = Circle(kappa=0.5)
POINTS = ring.sample(300, np.random.default_rng(3))
TARGETS = ring.at(np.array([0.2, 2.0]))
BETA = 12.0
QUARTER, ANTIPODE = ((0.0, -1.0), (1.0, 0.0)), ((-1.0, 0.0), (0.0, -1.0))
RATE = ring.polynomial("3/2 + x0")
DIRECTED = Mixture(
    ring,
    Distance((0.3, -0.2), link=harmonic_link([0.8])),
    (Jump(RATE, QUARTER, beta=1.5), Jump(0.7, ANTIPODE)),
)
SYMMETRIC = Mixture(ring, Distance((0.3, -0.2)), (Jump(1.5, ANTIPODE),))


def dense_parts(score, x, y):
    """K_m h of all pairs."""
    weights = score.log_weights(y)
    return np.stack(
        [
            np.exp(
                np.reshape(p.log_weight, (-1, 1))
                - p.beta * np.sum((p.queries[:, None] - score.keys(y)) ** 2, axis=-1)
                + (0.0 if weights is None else weights)
            )
            for p in score.parts(x, BETA)
        ]
    )


@pytest.mark.parametrize("loops", [True, False])
@pytest.mark.parametrize("score", [DIRECTED, SYMMETRIC], ids=["directed", "symmetric"])
def test_operator_of_a_mixture(score, loops):
    kernel = np.sum(dense_parts(score, POINTS, POINTS), axis=0)
    if not loops:
        np.fill_diagonal(kernel, 0)
    expected = kernel / kernel.sum(axis=1, keepdims=True)
    operator = MarkovOperator.of_sample(POINTS, score, BETA, self_loops=loops)
    np.testing.assert_allclose(operator.toarray(), expected, atol=1e-14)
    np.testing.assert_allclose(operator @ np.ones(300), 1, rtol=1e-13)
    w = np.random.default_rng(0).random(300)
    np.testing.assert_allclose(operator.T @ w, expected.T @ w, rtol=1e-12)


def test_parts_and_generator_at_targets():
    parts = dense_parts(DIRECTED, TARGETS, POINTS)
    values, centers = np.sin(3 * POINTS), np.sin(3 * TARGETS)
    chunks = [(c, np.sin(3 * c)) for c in np.array_split(POINTS, 4)]
    log_masses, means = streamed_parts(
        chunks, DIRECTED, BETA, targets=TARGETS, target_values=centers
    )
    np.testing.assert_allclose(np.exp(log_masses).T, parts.sum(axis=2), rtol=1e-12)
    expected = np.einsum("mtn,ntf->tmf", parts, values[:, None] - centers)
    np.testing.assert_allclose(means, expected / parts.sum(axis=2).T[:, :, None], atol=1e-13)
    found = generator(POINTS, values, DIRECTED, BETA, 0.7, targets=TARGETS, target_values=centers)
    whole = expected.sum(axis=1) / parts.sum(axis=(0, 2))[:, None]
    np.testing.assert_allclose(found, -4 * 0.7 * BETA * whole, rtol=1e-11)


def test_indefinite_head_is_its_score():
    head = IndefiniteHead(1.0, 0.2, 1.5)
    angles = ring.angle(POINTS)
    delta = angles - ring.angle(TARGETS)[:, None]
    gap = np.log(4 * BETA / 1.5) / BETA
    score = np.cos(2 * delta) + (0.2 + gap / 2) * np.cos(delta) - 0.2 * np.cos(3 * delta)
    weights = np.exp(BETA * score)
    weights /= weights.sum(axis=1, keepdims=True)
    f, at = POINTS[:, 0], TARGETS[:, 0]
    found = generator(POINTS, f, head, BETA, targets=TARGETS, target_values=at)
    np.testing.assert_allclose(found, 4 * BETA * (at - weights @ f), atol=1e-11)
    operator = MarkovOperator.of_sample(POINTS, head, BETA, self_loops=True)
    np.testing.assert_allclose(operator @ np.ones(300), 1, rtol=1e-13)
    delta = angles - angles[:, None]
    whole = np.exp(
        BETA * (np.cos(2 * delta) + (0.2 + gap / 2) * np.cos(delta) - 0.2 * np.cos(3 * delta))
    )
    np.testing.assert_allclose(
        operator.toarray(), whole / whole.sum(axis=1, keepdims=True), atol=1e-13
    )


@pytest.mark.parametrize("loops", [True, False])
def test_energies_of_a_symmetric_mixture(loops):
    f = np.sin(2 * POINTS[:, 0]) + POINTS[:, 1]
    parts = dense_parts(SYMMETRIC, POINTS, POINTS)
    if not loops:
        parts *= 1 - np.eye(300)
    parts *= np.exp(SYMMETRIC.log_weights(POINTS))[:, None]
    np.testing.assert_allclose(parts[1], parts[1].T, rtol=1e-9, atol=1e-18)
    squares = (f[:, None] - f) ** 2
    expected = 2 * 0.7 * BETA * np.sum(parts * squares, axis=(1, 2)) / np.sum(parts)
    operator = MarkovOperator.of_sample(POINTS, SYMMETRIC, BETA, self_loops=loops)
    found = dirichlet_parts(operator, f, 0.7)
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    law = np.sum(parts, axis=(0, 2)) / np.sum(parts)
    np.testing.assert_allclose(stationary(operator).law, law, rtol=1e-8)
    assert np.sum(found) == pytest.approx(law @ (f * operator.generator(f, 0.7)), rel=1e-10)
    with pytest.raises(InvalidInputError, match="symmetric"):
        dirichlet_parts(MarkovOperator.of_sample(POINTS, DIRECTED, BETA, self_loops=loops), f)


@pytest.mark.parametrize(
    "score",
    [DIRECTED, Distance((0.3, -0.2)), IndefiniteHead(1.0, 0.2, 1.5)],
    ids=["mixture", "distance", "head"],
)
def test_density_of_several_steps(score):
    x, y = TARGETS
    operator = MarkovOperator.of_sample(POINTS, score, BETA, self_loops=False)
    dense = operator.toarray()
    first = np.sum(dense_parts(score, x[None], POINTS), axis=0)[0]
    first /= first.sum()
    whole = np.sum(dense_parts(score, POINTS, POINTS), axis=0)
    np.fill_diagonal(whole, 0)
    last = np.sum(dense_parts(score, POINTS, y[None]), axis=0)[:, 0] / whole.sum(axis=1)
    expected = [300 * first @ np.linalg.matrix_power(dense, m - 2) @ last for m in (2, 5, 9)]
    found = walk_density(operator, POINTS, score, (2, 5, 9), x, y)
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    with pytest.raises(InvalidInputError, match="steps"):
        walk_density(operator, POINTS, score, (5, 5), x, y)


def test_refusals():
    for jumps in (DIRECTED.jumps, DIRECTED.jumps[:1]):
        score = replace(DIRECTED, jumps=jumps)
        with pytest.raises(NoMassError):  # the local kernel sees nothing, whatever the jumps see
            generator(
                POINTS[:3], POINTS[:3, 0], score, 1e9, targets=TARGETS, target_values=TARGETS[:, 0]
            )
    for wrong in (
        lambda: Jump(0.0, ANTIPODE),
        lambda: Jump(1.0, ((1.0, 0.0),)),
        lambda: Jump(1.0, ANTIPODE, (1.0,)),
        lambda: Jump(1.0, ANTIPODE, beta=-1.0),
        lambda: Jump(1.0, ANTIPODE, exponent=0.0),
        lambda: Mixture(ring, Distance(), ()),
        lambda: Mixture(ring, Distance(), SYMMETRIC.jumps[0]),
        lambda: Mixture(ring, Distance(normalisation=KeyPotential(RATE)), SYMMETRIC.jumps),
        lambda: IndefiniteHead(1.0, 0.5, 1.0),
        lambda: IndefiniteHead(1.0, 0.0, 0.0),
        lambda: IndefiniteHead(1.0, 0.0, 1.0).keys(np.array([[1.1, 0.0]])),
        lambda: Jump(ring.polynomial("x0"), ANTIPODE).log_rate(TARGETS),
        lambda: Jump(1.0, ANTIPODE).destination(np.zeros((2, 3))),
    ):
        with pytest.raises(InvalidInputError):
            wrong()


def test_a_head_at_any_beta():
    """Exponents of a head are large however its features lie: rows have their mass all the same."""
    points = Circle().at(2 * np.pi * np.arange(20_000) / 20_000)
    x, f = Circle().at(np.array([0.3, 2.0])), Circle().fourier(1, 0.3)
    for beta in (600.0, 5000.0):
        head = IndefiniteHead(1.0, 0.2, 1.5)
        found = generator(points, f(points), head, beta, targets=x, target_values=f(x))
        exact = limits.expectation(Circle(), head, f, x, beta)
        np.testing.assert_allclose(found, exact, rtol=1e-7)  # a trapezoid rule
