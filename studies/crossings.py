"""Crossings: where lines or pages meet, one step sees all of them, weighted by their distance.

At distance s/sqrt β from where two lines cross under ω, the other line has the relative weight
w = e^{-s² sin²ω}: sqrt β (P - I) f has a profile of its own on either line, and 4ħβ(I - P) f
diverges like sqrt β except exactly at the crossing, where it is the mean of both lines' limits.
"""

import dataclasses

import numpy as np

from convergence.claims import (
    StrataProblem,
    exponent_claim,
    interior_claim,
    layer_claim,
    turned,
)
from convergence.limits import crossing_generator
from convergence.running import Study
from convergence.spaces import CrossingLines, OpenBook

SOURCE = "Candanedo, arXiv:2604.09560; layers of two lines"
# numbers of the four half-lines: 0 and 1 along the first line, 2 and 3 along the second
PLACES = ((0, 0.5), (0, 1.0), (2, 0.7))
PIECES = ("2*sin(t) + t**2", "exp(-t) - 1")


def crossing(id, angle, name, other):
    lines = CrossingLines(angle)
    return layer_claim(
        id,
        lines,
        lines.rays,
        PLACES,
        (lines.function(*PIECES), lines.function("x0 - x1 + x0**2")),
        statement=rf"lines crossing at ${name}$: $w = e^{{-s^2\sin^2\omega}}$ on both",
        source=SOURCE,
        wrong={
            "perpendicular": turned(np.pi / 2),
            "on one line": turned(1e-9),
            "another angle": turned(other),
        }
        if angle < 1.5
        else {"on one line": turned(1e-9), "another angle": turned(other)},
    )


uneven = CrossingLines(1.2, log_densities=("t/2", "-t"), masses=(2.0, 1.0))
plain = CrossingLines(np.pi / 3, log_densities=("sin(t)", "0"))
sharp, book = CrossingLines(0.5), OpenBook((0.0, 1.0, 2.8))
three = (plain.function(*PIECES), plain.function("cos(2*t)", "1 + t - t**2"))
at_crossing = np.array([[crossing_generator(plain, plain.rays[::2], f) for f in three]])
first_only = np.array([[crossing_generator(plain, plain.rays[:1], f) for f in three]])


def equal_densities(layer):
    return dataclasses.replace(layer, densities=np.ones(len(layer.densities)))


CLAIMS = (
    crossing("angle-0.5", 0.5, r"\omega = 0.5", 0.7),
    crossing("angle-60", np.pi / 3, r"\omega = \pi/3", 0.8),
    crossing("angle-90", np.pi / 2, r"\omega = \pi/2", 1.0),
    layer_claim(
        "uneven",
        uneven,
        uneven.rays,
        PLACES,
        (uneven.function(*PIECES),),
        statement="lines of densities 2 to 1: weights times densities",
        source=SOURCE,
        wrong={"densities omitted": equal_densities, "another angle": turned(0.9)},
    ),
    interior_claim(
        "at-the-crossing",
        plain,
        ((plain.rays[0], 0.0),),
        three,
        statement=r"exactly at the crossing: $\sum\rho_k\mathcal{C}_k f/\sum\rho_k$, "
        r"uniform $-\frac{\hbar}{2}(f_1'' + f_2'')$",
        source=SOURCE,
        limit=at_crossing,
        wrong={"the first line's": first_only, "sum for mean": 2 * at_crossing},
    ),
    exponent_claim(
        "divergence",
        StrataProblem(
            sharp,
            ((sharp.rays[0], 0.9), (sharp.rays[2], 0.9)),
            (sharp.function("sin(t) + t**2", "-t"),),
            ((0.0,),) * 2,
            -4.0,
            1.0,
        ),
        0.5,
        diffusive=0.0,
        lowest=100.0,
        statement=r"beside the crossing $4\hbar\beta(I - P)f \propto \beta^{1/2}$",
        source=SOURCE,
        other_widths=(0.25,),
    ),
    layer_claim(
        "open-book",
        book,
        book.rays_at(0.5),
        ((0, 0.0), (1, 0.5), (2, 1.0)),
        (book.function("2*a + h*a", "sin(a)", "a**2 - a"),),
        statement="three pages with one spine: the same across it",
        source=SOURCE,
    ),
)


def collapse(run):
    from convergence.reporting.strata import layer_collapse

    layers = {}
    for name, angle in (
        (r"\omega = 0.5", 0.5),
        (r"\omega = \pi/3", np.pi / 3),
        (r"\omega = \pi/2", np.pi / 2),
    ):
        lines = CrossingLines(angle)
        title = rf"${name}$: on $u_1$ (solid), $u_2$ (dashed)"
        layers[title] = (lines, lines.rays, (0, 2), lines.function(*PIECES))
    return layer_collapse(layers, (60, 960), 2_000 if run.preset == "smoke" else 20_000)


STUDY = Study("Crossings", CLAIMS, figures={"layer_profiles": collapse})

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
