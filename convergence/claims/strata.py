"""Claims on stratified spaces: layers, limits on the strata, what the kernel sees, exponents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .. import limits
from ..errors import require_tuple
from ..spaces import Ray, StrataFunction, StratifiedSpace
from ..verification import Claim, Fault
from .strata_problems import LOWEST_BETA, DimensionProblem, Places, StrataProblem, strata_schedules

Rows = tuple[tuple[float, ...], ...]


def rows(values: np.ndarray) -> Rows:
    """An array (targets, functions) as plain data."""
    return tuple(map(tuple, np.asarray(values, dtype=float).tolist()))


def general_faults(
    problem: StrataProblem, meeting: bool, double: str | None = "β off by 2"
) -> tuple[Fault, ...]:
    """Wrong constants, and where strata meet a kernel that sees the target's own only."""
    right = problem.expectation
    faults = [Fault("10 % too large", lambda beta: 1.1 * right(beta))]
    if double is not None:
        faults.append(
            Fault(double, lambda beta: problem.expectation_of(beta, 2.0, None, None)),
        )
    if meeting and len(problem.space.strata) > 1:
        own = tuple((ray.stratum,) for ray, _ in problem.places)
        faults.append(
            Fault("other strata omitted", lambda beta: problem.expectation_of(beta, 1.0, own, None))
        )
    return tuple(faults)


def shifted(problem: StrataProblem, wrong: Mapping[str, np.ndarray]) -> tuple[Fault, ...]:
    """The right expectation with a wrong limit under it."""

    def moved(change: np.ndarray, beta: float) -> np.ndarray:
        return problem.expectation(beta) + change

    return tuple(
        Fault(name, partial(moved, np.asarray(limit) - problem.limit))
        for name, limit in wrong.items()
    )


def strata_claim(
    id: str,
    problem: Any,
    labels: tuple[str, ...],
    *,
    statement: str,
    source: str,
    faults: tuple[Fault, ...],
    rate: float,
    order: float | None,
    step: float = 1.0,
    betas: tuple[float, ...] = (),
    lowest: float = LOWEST_BETA,
    samples: int = 1,
) -> Claim:
    """All four checks of a `StrataProblem` along β = c N^rate.

    Parameters
    ----------
    id, statement, source : str
    problem : StrataProblem
    labels : tuple of str
        LaTeX of every column.
    faults : tuple of Fault
    rate : float
    order : float or None
        Of the bias in 1/β; None: below every power.
    step : float
        Between the exponents of the bias.
    betas : tuple of float
        For a claim without an order: that of the samples, and a last one where no bias is left.
    lowest : float
        The smallest β of the samples.
    samples : int
        Multiple of the plan's sample sizes.
    """
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=problem.space,
        functions=labels,
        estimate=problem.estimate,
        streamed=True,
        expectation=problem.expectation,
        limit=problem.limit,
        schedules=strata_schedules(problem, rate, order, betas, lowest, samples),
        sampling_error=problem.sampling_error,
        effective_degree=problem.effective_degree,
        bias_order=order,
        bias_step=step,
        slope=-0.5 if order is None else -rate * order,
        faults=faults,
        configuration=repr(problem),
    )


