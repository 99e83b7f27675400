"""Five ways to write the same kernel, and the factor that each author multiplies I - P by."""

import numpy as np
import pytest

from convergence.errors import InvalidInputError
from convergence.scores import CONVENTIONS, beta_from

N, BETA, K = 600, 150.0, 2
THETA = 2 * np.pi * np.arange(N) / N
POINTS = np.stack([np.cos(THETA), np.sin(THETA)], axis=1)
SQUARES = np.sum((POINTS[:, None] - POINTS) ** 2, axis=-1)
# convention: the scale that means β = 150, the kernel as its authors write it, their factor (ħ = 1)
WRITTEN = {
    "exp(-beta d^2)": (BETA, lambda beta: np.exp(-beta * SQUARES), lambda beta: 4 * beta),
    "exp(-d^2/4eps)": (1 / 600, lambda eps: np.exp(-SQUARES / (4 * eps)), lambda eps: 1 / eps),
    "exp(-d^2/2eps)": (1 / 300, lambda eps: np.exp(-SQUARES / (2 * eps)), lambda eps: 2 / eps),
    "exp(-d^2/eps)": (1 / 150, lambda eps: np.exp(-SQUARES / eps), lambda eps: 4 / eps),
    "softmax(beta x.y)": (
        300.0,
        lambda beta: np.exp(beta * (POINTS @ POINTS.T - 1)),
        lambda beta: 2 * beta,
    ),
}


@pytest.mark.parametrize("convention", WRITTEN)
def test_every_convention_gives_the_same_limit(convention):
    """The eigenvalue of cos 2θ on the uniform circle: 4 - (16 - 8)/(8β) + O(β⁻²)."""
    scale, kernel, factor = WRITTEN[convention]
    p = kernel(scale)
    p /= p.sum(axis=1, keepdims=True)
    wave = np.cos(K * THETA)
    eigenvalue = factor(scale) * (wave - p @ wave)[0]
    assert eigenvalue == pytest.approx(4 - 1 / BETA, abs=3 / BETA**2)
    assert beta_from(convention, scale) == pytest.approx(BETA, rel=1e-15)
    assert 4 * beta_from(convention, scale) == pytest.approx(factor(scale), rel=1e-15)


def test_the_table_is_complete():
    assert set(CONVENTIONS) == set(WRITTEN)


def test_refusals():
    with pytest.raises(InvalidInputError, match="one of exp"):
        beta_from("exp(-d/eps)", 1.0)
    for scale in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidInputError, match="scale"):
            beta_from("exp(-d^2/eps)", scale)
