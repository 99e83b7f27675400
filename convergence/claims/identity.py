"""Builder of claims on exact identities at finite N."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..errors import InvalidInputError
from ..verification import Claim, Sampler, Schedule, Setting

EPSILON = float(np.finfo(float).eps)

Residuals = Callable[[np.ndarray, float], Mapping[str, float]]
"""(tokens (n, D), factor of the scores) → residual by name."""

# tokens and replicates at each factor of the scores
_SIZES = {"smoke": (16, 2), "standard": (32, 12), "paper": (64, 100)}


def identity_claim(
    id: str,
    space: Sampler,
    residuals: Residuals,
    right: tuple[str, ...],
    wrong: tuple[str, ...],
    *,
    statement: str,
    source: str,
    condition: float,
    factors: tuple[float, ...],
    refutes: str = "",
    sizes: Mapping[str, tuple[int, int]] = _SIZES,
    configuration: str = "",
) -> Claim:
    """The claim that some residuals are rounding and others, of wrong identities, are not.

    Parameters
    ----------
    id : str
    space : Sampler
        Where tokens come from.
    residuals : callable
        (tokens, factor) → residual by name, relative to the size of what is compared.
    right, wrong : tuple of str
        Names of the residuals that must vanish, and of those that must not.
    statement, source : str
    condition : float
        Condition number: the tolerance is this many machine epsilons.
    factors : tuple of float
        Factors of the scores, the β of the settings: tiny, ordinary and large.
    refutes : str
        A printed claim that a PASS refutes.
    sizes : mapping
        Tokens and replicates at each factor, by preset.
    configuration : str
        What the residuals depend on, where the names do not say it.

    Returns
    -------
    Claim
    """
    functions = (*right, *wrong)
    zero = np.zeros((1, len(functions)))

    def estimate(tokens: np.ndarray, factor: float) -> np.ndarray:
        found = residuals(tokens, factor)
        if set(found) != set(functions):
            raise InvalidInputError(
                f"the residuals of {id!r} are {sorted(found)}, its claim names {sorted(functions)}"
            )
        return np.array([[found[name] for name in functions]])

    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=space,
        functions=functions,
        estimate=estimate,
        expectation=lambda beta: zero,
        limit=zero,
        schedules={
            preset: Schedule(identity=tuple(Setting(n, factor, count) for factor in factors))
            for preset, (n, count) in sizes.items()
        },
        tolerance=condition * EPSILON,
        wrong=wrong,
        refutes=refutes,
        configuration=configuration or f"{id}: {space}, {functions}, condition {condition:g}",
        checks=("identity", "faults"),
    )
