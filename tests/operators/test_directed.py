"""Directed operators on a sample: links and the causal mask, against plain matrices."""

import numpy as np
import pytest

from convergence.errors import InvalidInputError, NoMassError
from convergence.kernels import score_sums
from convergence.operators import MarkovOperator, generator
from convergence.scores import Causal, CoifmanLafon, Distance, harmonic_link
from convergence.spaces import Circle

RING = Circle(kappa=0.7)
POINTS = RING.sample(150, np.random.default_rng(8))
BETA = 12.0
SQUARES = np.sum((POINTS[:, None] - POINTS) ** 2, axis=-1)
LINK = ((0.3, 0.9), (-0.5, -0.2))


def rows(kernel):
    return kernel / kernel.sum(axis=1, keepdims=True)


def test_the_linked_operator():
    score = Distance((0.4, -0.2), link=LINK)
    operator = MarkovOperator.of_sample(POINTS, score, BETA, self_loops=True)
    weights = POINTS @ (0.4, -0.2)
    expected = rows(np.exp(-BETA * SQUARES + POINTS @ LINK @ POINTS.T + weights))
    np.testing.assert_allclose(operator.toarray(), expected, rtol=1e-11, atol=1e-16)
    assert not operator.reversible
    f = POINTS[:, 0] * POINTS[:, 1]
    got = generator(POINTS, f, score, BETA, 0.7, self_loops=True)
    np.testing.assert_allclose(got, 4 * 0.7 * BETA * (f - expected @ f), atol=1e-11)


def test_a_normalisation_is_that_of_the_kernel_without_the_link():
    score = Distance(normalisation=CoifmanLafon(1.0), link=LINK)
    operator = MarkovOperator.of_sample(POINTS, score, BETA, self_loops=True)
    degree = np.exp(-BETA * SQUARES).sum(axis=1)
    expected = rows(np.exp(-BETA * SQUARES + POINTS @ LINK @ POINTS.T) / degree)
    np.testing.assert_allclose(operator.toarray(), expected, rtol=1e-11, atol=1e-16)


def test_an_exact_link_is_a_doob_transform():
    """w(y) - w(x) beside the distance and h = e^w give one P; a link that circulates does not."""
    slope = np.array([0.6, -1.1])

    def exact(x, y, beta):
        squares = np.sum((x[:, None] - y) ** 2, axis=-1)
        return -beta * squares + (y @ slope)[None, :] - (x @ slope)[:, None]

    _, linked = score_sums(exact, POINTS, POINTS, BETA, None, np.eye(150), np.zeros((150, 150)))
    doob, around = (
        MarkovOperator.of_sample(POINTS, score, BETA, self_loops=True).toarray()
        for score in (Distance(tuple(slope)), Distance(link=harmonic_link([0.6])))
    )
    np.testing.assert_allclose(linked, doob, rtol=1e-11, atol=1e-16)

    def affinity(p):
        cycle = np.argsort(RING.angle(POINTS))[::30]
        following = np.roll(cycle, -1)
        return np.sum(np.log(p[cycle, following] / p[following, cycle]))

    assert affinity(doob) == pytest.approx(0, abs=1e-9)
    # Kolmogorov: Σ 2c sin(θ' - θ) around the cycle
    theta = RING.angle(POINTS)[np.argsort(RING.angle(POINTS))[::30]]
    expected = 2 * 0.6 * np.sum(np.sin(np.roll(theta, -1) - theta))
    assert affinity(around) == pytest.approx(expected, rel=1e-9)
    assert abs(expected) > 1


@pytest.mark.parametrize("future", [False, True])
def test_the_causal_generator(future):
    x = np.random.default_rng(3).uniform(size=(60, 2))
    f = np.sin(x[:, 0]) + x[:, 1]
    ahead = x[:, 1][None, :] - x[:, 1][:, None]
    kept = ahead >= 0 if future else ahead <= 0
    kernel = rows(np.exp(-5.0 * np.sum((x[:, None] - x) ** 2, axis=-1)) * kept)
    score = Causal(axis=1, reversed=future)
    got = generator(x, f, score, 5.0, self_loops=True)
    np.testing.assert_allclose(got, 20 * (f - kernel @ f), atol=1e-12)
    last = np.argmin(x[:, 1]) if not future else np.argmax(x[:, 1])
    with pytest.raises(NoMassError, match=rf"rows {last}\)"):
        generator(x, f, score, 5.0, self_loops=False)  # the first token has no past


def test_a_position_outside_the_points_is_refused():
    with pytest.raises(InvalidInputError, match="coordinate 2"):
        generator(POINTS, POINTS, Causal(axis=2), BETA, self_loops=True)
