"""Beurling-Deny jumps: remote bonds of relative mass λ/(4ħβ) survive the limit beside diffusion.

𝒞f = -ħΔf + 2⟨dΦ, df⟩ + (1/ρ)∫ j(x, y)(f(x) - f(y)) dν(y): bonds between antipodal points of a
circle and a sphere, between mirror images on a torus, a jump law of finite width, a rate that
depends on the state, and a single indefinite head whose score has a second maximum.
"""

from math import pi

from convergence.claims import Sector, energy_claim, generator_claim, sector_claim, varadhan_claim
from convergence.running import Study
from convergence.scores import Distance, IndefiniteHead, Jump, Mixture
from convergence.spaces import Circle, FlatTorus, Sphere

SOURCE = "Candanedo, arXiv:2604.09560, Beurling-Deny forms"
VARADHAN = "Varadhan 1967; Candanedo, arXiv:2604.09560"
HEAD = "Candanedo, arXiv:2604.09560, indefinite heads at the critical gap"

circle = Circle()
ring = Circle(kappa=0.8, mean_angle=0.5)
sphere = Sphere(2, kappa=0.6, mu=(0.9, -0.4, 0.5))
torus = FlatTorus((Circle(kappa=0.6, mean_angle=0.5), Circle(kappa=0.4, mean_angle=-1.0)))

ANTIPODE = ((-1.0, 0.0), (0.0, -1.0))
MIRROR = ((1.0, 0.0), (0.0, -1.0))
QUARTER_TURN = ((0.0, -1.0), (1.0, 0.0))
ANTIPODE_IN_SPACE = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
HALF_TURN = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))
# (θ₁, θ₂) to (-θ₁, θ₂ + π), and to (θ₁ + π, -θ₂)
REFLECTION = ((1, 0, 0, 0), (0, -1, 0, 0), (0, 0, -1, 0), (0, 0, 0, -1))
OTHER_REFLECTION = ((-1, 0, 0, 0), (0, -1, 0, 0), (0, 0, 1, 0), (0, 0, 0, -1))


def bond(space, rate, matrix, beta=None):
    return Mixture(space, Distance(), (Jump(rate, matrix, beta=beta),))


def claim(id, space, functions, statement, rate, matrix, other, beta=None):
    return generator_claim(
        id,
        space,
        bond(space, rate, matrix, beta),
        functions,
        statement=statement,
        source=SOURCE,
        hbar=0.7,
        wrong={"jump to the wrong point": (space, bond(space, rate, other, beta))},
    )


def head(third):
    return generator_claim(
        f"head-{third:g}",
        circle,
        IndefiniteHead(1.0, third, 1.5),
        (circle.fourier(1, 0.3), circle.fourier(2, 0.7)),
        statement=rf"$S^1$, one indefinite head, $c = {third:g}$, gap $\log(4\hbar\beta/\lambda)"
        r"/\beta$: rate $\lambda\sqrt{\kappa_0/\kappa_\pi}$",
        source=HEAD,
    )


def kernel(run):
    from convergence.reporting.jumps import transition_kernel

    return transition_kernel(run, circle, bond(circle, 1.5, ANTIPODE), (20.0, 80.0))


def distance(run):
    from convergence.reporting.jumps import varadhan_figure

    walks = {"varadhan-local": Distance(), "varadhan-jump": bond(circle, 1.0, ANTIPODE)}
    return varadhan_figure(run, walks, pi)


state_rate = ring.polynomial("3/2 + x0/2 - x1/2")