def layer_claim(
    id: str,
    space: StratifiedSpace,
    rays: Sequence[Ray],
    places: Sequence[tuple[int, float]],
    functions: tuple[StrataFunction, ...],
    *,
    statement: str,
    source: str,
    wrong: Mapping[str, Callable[[limits.Layer], limits.Layer]] | None = None,
) -> Claim:
    """The claim sqrt β (P - I) f → its profile in s, at distances s/sqrt β from where rays meet.

    Parameters
    ----------
    id, statement, source : str
    space : StratifiedSpace
        Of one dimension d near there.
    rays : sequence of Ray
        All that leave the meeting point (of half-spaces, across their edge).
    places : sequence of (int, float)
        Number of a ray, and s.
    functions : tuple of StrataFunction
        Continuous there.
    wrong : mapping, optional
        Further faults: a name, and what makes a wrong `limits.Layer` of the right one.

    Returns
    -------
    Claim
        With all four checks; bias of order β^-1/2, and the slope -1/(d + 2) along
        β = c N^{2/(d + 2)}.
    """
    require_tuple("functions", functions)
    near = limits.layer(space, rays, functions)

    def profiles(of: limits.Layer) -> np.ndarray:
        return np.stack([of.profile(ray, s) for ray, s in places])

    def both_sides(of: limits.Layer) -> limits.Layer:
        """Every half-line as a whole one, f continued with its slope."""
        return limits.Layer(
            np.concatenate([of.directions, -of.directions]),
            np.concatenate([of.densities, of.densities]),
            np.concatenate([of.slopes, -of.slopes]),
        )

    at: Places = tuple((rays[ray], s) for ray, s in places)
    problem = StrataProblem(space, at, functions, rows(profiles(near)), 1.0, 0.5)
    makers = dict(wrong or {})
    if not np.allclose(profiles(both_sides(near)), problem.limit):
        makers["as if no ray ended"] = both_sides
    faults = (
        *general_faults(problem, True),
        Fault("sqrt(πβ) for sqrt β", lambda beta: np.sqrt(np.pi) * problem.expectation(beta)),
        Fault("outward derivative", lambda beta: -problem.expectation(beta)),
        Fault(
            "4β(I - P), a diffusion", lambda beta: -4 * np.sqrt(beta) * problem.expectation(beta)
        ),
        *shifted(problem, {name: profiles(make(near)) for name, make in makers.items()}),
    )
    labels = tuple(f.label for f in functions)
    return strata_claim(
        id, problem, labels, statement=statement, source=source, faults=faults,
        rate=2 / (space.dim + 2), order=0.5, step=0.5,
    )  # fmt: skip


def turned(angle: float) -> Callable[[limits.Layer], limits.Layer]:
    """A fault: the second of two crossing lines at another angle (0: on one line)."""
    line = np.array([np.cos(angle), np.sin(angle)])

    def make(of: limits.Layer) -> limits.Layer:
        return replace(of, directions=np.stack([*of.directions[:2], line, -line]))

    return make


def interior_claim(
    id: str,
    space: StratifiedSpace,
    places: Places,
    functions: tuple[StrataFunction, ...],
    *,
    statement: str,
    source: str,
    order: float | None = 1.0,
    betas: tuple[float, ...] = (),
    limit: np.ndarray | None = None,
    wrong: Mapping[str, np.ndarray] | None = None,
) -> Claim:
    """The claim 4β(I - P) f → 𝒞f of the own stratum, at fixed places (ħ = 1).

    Parameters
    ----------
    id, statement, source : str
    space : StratifiedSpace
    places : tuple of (Ray, float)
        Rays, and distances along them.
    functions : tuple of StrataFunction
    order : float or None
        None where the only bias is what the kernel sees of the singular set, exponentially little.
    betas : tuple of float
        For that case, the β of the samples and a last one at which the bias has vanished.
    limit : ndarray, optional
        In place of that of each target's own stratum.
    wrong : mapping, optional
        Further faults: a name, and a wrong limit (targets, functions).

    Returns
    -------
    Claim
        With all four checks; the slope -2/(d + 6) along β = c N^{2/(d + 6)}, or -1/2 at a fixed β.
    """
    require_tuple("functions", functions)
    still = StrataProblem(
        space, places, functions, ((0.0,) * len(functions),) * len(places), -4, 1, 0
    )
    x = still.targets(1.0)
    own = (
        np.stack([limits.strata_generator(space, f, x) for f in functions], axis=-1)
        if limit is None
        else limit
    )
    problem = replace(still, values=rows(own))
    slopes = np.array(
        [
            [f.slope(replace(ray, start=tuple(x_ray[: len(ray.start)]))) for f in functions]
            for x_ray, (ray, _) in zip(x[:, 1:], places, strict=True)
        ]
    )
    faults = (
        *general_faults(problem, limit is not None, None),  # a kernel of 2β gives 2/ε for 4/ε
        Fault("2/ε for 4/ε", lambda beta: problem.expectation(beta) / 2),
        Fault(
            "as at an end",
            lambda beta: problem.expectation(beta) - 4 * np.sqrt(beta / np.pi) * slopes,
        ),
        Fault("sign of 𝒞", lambda beta: -problem.expectation(beta)),
        *shifted(problem, wrong or {}),
    )
    labels = tuple(f.label for f in functions)
    return strata_claim(
        id, problem, labels, statement=statement, source=source, faults=faults,
        rate=0.0 if order is None else 2 / (space.dim + 6), order=order, betas=betas,
    )  # fmt: skip


