"""The Dirichlet energy of a mixture on the circle: at finite β, and the Beurling-Deny form."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from ..errors import NoReferenceError, require_positive
from ..scores import Mixture
from ..spaces import Circle, Polynomial
from .mixtures import MixtureLaw, jump_rate

_NODES = 512  # of the trapezoid rule around the circle


def _around(space: Circle, score: Mixture) -> np.ndarray:
    symmetric = not score.local.link and all(
        not isinstance(jump.rate, Polynomial)
        and not any(jump.shift)
        and np.array_equal(jump.matrix, np.transpose(jump.matrix))
        and np.allclose(np.dot(jump.matrix, jump.matrix), np.eye(len(jump.matrix)))
        for jump in score.jumps
    )
    if not symmetric:
        raise NoReferenceError(
            "an energy splits into parts for a symmetric kernel: no link, constant rates, and "
            "jumps that are isometric involutions T, without a shift"
        )
    if not isinstance(space, Circle):
        raise NoReferenceError(f"energies are known on a Circle, not on {type(space).__name__}")
    return space.at(2 * np.pi * np.arange(_NODES) / _NODES)


def energy_expectation(
    space: Circle, score: Mixture, f: Polynomial, beta: float, hbar: float = 1.0
) -> np.ndarray:
    """2ħβ ∫∫ K_m (f(y) - f(x))² h dν h dν / ∫∫ K h dν h dν for every part m, shape (parts,)."""
    x = _around(space, score)
    law = MixtureLaw(space, score)
    pieces = law.parts(x, require_positive("beta", beta))
    log_weights = space.log_density(x) + x @ score.local.slope(space.ambient_dim)
    steady = softmax(log_weights + law.log_mass(x, beta, 1))
    shares = law.shares(x, beta)
    squares = np.stack([piece.squared_increment(f, x) for piece in pieces])
    return 2 * hbar * beta * (shares * squares) @ steady


def energy_limit(space: Circle, score: Mixture, f: Polynomial, hbar: float = 1.0) -> np.ndarray:
    """ħ∫|df|² dπ and ½ ∬ j_m (f(x) - f(y))² ρh dV ρh dV / ∫ (ρh)² dV, π ∝ (ρh)² dV."""
    x = _around(space, score)
    law = MixtureLaw(space, score)
    steady = softmax(2 * (space.log_density(x) + x @ score.local.slope(space.ambient_dim)))
    energies = [np.sum(space.gradient(f, x) ** 2, axis=-1)]
    for jump in score.jumps:
        destination = jump.destination(x)
        apart = f(destination) - f(x)
        square = apart**2
        if jump.beta is not None:
            square += law.remote.mean_squared_increment(f, destination, jump.beta, 1)
            square += 2 * apart * law.remote.mean_increment(f, destination, jump.beta, 1)
        energies.append(jump_rate(space, score, jump, x) * square / 2)
    return hbar * np.stack(energies) @ steady
