"""Claims on the steady state of links on circles and tori: currents and entropy production."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import InvalidInputError
from ..limits import RingChain, TiltedRing
from ..operators import MarkovOperator, entropy_production, net_flux
from ..scores import Distance
from ..spaces import Circle, FlatTorus
from ..verification import Claim
from .whole_operators import Course, OperatorProblem, operator_claim

Ring = tuple[Circle, Distance]
_THIRD = 2 * np.pi / 3


def rings(space: Circle | FlatTorus, score: Distance) -> list[Ring]:
    """The circles of a torus, each with its own link and weight.

    A harmonic form is one of its own on every circle: P is then the product of the circles' own,
    currents are theirs and entropy productions add up.

    Raises
    ------
    InvalidInputError
        When the link mixes the circles.
    """
    if isinstance(space, Circle):
        return [(space, score)]
    n = space.ambient_dim
    link, slope = score.one_form(np.eye(n)), score.slope(n)
    blocks = [slice(2 * a, 2 * a + 2) for a in range(space.dim)]
    if np.any(link[~np.kron(np.eye(space.dim), np.ones((2, 2))).astype(bool)]):
        raise InvalidInputError(
            "currents are known for links that do not mix the circles of a torus: harmonic_link"
        )
    return [
        (circle, replace(score, link=link[b, b].tolist(), doob=tuple(slope[b].tolist())))
        for circle, b in zip(space.circles, blocks, strict=True)
    ]


@dataclass(frozen=True)
class CurrentProblem(OperatorProblem):
    """Currents around every circle and the entropy production of a sampled P.

    Parameters
    ----------
    space : Circle or FlatTorus
    score : Distance
        With an antisymmetric link, on a torus one that does not mix its circles.
    hbar : float
    """

    # P_ii slows the walk by what a point's own neighbours number: felt on a torus at order 1/N²
    self_loops = False

    @property
    def functions(self) -> tuple[str, ...]:
        count = self.space.dim
        currents = ("j",) if count == 1 else (f"j_{a + 1}" for a in range(count))
        return (*currents, r"\dot{S}")

    def observed(self, operator: MarkovOperator, points: np.ndarray) -> list[float]:
        """4ħβ times the net flux through each cut θ_a = 0, and times the entropy production.

        The flux is that between the thirds before and after the cut: the chord across a third is
        √3 long, and exp(-3β) invisible.
        """
        law, fluxes = self.law(operator), []
        for a in range(self.space.dim):
            theta = np.arctan2(points[:, 2 * a + 1], points[:, 2 * a])
            before = (theta < 0) & (theta >= -_THIRD)
            after = (theta >= 0) & (theta < _THIRD)
            fluxes.append(net_flux(operator, law, before, after))
        produced = entropy_production(operator, law)
        return [4 * self.hbar * operator.beta * rate for rate in (*fluxes, produced)]

    def reference(
        self, space: Circle | FlatTorus, score: Distance, beta: float | None
    ) -> list[float]:
        """Stratonovich's formula, or the chain at β, of every circle."""
        if beta is None:
            exact = [TiltedRing(circle, own, self.hbar) for circle, own in rings(space, score)]
            return [*(r.current for r in exact), sum(r.entropy_production for r in exact)]
        chains = [RingChain(circle, own, beta) for circle, own in rings(space, score)]
        currents = (chain.current(self.hbar) for chain in chains)
        return [*currents, sum(chain.entropy_production(self.hbar) for chain in chains)]

    def wrong_spaces(self) -> dict[str, Circle | FlatTorus]:
        """Without its potential, and with half of it: a walk whose law is ρ instead of ρ²."""
        circles = self.space.circles if isinstance(self.space, FlatTorus) else (self.space,)
        if not any(circle.kappa for circle in circles):
            return {}
        wrong = {}
        for name, share in {"potential omitted": 0.0, "law ρ for ρ²": 0.5}.items():
            weaker = tuple(
                Circle(share * c.kappa, float(np.arctan2(*c.mu[::-1])) if c.mu else 0.0, c.radius)
                for c in circles
            )
            wrong[name] = FlatTorus(weaker) if isinstance(self.space, FlatTorus) else weaker[0]
        return wrong


def current_claim(
    id: str,
    space: Circle | FlatTorus,
    score: Distance,
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
) -> Claim:
    """The claim that a sampled P has, as N and β grow, the steady state of tilted rings.

    On a uniform circle a step turns by atan(c/2β) in the mean, so that j = (2ħβ/π) atan(c/2β)
    exactly: there the bias of currents is of order 2. On a torus, whose points see fewer others, β
    grows like N^1/4 only.

    Parameters
    ----------
    id, statement, source : str
    space, score, hbar
        As in `CurrentProblem`.
    """
    problem = CurrentProblem(space, score, hbar)
    course, orders = Course(14.0), (1.0,) * len(problem.functions)
    if space.dim > 1:
        course = Course(4.0, smallest=600, rate=0.25, first_bias=8.0)
    if not problem.wrong_spaces():
        course = replace(course, first_bias=8.0, bias_steps=5)
        orders = (*(2.0 for _ in range(space.dim)), 1.0)
    return operator_claim(
        id, problem, statement=statement, source=source, course=course, orders=orders
    )