def dimension_claim(
    id: str,
    space: StratifiedSpace,
    places: Places,
    dims: Sequence[float],
    *,
    statement: str,
    source: str,
    width: float,
    rate: float,
    order: float | None,
    step: float = 1.0,
    betas: tuple[float, ...] = (),
    wrong: Mapping[str, Sequence[float]] | None = None,
) -> Claim:
    """The claim -2 dlog q_β/dlog β → the dimension that the kernel sees.

    Parameters
    ----------
    id, statement, source : str
    space : StratifiedSpace
    places : tuple of (Ray, float)
        Targets at s β^-width along their rays.
    dims : sequence of float
        The limits.
    width, rate, order, step, betas
        As in `strata_claim`.
    wrong : mapping, optional
        Further faults: a name, and wrong limits.

    Returns
    -------
    Claim
        With all four checks.
    """
    problem = DimensionProblem(space, places, (), tuple((float(d),) for d in dims), 2.0, 1.0, width)
    limit = problem.limit
    other = {"a dimension more": limit + 1, "4β for 2β": 2 * limit}
    faults = (
        *general_faults(problem, width > 0),
        *shifted(problem, other),
        *shifted(problem, {name: np.array(d)[:, None] for name, d in (wrong or {}).items()}),
    )
    return strata_claim(
        id, problem, ("d",), statement=statement, source=source, faults=faults,
        rate=rate, order=order, step=step, betas=betas,
    )  # fmt: skip


def share_claim(
    id: str,
    space: StratifiedSpace,
    stratum: int,
    places: Places,
    shares: Sequence[float],
    *,
    statement: str,
    source: str,
    width: float,
    rate: float,
    wrong: Mapping[str, Sequence[float]] | None = None,
    other_widths: Sequence[float] = (),
) -> Claim:
    """The claim that a step from elsewhere lands in a stratum with a limiting probability.

    Parameters
    ----------
    id, statement, source : str
    space : StratifiedSpace
    stratum : int
    places : tuple of (Ray, float)
        Targets outside it, at s β^-width along their rays.
    shares : sequence of float
        The limits.
    width, rate : float
        Bias of order β^-1/2.
    wrong : mapping, optional
        Further faults: a name, and wrong limits.
    other_widths : sequence of float
        Further faults: layers of these widths.

    Returns
    -------
    Claim
        With all four checks; bias of order β^-1/2 and the slope -rate/2.
    """
    inside = space.function(*("1" if k == stratum else "0" for k in range(len(space.strata))))
    problem = StrataProblem(
        space, places, (inside,), tuple((float(p),) for p in shares), 1, 0, width
    )
    faults = (
        *general_faults(problem, True, "a kernel of 2β"),  # a share near one hardly changes
        *(
            Fault(f"a layer of width β^-{w:g}", partial(_at_width, problem, w))
            for w in other_widths
        ),
        *shifted(problem, {name: np.array(p)[:, None] for name, p in (wrong or {}).items()}),
    )
    return strata_claim(
        id, problem, (r"P 1_{\mathrm{other}}",), statement=statement, source=source,
        faults=faults, rate=rate, order=0.5, step=0.5,
    )  # fmt: skip


def _at_width(problem: StrataProblem, width: float, beta: float) -> np.ndarray:
    return problem.expectation_of(beta, 1.0, None, width)
