"""The figure of heat shows the walk's own law, by steps and by eigenfunctions."""

import numpy as np
import pytest

from convergence.operators import MarkovOperator, stationary
from convergence.reporting.heat import _laws
from convergence.scores import Distance


@pytest.mark.parametrize("self_loops", [True, False])
def test_laws_are_those_of_the_powers(self_loops):
    points = np.random.default_rng(3).standard_normal((60, 2))
    operator = MarkovOperator.of_sample(points, Distance(), 1.5, self_loops=self_loops)
    dense = operator.toarray()
    steps = (3, 20, 150, 1_000)  # the last two by eigenfunctions
    for m, law in zip(steps, _laws(operator, stationary(operator).law, 7, steps), strict=True):
        expected = np.linalg.matrix_power(dense, m)[7]
        np.testing.assert_allclose(law, expected, rtol=1e-9, atol=1e-12)
