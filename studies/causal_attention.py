"""Causal attention along a position: one-sided steps transport, they do not diffuse.

With keys at or before the query only, P - I is of order β^-1/2, not 1/β: sqrt(πβ)(P - I)f → -f',
with a bias of order β^-1/2. The scale 4ħβ of the diffusive limits is rejected.
"""

from convergence.claims import causal_claim
from convergence.running import Study
from convergence.spaces import Chart, Coordinate, Gaussian

SOURCE = "Candanedo, arXiv:2604.09560, causal masks"
LIMIT = r"$\sqrt{\pi\beta}\,(P - I)f \to -f'$"

line = Gaussian(((1.7,),))
interval = Chart((Coordinate("t", 0.0, 1.0),), ("t",))
sloped = Chart((Coordinate("t", 0.0, 1.0),), ("t",), "sin(4*t)")

STUDY = Study(
    title="Causal attention: transport along a position",
    claims=(
        causal_claim(
            "gaussian",
            line,
            (line.polynomial("x0"), line.polynomial("x0**3/3 + x0")),
            statement=rf"$\mathbb{{R}}$, $N(0,\sigma^2)$, keys $y \leq x$: {LIMIT}",
            source=SOURCE,
        ),
        causal_claim(
            "uniform",
            interval,
            (interval.function("sin(2*t)"), interval.function("exp(t)")),
            statement=rf"$[0,1]$, uniform positions, keys $y \leq x$: {LIMIT}",
            source=SOURCE,
        ),
        causal_claim(
            "sloped",
            sloped,
            (sloped.function("t"), sloped.function("sin(2*t) + t**2")),
            statement=rf"$[0,1]$, density $e^{{\sin 4t}}$, keys $y \leq x$: {LIMIT}",
            source=SOURCE,
        ),
    ),
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
