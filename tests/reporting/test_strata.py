"""Local dimensions of a sample are slopes of its degrees."""

import numpy as np

from convergence.reporting.strata import local_dimensions
from convergence.spaces import LineThroughPlane


def test_local_dimensions_are_slopes_of_the_degree():
    space, beta = LineThroughPlane(), 20.0
    x = space.features(space.sample(300, np.random.default_rng(1)))
    squares = np.sum((x[:, None] - x) ** 2, axis=-1)

    def log_degree(b):
        kernel = np.exp(-b * squares)
        np.fill_diagonal(kernel, 0)
        return np.log(kernel.sum(axis=1))

    slope = (log_degree(beta * 1.0001) - log_degree(beta / 1.0001)) / (2 * np.log(1.0001))
    np.testing.assert_allclose(local_dimensions(x, beta), -2 * slope, atol=1e-5)
