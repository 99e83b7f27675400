"""Builder of claims that are measured at fixed targets, from a sample in chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..verification import Claim, Fault
from .schedules import STREAMED, Plan, PointwiseProblem, schedules


class EstimatedProblem(PointwiseProblem, Protocol):
    """A pointwise problem with its estimate."""

    @property
    def estimate(self) -> Callable[[Any, float], np.ndarray]: ...


def pointwise_claim(
    id: str,
    problem: EstimatedProblem,
    functions: tuple[str, ...],
    *,
    statement: str,
    source: str,
    faults: tuple[Fault, ...],
    rate: float,
    plan: Plan = STREAMED,
    order: float = 1.0,
    replicate_errors: bool = False,
) -> Claim:
    """A claim with all four checks along β = c N^rate.

    Parameters
    ----------
    id, statement, source : str
    problem : EstimatedProblem
    functions : tuple of str
        LaTeX labels.
    faults : tuple of Fault
        Wrong references that the data must reject.
    rate : float
        Of β in N, and with it the slope -rate·order of the error.
    plan : Plan
    order : float
        Of the bias in 1/β, and step of its further orders.
    replicate_errors : bool
        Whether theory gives no standard deviation: means are then tested by the errors of
        replicates, and no rate is claimed.

    Returns
    -------
    Claim
    """
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=problem.space,
        functions=functions,
        estimate=problem.estimate,
        streamed=True,
        expectation=problem.expectation,
        limit=problem.limit,
        schedules=schedules(problem, rate, plan, order),
        sampling_error=None if replicate_errors else problem.sampling_error,
        effective_degree=problem.effective_degree,
        bias_order=order,
        bias_step=order,
        slope=-rate * order,
        faults=faults,
        checks=("bias", "sampling", *(() if replicate_errors else ("joint",)), "faults"),
        configuration=repr((problem, problem.targets.tolist())),
    )
