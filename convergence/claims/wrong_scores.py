"""Mistakes that can be made with a score: what a claim about it must be able to reject."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from ..scores import Distance, PerPointMetric, Score

# u = x + Mᵀx/β is the link 2M
_LINKS = {"link reversed": -1.0, "link halved": 0.5, "queries moved by Mᵀx/β for Mᵀx/2β": 2.0}


@singledispatch
def wrong_scores(score: Score) -> dict[str, Score]:
    """By name: scores whose expectation must be rejected in place of this one's."""
    return {}


@wrong_scores.register
def _(score: Distance) -> dict[str, Score]:
    found: dict[str, Score] = {}
    if score.doob:
        squared = tuple(2 * a for a in score.doob)
        found["Doob weight omitted"] = replace(score, doob=())
        found["Doob weight squared"] = replace(score, doob=squared)
    if score.link:
        found["link omitted"] = replace(score, link=())
        for name, factor in _LINKS.items():
            link = tuple(tuple(factor * entry for entry in row) for row in score.link)
            found[name] = replace(score, link=link)
    return found


@wrong_scores.register
def _(score: PerPointMetric) -> dict[str, Score]:
    other = "Itô for Laplace-Beltrami" if score.symmetrised else "Laplace-Beltrami for Itô"
    flat = tuple(tuple(str(int(a == b)) for b in range(score.dim)) for a in range(score.dim))
    return {
        other: replace(score, symmetrised=not score.symmetrised),
        "G⁻¹ for G": replace(score, metric=score.inverse, factor=()),
        "G = I": replace(score, metric=flat, factor=()),
    }


def wrong_drifts(score: Score) -> dict[str, Score]:
    """By name: scores whose limit's first-order part must be rejected in place of this one's.

    The Itô form has the coordinate density q where the symmetrised limit has q/sqrt(det G).
    """
    if not isinstance(score, PerPointMetric):
        return {}
    name = "det G omitted from ρ" if score.symmetrised else "q/√det G for q"
    return {name: replace(score, symmetrised=not score.symmetrised)}
