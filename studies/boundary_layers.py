"""Boundary layers: next to an edge one step leans inwards, β^-1/2 deep and not β^-1.

At distance s/sqrt β from a boundary sqrt β (P - I) f → f' e^{-s²}/(sqrt π (1 + erf s)), f' the
inward derivative: 4ħβ(I - P) f diverges there like sqrt β. Further in, the usual limit is met with
the usual bias 1/β. Of cubics under a uniform density there is none: what is left is what the kernel
sees of the edge, of order e^{-s²}.
"""

from convergence.claims import (
    StrataProblem,
    decay_claim,
    exponent_claim,
    interior_claim,
    layer_claim,
)
from convergence.running import Study
from convergence.spaces import Disc, HalfLine, Interval, Ray

SOURCE = "Coifman & Lafon 2006, boundary terms"
PROFILE = r"$\sqrt{\beta}\,(P - I)f \to \partial_n f\, e^{-s^2}/(\sqrt{\pi}(1 + \mathrm{erf}\, s))$"

DIVERGES = r"$4\hbar\beta(I - P)f \propto \beta^{1/2}$ at the boundary"
AT = 0.7  # angle of the disc's boundary point

interval, sloped, half_line = Interval(), Interval(log_density="sin(2*t)"), HalfLine()
round_disc, disc = Disc(), Disc(log_density="r*cos(u)/2")


def at_boundary(space, ray, f):
    """4ħβ(I - P)f, with ħ = 1, at s = 0."""
    return StrataProblem(space, ((ray, 0.0),), (f,), ((0.0,),), -4.0, 1.0)


CLAIMS = (
    layer_claim(
        "interval",
        sloped,
        sloped.rays,
        ((0, 0.0), (0, 0.5), (0, 1.0)),
        (sloped.function("sin(3*t)"), sloped.function("exp(-t)")),
        statement=rf"$[0,1]$, density $e^{{\sin 2t}}$: {PROFILE}",
        source=SOURCE,
    ),
    layer_claim(
        "half-line",
        half_line,
        half_line.rays,
        ((0, 0.0), (0, 0.5), (0, 1.0)),
        (half_line.function("sin(t + 1/2)"), half_line.function("t + t**2")),
        statement=rf"half-line, half a Gaussian: {PROFILE}",
        source=SOURCE,
    ),
    layer_claim(
        "disc",
        disc,
        disc.rays_at(AT),
        ((0, 0.0), (0, 0.5), (0, 1.0)),
        (disc.function("x0 + x1"), disc.function("sin(2*x0) - x1**2")),
        statement=rf"disc, density $e^{{x_0/2}}$: {PROFILE}",
        source=SOURCE,
    ),
    interior_claim(
        "interval-interior",
        interval,
        ((interval.rays[0], 0.35), (interval.rays[0], 0.5), (interval.rays[0], 0.62)),
        (interval.function("t**2"), interval.function("t**3")),
        statement=r"$[0,1]$, uniform, interior, cubics: $-\hbar f''$ up to order $e^{-s^2}$",
        source=SOURCE,
        order=None,
        betas=(80.0, 320.0),
    ),
    interior_claim(
        "disc-interior",
        round_disc,
        tuple((Ray(0, (0.1, u), (1.0, 0.0)), 0.2) for u in (0.0, 2.0, 4.0)),
        (round_disc.function("x0**2 + x1"), round_disc.function("x0**3 + 2*x1**2")),
        statement=r"disc, uniform, interior, cubics: $-\hbar\Delta f$ up to order $e^{-s^2}$",
        source=SOURCE,
        order=None,
        betas=(25.0, 100.0),
    ),
    decay_claim(
        "interval-decay",
        interval,
        interval.rays[0],
        (0.5, 1.0, 1.5, 2.0),
        interval.function("t"),
        statement=r"$[0,1]$, uniform: $\sqrt{\beta}\,(P - I)t = e^{-s^2}/(\sqrt{\pi}"
        r"(1 + \mathrm{erf}\, s))$ at every $\beta$",
        source=SOURCE,
        betas=(40.0, 160.0),
    ),
    exponent_claim(
        "interval-exponent",
        at_boundary(sloped, sloped.rays[0], sloped.function("sin(3*t)")),
        0.5,
        diffusive=0.0,
        lowest=200.0,
        statement=rf"$[0,1]$: {DIVERGES}",
        source=SOURCE,
    ),
    exponent_claim(
        "disc-exponent",
        at_boundary(disc, disc.rays_at(AT)[0], disc.function("x0 + x1")),
        0.5,
        diffusive=0.0,
        statement=rf"disc: {DIVERGES}",
        source=SOURCE,
    ),
)


def collapse(run):
    from convergence.reporting.strata import layer_collapse

    f = sloped.function("sin(3*t)")
    layers = {
        r"$[0,1]$, $f = \sin 3t$": (sloped, sloped.rays, (0,), f),
        r"disc, $f = x_0 + x_1$": (disc, disc.rays_at(AT), (0,), disc.function("x0 + x1")),
    }
    return layer_collapse(layers, (40, 160, 640), 2_000 if run.preset == "smoke" else 40_000)


STUDY = Study("Boundary layers", CLAIMS, figures={"layer_profiles": collapse})

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
