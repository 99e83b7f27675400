"""The current field of a sampled walk: its total, and on a grid the exact field."""

import numpy as np
import pytest

from convergence.errors import InvalidInputError
from convergence.operators import MarkovOperator, stationary
from convergence.reporting.torus_current import measured_current, torus_current
from convergence.scores import Distance, harmonic_link
from convergence.spaces import Circle, FlatTorus

TORUS, HBAR = FlatTorus((Circle(), Circle())), 0.7


def test_a_constant_form_on_a_grid():
    """Uniform: j_a = 2ħ c_a/(2π)², up to the order 1/β of a step's sine."""
    c, beta, n = np.array([0.9, -0.6]), 10.0, 40
    one = Circle().at(2 * np.pi * (np.arange(n) + 0.5) / n)
    grid = np.hstack([np.repeat(one, n, axis=0), np.tile(one, (n, 1))])
    found = measured_current(Distance(link=harmonic_link(c)), grid, beta, HBAR, 4)
    exact = 2 * HBAR * 2 * beta * np.arctan(c / (2 * beta)) / (2 * np.pi) ** 2
    np.testing.assert_allclose(found, np.broadcast_to(exact, (4, 4, 2)), rtol=1e-6)


def test_the_total_of_a_sample():
    points, beta = TORUS.sample(150, np.random.default_rng(7)), 6.0
    score = Distance(link=harmonic_link([0.9, -0.6]))
    walk = MarkovOperator.of_sample(points, score, beta, self_loops=True)
    flow = stationary(walk).law[:, None] * walk.toarray()
    theta = np.arctan2(points[:, 1::2], points[:, ::2])
    steps = np.angle(np.exp(1j * (theta[None] - theta[:, None])))
    expected = 4 * HBAR * beta * np.einsum("ij,ija->a", flow, steps)
    cells = 5
    found = measured_current(score, points, beta, HBAR, cells)
    total = found.sum(axis=(0, 1)) * (2 * np.pi / cells) ** 2
    assert total == pytest.approx(expected, rel=1e-8)


def test_a_torus_of_another_dimension_is_refused():
    for circles in ((Circle(),), (Circle(),) * 3):
        score = Distance(link=harmonic_link([0.5] * len(circles)))
        with pytest.raises(InvalidInputError, match="two angles"):
            torus_current(FlatTorus(circles), score, 60, samples=2)
