"""Stationary currents: a sampled walk on a tilted ring circulates as Stratonovich's formula says.

The antisymmetric part of the stationary flow of P, times 4ħβ, gives the current of the Fokker-
Planck equation on a ring with potential and constant force, and its entropy production. Errors
are taken from replicates, since the stationary law is estimated from the same sample.
"""

from convergence.claims import current_claim
from convergence.running import Study
from convergence.scores import Distance, harmonic_link
from convergence.spaces import Circle

RISKEN = "Stratonovich 1967; Risken, The Fokker-Planck Equation, chapter 11"

ring = Circle(kappa=1.0, mean_angle=0.6)
tilt = Distance(link=harmonic_link([1.1]))


def around_the_ring(run):
    from convergence.reporting.ring_current import ring_current

    n, samples = (300, 3) if run.preset == "smoke" else (1500, 8)
    return ring_current(ring, tilt, n, hbar=0.7, samples=samples)


STUDY = Study(
    title="Stationary currents of directed links",
    claims=(
        current_claim(
            "tilted-ring",
            ring,
            tilt,
            statement=r"$S^1$, von Mises, link $c\,\sin(y - x)$: Stratonovich's $j$ and $\dot S$",
            source=RISKEN,
            hbar=0.7,
        ),
    ),
    figures={"around_the_ring": around_the_ring},
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
