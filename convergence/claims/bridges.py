"""The claim on currents of Schrödinger bridges, an exact identity at finite N."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..operators import bridge
from ..spaces import Space
from ..verification import Claim, Schedule, Setting

Function = Callable[[np.ndarray], np.ndarray]


def bridge_claim(
    id: str,
    space: Space,
    log_first: Function,
    log_second: Function,
    *,
    statement: str,
    source: str,
    refutes: str = "",
    beta: float = 30.0,
) -> Claim:
    """A bridge from a law to itself has a symmetric coupling; between two laws it transports.

    With A the coupling over a symmetric kernel, the currents are A - Aᵀ. Residuals are their
    Frobenius norm over that of A for equal marginals a, a, which must be rounding, and for
    unequal ones a, b, which must not.

    Parameters
    ----------
    id, statement, source, refutes : str
    space : Space
    log_first, log_second : callable
        log a and log b at points of the space, up to constants.
    beta : float
    """

    def estimate(points: np.ndarray, beta: float) -> np.ndarray:
        features = space.features(points)
        a, b = (np.exp(f(points)) for f in (log_first, log_second))
        pairs = ((a, a), (a, b * np.sum(a) / np.sum(b)))
        couplings = [bridge(features, features, beta, *pair).coupling() for pair in pairs]
        return np.array([[np.linalg.norm(c - c.T) / np.linalg.norm(c) for c in couplings]])

    sizes = {"smoke": (100, 2), "standard": (300, 10), "paper": (1000, 20)}
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=space,
        functions=("a = b", r"a \neq b"),
        estimate=estimate,
        expectation=lambda beta: np.zeros((1, 2)),
        limit=np.zeros((1, 2)),
        schedules={
            preset: Schedule(identity=(Setting(n, beta, replicates),))
            for preset, (n, replicates) in sizes.items()
        },
        # potentials of size 10 and exponents of size 100 round to a few hundred ε
        tolerance=1e3 * np.finfo(float).eps,
        wrong=(r"a \neq b",),
        refutes=refutes,
        checks=("identity", "faults"),
        configuration=repr((space, log_first, log_second, beta)),
    )
