"""The claim on currents of Schrödinger bridges, an exact identity at finite N."""

from __future__ import annotations

import numpy as np

from ..errors import NotConvergedError
from ..operators import MarkovOperator, bridge
from ..scores import Distance
from ..spaces import SmoothFunction, Space
from ..verification import Claim
from .identity import identity_claim

_RIGHT = ("a = b", "a = b, general solver")
_WRONG = (
    r"a \neq b",
    r"a \neq b: outflow b - a",
    r"a \neq b: rows sum to b",
    "rows alone scaled",
)


def _off(found: np.ndarray, expected: np.ndarray) -> float:
    """|found - expected| over |expected|, Frobenius norms."""
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


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

    With A the coupling over a symmetric kernel, A1 = a and Aᵀ1 = b, the currents are A - Aᵀ.
    Residuals are Frobenius norms of a difference over that of its right side: for equal marginals
    a, a, scaled symmetrically and by the general solver that knows nothing of symmetry, A - Aᵀ
    must be rounding. Wrong are a symmetric A where a ≠ b, or where the rows alone are scaled; then
    (A - Aᵀ)1 = b - a, whose sign is reversed; and A1 = b.

    Parameters
    ----------
    id, statement, source, refutes : str
    space : Space
    log_first, log_second : test functions
        log a and log b at points of the space, up to constants.
    beta : float

    Returns
    -------
    Claim
        With the checks of an exact identity.
    """

    def residuals(points: np.ndarray, beta: float) -> dict[str, float]:
        features = space.features(points)
        a, b = (np.exp(f(points)) for f in (log_first, log_second))
        b *= np.sum(a) / np.sum(b)
        found = [
            bridge(features, features, beta, a, second, symmetric=symmetric)
            for second, symmetric in ((a, True), (a, False), (b, False))
        ]
        if not all(one.converged for one in found):
            raise NotConvergedError("a bridge did not converge: take a smaller beta")
        one, general, unequal = (result.coupling() for result in found)
        plain = MarkovOperator.of_sample(features, Distance(), beta, self_loops=True)
        rows = a[:, None] * plain.toarray()
        outflow = np.sum(unequal - unequal.T, axis=1)
        return {
            "a = b": _off(one, one.T),
            "a = b, general solver": _off(general, general.T),
            r"a \neq b": _off(unequal, unequal.T),
            r"a \neq b: outflow b - a": float(
                np.linalg.norm(outflow - (b - a)) / np.linalg.norm(a)
            ),
            r"a \neq b: rows sum to b": _off(np.sum(unequal, axis=1), b),
            "rows alone scaled": _off(rows, rows.T),
        }

    return identity_claim(
        id,
        space,
        residuals,
        _RIGHT,
        _WRONG,
        statement=statement,
        source=source,
        # potentials of size 10 and exponents of size 100 round to a few hundred ε
        condition=1e3,
        factors=(beta,),
        refutes=refutes,
        sizes={"smoke": (100, 2), "standard": (300, 10), "paper": (1000, 20)},
        configuration=repr((space, log_first, log_second, beta)),
    )
