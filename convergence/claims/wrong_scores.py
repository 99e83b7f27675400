"""Mistakes that can be made with a score: what a claim about it must be able to reject."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch

from ..scores import (
    RANDOM_WALK,
    CoifmanLafon,
    Distance,
    GeneralLink,
    IndefiniteHead,
    Jump,
    KeyPotential,
    Mixture,
    Normalisation,
    PerPointMetric,
    Score,
    Sinkhorn,
    TargetMeasure,
)
from ..spaces import Polynomial

_GENERAL_LINKS = {"link reversed": -1.0, "link halved": 0.5, "link doubled": 2.0}
# u = x + Mᵀx/β is the link 2M
_LINKS = {"link reversed": -1.0, "link halved": 0.5, "queries moved by Mᵀx/β for Mᵀx/2β": 2.0}


@singledispatch
def wrong_scores(score: Score) -> dict[str, Score]:
    """By name: scores whose expectation must be rejected in place of this one's."""
    return {}


@wrong_scores.register
def _(score: Distance) -> dict[str, Score]:
    wrong = {
        name: replace(score, normalisation=normalisation)
        for name, normalisation in _wrong_normalisations(score.normalisation).items()
    }
    if score.doob:
        wrong["Doob weight omitted"] = replace(score, doob=())
        wrong["Doob weight squared"] = replace(score, doob=tuple(2 * a for a in score.doob))
    if score.link:
        wrong["link omitted"] = replace(score, link=())
        for name, factor in _LINKS.items():
            link = tuple(tuple(factor * entry for entry in row) for row in score.link)
            wrong[name] = replace(score, link=link)
    return dict(wrong)


@wrong_scores.register
def _(score: Mixture) -> dict[str, Score]:
    def with_jumps(change: Callable[[Jump], Jump]) -> Mixture:
        return replace(score, jumps=tuple(change(jump) for jump in score.jumps))

    halves = with_jumps(lambda jump: replace(jump, rate=half(jump.rate)))
    wrong: dict[str, Score] = {"jumps omitted": score.local, "rate halved": halves}
    back = with_jumps(lambda jump: replace(jump, matrix=tuple(zip(*jump.matrix, strict=True))))
    if back != score and not any(jump.shift for jump in score.jumps):  # T an isometry
        reverse = tuple(replace(jump, rate=half(jump.rate)) for jump in back.jumps)
        wrong["symmetric law for a directed one"] = replace(score, jumps=halves.jumps + reverse)
    for name, local in wrong_scores(score.local).items():
        if isinstance(local, Distance):
            wrong[name] = replace(score, local=local)
    return wrong


@wrong_scores.register
def _(score: IndefiniteHead) -> dict[str, Score]:
    wrong: dict[str, Score] = {"rate halved": replace(score, rate=score.rate / 2)}
    return wrong | ({"sign of c": replace(score, third=-score.third)} if score.third else {})


def half(rate: float | Polynomial) -> float | Polynomial:
    """Half a jump rate."""
    if isinstance(rate, Polynomial):
        return Polynomial.from_sympy(rate.poly / 2, rate.ambient_dim, rate.name)
    return rate / 2


def _wrong_normalisations(normalisation: Normalisation) -> dict[str, Normalisation]:
    wrong: dict[str, Normalisation]
    if isinstance(normalisation, CoifmanLafon) and normalisation.alpha:
        alpha = normalisation.alpha
        return {
            "α omitted": RANDOM_WALK,
            "α doubled": CoifmanLafon(2 * alpha),
            "sign of α": CoifmanLafon(-alpha),
        }
    if isinstance(normalisation, Sinkhorn):
        wrong = {"scaling omitted": RANDOM_WALK, "root missing in Sinkhorn": CoifmanLafon(1.0)}
        return {"marginal omitted": Sinkhorn(), **wrong} if normalisation.log_marginal else wrong
    if isinstance(normalisation, KeyPotential):
        return {"ψ omitted": RANDOM_WALK}
    if isinstance(normalisation, TargetMeasure):
        return {
            "target omitted": CoifmanLafon(1.0),
            "ρ left in": KeyPotential(normalisation.log_density),
        }
    return {}


@wrong_scores.register
def _(score: PerPointMetric) -> dict[str, Score]:
    other = "Itô for Laplace-Beltrami" if score.symmetrised else "Laplace-Beltrami for Itô"
    flat = tuple(tuple(str(int(a == b)) for b in range(score.dim)) for a in range(score.dim))
    return {
        other: replace(score, symmetrised=not score.symmetrised),
        "G⁻¹ for G": replace(score, metric=score.inverse, factor=()),
        "G = I": replace(score, metric=flat, factor=()),
    }


@wrong_scores.register
def _(score: GeneralLink) -> dict[str, Score]:
    return {
        "link omitted": Distance(),
        **{name: score.scaled(factor) for name, factor in _GENERAL_LINKS.items()},
    }


def wrong_drifts(score: Score) -> dict[str, Score]:
    """By name: scores whose limit's first-order part must be rejected in place of this one's.

    The Itô form has the coordinate density q where the symmetrised limit has q/sqrt(det G).
    """
    if not isinstance(score, PerPointMetric):
        return {}
    name = "det G omitted from ρ" if score.symmetrised else "q/√det G for q"
    return {name: replace(score, symmetrised=not score.symmetrised)}
