"""Claims on the steady state of a rotation on Gaussian spaces: covariance and circulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..limits import gaussian_circulation, gaussian_stationary
from ..operators import MarkovOperator
from ..scores import Distance
from ..spaces import Gaussian
from ..verification import Claim
from .whole_operators import Course, OperatorProblem, operator_claim


@dataclass(frozen=True)
class RotationProblem(OperatorProblem):
    """Stationary covariance S and circulation J = 4ħβ E[x_a y_b - x_b y_a].

    The entropy production is no number of its own: it is 2 M_12 J on every sample, of the link M
    (claim steady-state of the exact identities).

    Points far out see no other: without self-loops they cannot hold the walk.

    Parameters
    ----------
    space : Gaussian
        A plane.
    score : Distance
        With an antisymmetric link.
    hbar : float
    """

    self_loops = False

    @property
    def functions(self) -> tuple[str, ...]:
        return "S_{11}", "S_{12}", "S_{22}", "J"

    def observed(self, operator: MarkovOperator, points: np.ndarray) -> list[float]:
        """Moments of the stationary law, and of its steps per unit time."""
        law, scale = self.law(operator), 4 * self.hbar * operator.beta
        centred = points - law @ points
        covariance = (law[:, None] * centred).T @ centred
        steps = operator.differences(points, points)
        turning = law @ (points[:, 0] * steps[:, 1] - points[:, 1] * steps[:, 0])
        return [*covariance[[0, 0, 1], [0, 1, 1]], scale * turning]

    def reference(self, space: Gaussian, score: Distance, beta: float | None) -> list[float]:
        """Lyapunov equations, discrete or continuous."""
        covariance = gaussian_stationary(space, score, beta)[1]
        circulation = gaussian_circulation(space, score, beta, self.hbar)
        return [*covariance[[0, 0, 1], [0, 1, 1]], circulation[0, 1]]

    def wrong_spaces(self) -> dict[str, Gaussian]:
        """A walk whose law is ρ instead of ρ²: with twice the covariance."""
        return {"law ρ for ρ²": Gaussian(tuple(map(tuple, (2 * self.space.sigma).tolist())))}


def rotation_claim(
    id: str,
    space: Gaussian,
    score: Distance,
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
) -> Claim:
    """The claim that a sampled P has, as N and β grow, the steady state of the rotating plane.

    Parameters
    ----------
    id, statement, source : str
    space : Gaussian
    score : Distance
    hbar : float
        As in `RotationProblem`.

    Returns
    -------
    Claim
        As of `operator_claim`.
    """
    problem = RotationProblem(space, score, hbar)
    course = Course(2.0, first_bias=16.0, sampling_beta=1.5, points=450_000)
    return operator_claim(id, problem, statement=statement, source=source, course=course)
