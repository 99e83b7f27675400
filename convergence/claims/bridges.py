"""The claim on currents of Schrödinger bridges, an exact identity at finite N."""

from __future__ import annotations

import numpy as np

from ..errors import NotConvergedError
from ..operators import bridge
from ..spaces import SmoothFunction, Space
from ..verification import Claim, Schedule, Setting


def bridge_claim(
    id: str,
    space: Space,
    log_first: SmoothFunction,
    log_second: SmoothFunction,
    *,
    statement: str,
    source: str,
    refutes: str = "",
    beta: float = 30.0,
) -> Claim:
    """A bridge from a law to itself has a symmetric coupling; between two laws it transports.

    With A the coupling over a symmetric kernel, the currents are A - Aᵀ. Residuals are their
    Frobenius norm over that of A: for equal marginals a, a, scaled symmetrically and by the general
    solver that knows nothing of symmetry, they must be rounding; for unequal ones a, b not.

    Parameters
    ----------
    id, statement, source, refutes : str
    space : Space
    log_first, log_second : test functions
        log a and log b at points of the space, up to constants.
    beta : float
    """

    def estimate(points: np.ndarray, beta: float) -> np.ndarray:
        features = space.features(points)
        a, b = (np.exp(f(points)) for f in (log_first, log_second))
        b *= np.sum(a) / np.sum(b)
        found = [
            bridge(features, features, beta, a, second, symmetric=symmetric)
            for second, symmetric in ((a, True), (a, False), (b, False))
        ]
        if not all(one.converged for one in found):
            raise NotConvergedError("a bridge did not converge: take a smaller beta")
        couplings = [one.coupling() for one in found]
        return np.array([[np.linalg.norm(c - c.T) / np.linalg.norm(c) for c in couplings]])

    sizes = {"smoke": (100, 2), "standard": (300, 10), "paper": (1000, 20)}
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=space,
        functions=("a = b", "a = b, general solver", r"a \neq b"),
        estimate=estimate,
        expectation=lambda beta: np.zeros((1, 3)),
        limit=np.zeros((1, 3)),
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
