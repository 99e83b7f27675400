"""Stationary currents: sampled walks circulate as Stratonovich's and Lyapunov's equations say.

The antisymmetric part of the stationary flow of P, times 4ħβ, gives the currents of the Fokker-
Planck equation on rings and tori with potential and constant force, their entropy production, and
the circulation of a rotating Gaussian. Errors are taken from replicates, since the stationary law
is estimated from the same sample. The law of the random walk is ρ², not the sampling law ρ.
"""

from convergence.claims import current_claim, rotation_claim
from convergence.running import Study
from convergence.scores import Distance, harmonic_link
from convergence.spaces import Circle, FlatTorus, Gaussian

RISKEN = "Stratonovich 1967; Risken, The Fokker-Planck Equation, chapter 11"
SOURCE = "Candanedo, arXiv:2604.09560, Witten-Novikov-Girsanov drift"

ring = Circle(kappa=1.0, mean_angle=0.6)
torus = FlatTorus((Circle(kappa=0.4, mean_angle=0.5), Circle(kappa=0.3)))
plane = Gaussian(((1.0, 0.3), (0.3, 0.6)))
tilt = Distance(link=harmonic_link([1.1]))

# mixes the circles, dc ≠ 0: for the figure
MIXING = Distance(
    link=(
        (0.0, 0.3, 0.9, -0.4),
        (-0.3, 0.0, 0.3, 0.8),
        (-0.9, -0.3, 0.0, -0.3),
        (0.4, -0.8, 0.3, 0.0),
    )
)


def around_the_ring(run):
    from convergence.reporting.ring_current import ring_current

    n, samples = (300, 3) if run.preset == "smoke" else (1500, 8)
    return ring_current(ring, tilt, n, hbar=0.7, samples=samples)


def on_the_torus(run):
    from convergence.reporting.torus_current import torus_current

    n, samples = (400, 3) if run.preset == "smoke" else (2000, 8)
    return torus_current(torus, MIXING, n, hbar=0.7, samples=samples)


STUDY = Study(
    title="Stationary currents of directed links",
    claims=(
        current_claim(
            "uniform-ring",
            Circle(),
            Distance(link=harmonic_link([0.9])),
            statement=r"$S^1$, uniform, constant $c$: $j = 2\hbar c/2\pi$, $\dot S = 4\hbar c^2$",
            source=SOURCE,
            hbar=0.7,
        ),
        current_claim(
            "tilted-ring",
            ring,
            tilt,
            statement=r"$S^1$, von Mises, link $c\,\sin(y - x)$: Stratonovich's $j$ and $\dot S$",
            source=RISKEN,
            hbar=0.7,
        ),
        current_claim(
            "torus-harmonic",
            torus,
            Distance(link=harmonic_link([0.9, -0.6])),
            statement=r"$T^2$, von Mises, harmonic form: $j_a$ through both cuts and $\dot S$",
            source=RISKEN,
            hbar=0.7,
        ),
        rotation_claim(
            "gaussian-rotation",
            plane,
            Distance(link=((0.0, 0.9), (-0.9, 0.0))),
            statement=r"$\mathbb{R}^2$, $N(0,\Sigma)$, rotation: $KS + SK^T = I$, "
            r"$J = 2\hbar(KS - SK^T)$",
            source="Risken, The Fokker-Planck Equation, section 6.5",
            hbar=0.7,
        ),
    ),
    figures={"around_the_ring": around_the_ring, "on_the_torus": on_the_torus},
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
