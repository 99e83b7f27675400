"""Claims on the steady state of links on circles and tori: currents and entropy production."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..errors import InvalidInputError
from ..limits import RingChain, TiltedRing
from ..operators import MarkovOperator, entropy_production, net_flux
from ..scores import Distance
from ..scores.links import Matrix, matrix_of
from ..spaces import Circle, FlatTorus
from ..verification import Claim, Fault
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

    @property
    def circles(self) -> tuple[Circle, ...]:
        """Those of the torus, or the one."""
        return self.space.circles if isinstance(self.space, FlatTorus) else (self.space,)

    @property
    def uniform(self) -> bool:
        """Whether a walk has no potential: no density, Doob weight or symmetric part of a link."""
        flat = not (any(circle.kappa for circle in self.circles) or any(self.score.doob))
        return flat and self._skew == self.score.link

    @property
    def _skew(self) -> Matrix:
        """The antisymmetric part of the link."""
        link = np.asarray(self.score.link)
        return matrix_of(0.5 * (link - link.T)) if link.size else ()

    def faults(self) -> tuple[Fault, ...]:
        """Those of every operator, and of potentials that are no density of the space."""
        wrong: dict[str, Distance] = {}
        if any(self.score.doob) and not any(circle.kappa for circle in self.circles):
            half = tuple(0.5 * a for a in self.score.doob)
            wrong["law h for h²"] = replace(self.score, doob=half)
        if self._skew != self.score.link:
            wrong["symmetric part of the link omitted"] = replace(self.score, link=self._skew)
        return (
            *super().faults(),
            *(
                Fault(name, partial(self.expectation_of, self.space, score))
                for name, score in wrong.items()
            ),
        )

    def wrong_spaces(self) -> dict[str, Circle | FlatTorus]:
        """Without its density, and with half of it: where h = 1, a walk whose law is ρ for ρ²."""
        circles = self.circles
        if not any(circle.kappa for circle in circles):
            return {}
        wrong = {}
        for name, share in {"potential omitted": 0.0, "law ρ for ρ²": 0.5}.items():
            weaker = tuple(
                Circle(
                    share * c.kappa, float(np.arctan2(c.mu[1], c.mu[0])) if c.mu else 0.0, c.radius
                )
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

    On uniform circles, without Doob weight and with an antisymmetric link, a step turns by
    atan(c/2β) in the mean, so that j = (2ħβ/π) atan(c/2β) exactly: there the bias of currents is of
    order 2. On a torus, whose points see fewer others, β grows like N^1/4 only.

    Parameters
    ----------
    id, statement, source : str
    space : Circle or FlatTorus
    score : Distance
    hbar : float
        As in `CurrentProblem`.

    Returns
    -------
    Claim
        As of `operator_claim`.
    """
    problem = CurrentProblem(space, score, hbar)
    # exp(-3β) must stay invisible in the sampling check too
    course, orders = (
        Course(14.0, sampling_beta=5.0, points=250_000),
        (1.0,) * len(problem.functions),
    )
    if space.dim > 1:
        course = Course(4.0, smallest=600, rate=0.25, first_bias=8.0)
    if problem.uniform:
        course = replace(course, first_bias=8.0, bias_steps=5)
        if space.dim == 1:
            course = replace(course, points=60_000)
        orders = (*(2.0 for _ in range(space.dim)), 1.0)
    return operator_claim(
        id, problem, statement=statement, source=source, course=course, orders=orders
    )
