"""Mixed dimensions: the degree of the kernel tells the strata apart, and the lower one wins.

Near a line through a plane the degree is the line's, β^-1/2 against β^-1: a step from the plane at
distance s/sqrt β lands on the line, and -2 dlog q_β/dlog β → 1 + 2s² there, 2 on the plane and 1 on
the line. Two spheres that touch see each other up to β^-1/4. On a cone the flat limit is met like
1/(β r²).
"""

import numpy as np

from convergence.claims import (
    StrataProblem,
    dimension_claim,
    exponent_claim,
    interior_claim,
    share_claim,
)
from convergence.limits import strata_generator, tangent_share
from convergence.running import Study
from convergence.spaces import (
    Cone,
    CrossingLines,
    LineThroughPlane,
    OpenBook,
    Ray,
    StarGraph,
    TouchingSpheres,
)

SOURCE = "Candanedo, arXiv:2604.09560, local dimension"

pierced = LineThroughPlane(line_share=0.6)
spheres = TouchingSpheres()
cone, steeper = Cone(0.6), Cone(0.8)

away = ((pierced.plane_ray(0.3), 0.5), (pierced.plane_ray(2.4), 0.55), (pierced.line_ray, 0.5))
near = ((pierced.line_ray, 0.0), (pierced.plane_ray(0.0), 0.4), (pierced.plane_ray(1.0), 0.7))
sheets = ((spheres.ray(0, 0.0), 1.1), (spheres.ray(0, 1.0), 0.9))
opposite = spheres.function("x0", "-x0", label="\\pm x_0")
around = tuple((Ray(0, (0.0, u), (1.0, 0.0)), r) for u, r in ((0.5, 0.4), (2.6, 0.5), (4.0, 0.6)))
ON_CONE = ("r**2*(1 + cos(u))", "r + r**2*sin(2*u)")
on_spheres = tuple((spheres.ray(k, v), 1.8) for k, v in ((0, 0.4), (1, 2.5)))


def wrong_cone():
    """The limit on a cone of another angle, at the same coordinates."""
    points = np.stack([steeper.along(ray, np.array(r)) for ray, r in around])
    functions = [steeper.function(e) for e in ON_CONE]
    return np.stack([strata_generator(steeper, f, points) for f in functions], axis=-1)


CLAIMS = (
    dimension_claim(
        "dimension-away",
        pierced,
        away,
        (2, 2, 1),
        statement=r"line through a plane, away: $-2\,d\log q_\beta/d\log\beta$ is 2 and 1",
        source=SOURCE,
        width=0.0,
        rate=0.0,
        order=None,
        betas=(45.0, 240.0),
        wrong={"plane and line exchanged": (1, 1, 2)},
    ),
    dimension_claim(
        "dimension-near",
        pierced,
        near,
        [1 + 2 * s**2 for ray, s in near],
        statement=r"line through a plane, at $s/\sqrt{\beta}$: $1 + 2s^2$ on the plane",
        source=SOURCE,
        width=0.5,
        rate=2 / 3,
        order=0.5,
        step=0.5,
        wrong={"the plane's": (2, 2, 2), "1 + s²": [1 + s**2 for _, s in near]},
    ),
    share_claim(
        "the-line-wins",
        pierced,
        1,
        near[1:],
        (1.0, 1.0),
        statement=r"a step from the plane at $s/\sqrt{\beta}$ lands on the line: probability 1",
        source=SOURCE,
        width=0.5,
        rate=2 / 3,
        wrong={"equal shares": (0.5, 0.5)},
    ),
    interior_claim(
        "limits-away",
        pierced,
        away,
        (pierced.function("x0**2 + x1**2 + x2**2"),),
        statement=r"line through a plane, away: $-\hbar\Delta$ of either stratum",
        source=SOURCE,
        order=None,
        betas=(45.0, 240.0),
        wrong={"the other stratum's": np.array([[-2.0], [-2.0], [-4.0]])},
    ),
    interior_claim(
        "spheres-away",
        spheres,
        on_spheres,
        (spheres.function("x0*x1 + x0"), spheres.function("x0*x2")),
        statement=r"touching spheres, away: $-\hbar\Delta$ of the sphere",
        source=SOURCE,
        wrong={"the Laplacian of space": np.zeros((2, 2))},
    ),
    share_claim(
        "spheres-touching",
        spheres,
        1,
        sheets,
        [tangent_share(s) for _, s in sheets],
        statement=r"touching spheres, at $s\beta^{-1/4}$: the other has $e^{-s^4}/(1 + e^{-s^4})$",
        source=SOURCE,
        width=0.25,
        rate=0.5,
        other_widths=(0.5,),
        wrong={"e^{-s²}": [1 / (1 + np.exp(s**2)) for _, s in sheets]},
    ),
    exponent_claim(
        "layer-of-spheres",
        StrataProblem(spheres, sheets[1:2], (opposite,), ((0.0,),), -4.0, 1.0, 0.25),
        0.75,
        diffusive=0.0,
        lowest=4.0,
        statement=r"touching spheres, $f = \pm x_0$: $4\hbar\beta(I - P)f \propto \beta^{3/4}$",
        source=SOURCE,
        other_widths=(0.5,),
    ),
    interior_claim(
        "cone",
        cone,
        around,
        tuple(cone.function(e) for e in ON_CONE),
        statement=r"cone, off its apex: the flat $-\hbar\Delta$, up to $1/(\beta r^2)$",
        source=SOURCE,
        wrong={"another cone": wrong_cone()},
    ),
)


def dimensions(run):
    from convergence.reporting.strata import samples_by_dimension

    spaces = {
        "line through a plane": pierced,
        "touching spheres": spheres,
        "cone": cone,
        "open book": OpenBook((0.0, 1.0, 2.8)),
        "crossing lines": CrossingLines(1.0),
        "star graph": StarGraph((1.0, 0.8, 0.55)),
    }
    return samples_by_dimension(spaces, 1_000 if run.preset == "smoke" else 30_000, 60.0)


STUDY = Study("Mixed dimensions", CLAIMS, figures={"local_dimension": dimensions})

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