STUDY = Study(
    title="Beurling-Deny jumps",
    claims=(
        claim(
            "circle-antipode",
            circle,
            (circle.fourier(1, 0.3), circle.fourier(3, 0.7)),
            r"$S^1$, uniform, bond to $-x$: $-\hbar\Delta f + \lambda(f(x) - f(-x))$",
            1.5,
            ANTIPODE,
            QUARTER_TURN,
        ),
        claim(
            "sphere-antipode",
            sphere,
            (sphere.polynomial("x0*x1 + x2"), sphere.polynomial("x0*x1*x2")),
            r"$S^2$, von Mises-Fisher, bond to $-x$: rate $\lambda\rho(-x)/\rho(x)$",
            1.2,
            ANTIPODE_IN_SPACE,
            HALF_TURN,
        ),
        claim(
            "torus-reflection",
            torus,
            (torus.fourier((1, 1), (0.3, 0.9)), torus.fourier((2, 1), (0.2, 0.4))),
            r"$T^2$, von Mises, bond to $Tx = (-\theta_1, \theta_2 + \pi)$: rate "
            r"$\lambda\rho(Tx)/\rho(x)$",
            1.5,
            REFLECTION,
            OTHER_REFLECTION,
        ),
        claim(
            "circle-wide-law",
            ring,
            (ring.fourier(1, 0.3), ring.fourier(2, 1.2)),
            r"$S^1$, von Mises, symmetric law: $j = \lambda\,\mathrm{vM}(y; -x, 3)$",
            1.5,
            ANTIPODE,
            QUARTER_TURN,
            beta=1.5,
        ),
        claim(
            "circle-state-rate",
            ring,
            (ring.fourier(1, 0.3), ring.fourier(2, 1.2)),
            r"$S^1$, von Mises, quarter turn at the rate $\lambda(x)\rho(Tx)/\rho(x)$",
            state_rate,
            QUARTER_TURN,
            ANTIPODE,
        ),
        head(0.0),
        head(0.2),
        sector_claim(
            "sphere-rate",
            sphere,
            bond(sphere, 1.2, ANTIPODE_IN_SPACE),
            (
                Sector(r"4\hbar\beta p", 1),
                Sector("local part", 0, f=sphere.polynomial("x0*x1 + x2")),
                Sector("jump part", 1, f=sphere.polynomial("x0*x1 + x2")),
            ),
            (sphere.polynomial("x0*x1 + x2"),),
            statement=r"$S^2$, von Mises-Fisher, bond to $-x$: $4\hbar\beta p \to "
            r"\lambda\rho(-x)/\rho(x)$, and each part by itself",
            source=SOURCE,
            hbar=0.7,
            wrong={"jump to the wrong point": bond(sphere, 1.2, HALF_TURN)},
        ),
        energy_claim(
            "energy",
            ring,
            bond(ring, 1.5, ANTIPODE),
            ring.fourier(1, 0.3),
            statement=r"$S^1$, von Mises: $\langle f, \mathcal{C}f\rangle_\pi \to "
            r"\hbar\int \vert df\vert^2 d\pi + \frac{1}{2}\iint j\,(f(x) - f(y))^2 d\nu\,d\nu"
            r"/\int\rho\,d\nu$, part by part",
            source=SOURCE,
            hbar=0.7,
            wrong={"jump to the wrong point": bond(ring, 1.5, MIRROR)},
        ),
        varadhan_claim(
            "varadhan-local",
            Distance(),
            statement=r"$S^1$, local walk: $-4\hbar t\log p_t(x, -x)$ at $\hbar t = 0.2$, $0.4$",
            source=VARADHAN,
            wrong={"joined by a jump": bond(circle, 0.2, ANTIPODE)},
        ),
        varadhan_claim(
            "varadhan-jump",
            bond(circle, 1.0, ANTIPODE),
            statement=r"$S^1$, bond to $-x$: $-4\hbar t\log p_t(x, -x)$ at $\hbar t = 0.2$, $0.4$",
            source=VARADHAN,
            wrong={
                "rate halved": bond(circle, 0.5, ANTIPODE),
                "jumps omitted": Distance(),
                "jump to the wrong point": bond(circle, 1.0, QUARTER_TURN),
            },
        ),
    ),
    figures={"transition_kernel": kernel, "varadhan": distance},
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
