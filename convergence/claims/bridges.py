"""The claim on currents of Schrödinger bridges, an exact identity at finite N."""

from __future__ import annotations

import numpy as np

from ..errors import NotConvergedError
from ..operators import bridge
from ..spaces import SmoothFunction, Space
from ..verification import Claim
from .identity import identity_claim


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

    right, wrong = ("a = b", "a = b, general solver"), r"a \neq b"

    def residuals(points: np.ndarray, beta: float) -> dict[str, float]:
        features = space.features(points)
        a, b = (np.exp(f(points)) for f in (log_first, log_second))
        b *= np.sum(a) / np.sum(b)
        cases = {right[0]: (a, True), right[1]: (a, False), wrong: (b, False)}
        found = {
            name: bridge(features, features, beta, a, second, symmetric=symmetric)
            for name, (second, symmetric) in cases.items()
        }
        if not all(one.converged for one in found.values()):
            raise NotConvergedError("a bridge did not converge: take a smaller beta")
        couplings = {name: one.coupling() for name, one in found.items()}
        return {
            name: float(np.linalg.norm(c - c.T) / np.linalg.norm(c))
            for name, c in couplings.items()
        }

    return identity_claim(
        id,
        space,
        residuals,
        right,
        (wrong,),
        statement=statement,
        source=source,
        # potentials of size 10 and exponents of size 100 round to a few hundred ε
        condition=1e3,
        factors=(beta,),
        refutes=refutes,
        sizes={"smoke": (100, 2), "standard": (300, 10), "paper": (1000, 20)},
        configuration=repr((space, log_first, log_second, beta)),
    )
