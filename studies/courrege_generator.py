"""Courrège generator: diffusion, drift, a directed link and directed jumps, all at once.

𝒞f = -ħΔf + 2⟨dΦ + 𝒜⊥, df⟩ + ∫ j(x, y)(f(x) - f(y)) dy, j not symmetric: on a circle with link and
von Mises jumps a quarter turn ahead, with density and a rate that depends on the state, on a
torus, and for a rotating Gaussian that is reset at random times. Every part of the generator is
also recovered by itself, and the steady state is held against a Fourier-Galerkin matrix.
"""

from convergence.claims import Sector, generator_claim, sector_claim, steady_claim
from convergence.running import Study
from convergence.scores import Distance, Jump, Mixture, harmonic_link
from convergence.spaces import Circle, FlatTorus, Gaussian

SOURCE = "Courrège 1965; Candanedo, arXiv:2604.09560"

circle = Circle()
ring = Circle(kappa=0.8, mean_angle=0.5)
torus = FlatTorus((Circle(kappa=0.6, mean_angle=0.5), Circle(kappa=0.4, mean_angle=-1.0)))
plane = Gaussian(((2.0, 0.5), (0.5, 1.0)))

QUARTER_TURN = ((0.0, -1.0), (1.0, 0.0))
BACK = ((0.0, 1.0), (-1.0, 0.0))
# (θ₁, θ₂) to (θ₁ + π/2, θ₂ + π), and back
SCREW = ((0, -1, 0, 0), (1, 0, 0, 0), (0, 0, -1, 0), (0, 0, 0, -1))
UNSCREW = ((0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, -1, 0), (0, 0, 0, -1))
ROTATION = ((0.0, 0.7), (-0.7, 0.0))
NOWHERE = ((0.0, 0.0), (0.0, 0.0))
WIDTH = 1.5  # von Mises jumps of concentration 3

LINK = harmonic_link([0.8])
state_rate = ring.polynomial("2 + x0 - x1/2")


def jumping(space, local, rate, matrix, shift=(), beta=WIDTH):
    return Mixture(space, local, (Jump(rate, matrix, shift, beta),))


on_circle = jumping(circle, Distance(link=LINK), 2.0, QUARTER_TURN)
on_ring = jumping(ring, Distance((0.3, -0.2), link=LINK), state_rate, QUARTER_TURN)
backwards = jumping(ring, Distance((0.3, -0.2), link=LINK), state_rate, BACK)
# more of a current, so that few points show it
turning = Circle(kappa=0.4, mean_angle=0.5)
quick = Distance((0.3, -0.2), link=harmonic_link([1.5]))
turning_rate = turning.polynomial("2 + x0 - x1/2")
on_turning_ring = jumping(turning, quick, turning_rate, QUARTER_TURN)
on_torus = jumping(torus, Distance(link=harmonic_link([0.8, -0.6])), 2.0, SCREW)
reset = jumping(plane, Distance(link=ROTATION), 2.0, NOWHERE, (0.8, -0.4), 0.8)

STUDY = Study(
    title="Courrège generator: drift, link and directed jumps",
    claims=(
        generator_claim(
            "circle",
            circle,
            on_circle,
            (circle.fourier(1, 0.3), circle.fourier(2, 0.7)),
            statement=r"$S^1$, uniform, link $c$, von Mises jumps to $x + \frac{\pi}{2}$: "
            r"$e^{ik\theta} \to \hbar k^2 - 2i\hbar ck + \lambda(1 - i^k I_k(\kappa)/I_0(\kappa))$",
            source=SOURCE,
            hbar=0.7,
            wrong={
                "jump to the wrong point": (
                    circle,
                    jumping(circle, Distance(link=LINK), 2.0, BACK),
                )
            },
        ),
        generator_claim(
            "ring-state-rate",
            ring,
            on_ring,
            (ring.fourier(1, 0.3), ring.fourier(2, 1.2)),
            statement=r"$S^1$, von Mises, Doob $e^{a\cdot y}$, link and jumps at the rate "
            r"$\lambda(x)$: all parts at once",
            source=SOURCE,
            wrong={"jump to the wrong point": (ring, backwards)},
        ),
        generator_claim(
            "torus",
            torus,
            on_torus,
            (torus.fourier((1, 1), (0.3, 0.9)), torus.fourier((2, 1), (0.2, 0.4))),
            statement=r"$T^2$, von Mises, harmonic link and directed jumps",
            source=SOURCE,
            wrong={
                "jump to the wrong point": (
                    torus,
                    jumping(torus, Distance(link=harmonic_link([0.8, -0.6])), 2.0, UNSCREW),
                )
            },
        ),
        generator_claim(
            "gaussian-reset",
            plane,
            reset,
            (plane.polynomial("x0*x1"), plane.polynomial("x0**2 - x1")),
            statement=r"$\mathbb{R}^2$, $N(0,\Sigma)$, rotation and resets around a point",
            source=SOURCE,
            wrong={
                "reset to the wrong point": (
                    plane,
                    jumping(plane, Distance(link=ROTATION), 2.0, NOWHERE, (0.8, 0.4), 0.8),
                )
            },
        ),
        sector_claim(
            "ring-parts",
            ring,
            on_ring,
            (
                Sector(r"\hbar", 0, direction=QUARTER_TURN, square=True),
                Sector(r"2\mathcal{A}_\theta", 0, direction=QUARTER_TURN),
                Sector(r"\lambda", 1),
                Sector(r"jumps of $\cos\theta$", 1, f=ring.fourier(1, 0.0)),
                Sector(r"jumps of $\sin\theta$", 1, f=ring.fourier(1, -1.5707963267948966)),
            ),
            (ring.fourier(1, 0.3),),
            statement=r"$S^1$, von Mises: diffusion, drift, jump rate and jump law, each by itself",
            source=SOURCE,
            hbar=0.7,
            target_count=1,
            wrong={"jump to the wrong point": backwards},
        ),
        steady_claim(
            "ring-steady-state",
            turning,
            on_turning_ring,
            statement=r"$S^1$, von Mises, link and jumps at the rate $\lambda(x)$: stationary law "
            r"and local current",
            source=SOURCE,
            hbar=0.7,
            wrong={"jump to the wrong point": jumping(turning, quick, turning_rate, BACK)},
        ),
    ),
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
