"""Critical scaling: of the relative masses λ/(4ħβ^γ) of a remote bond only γ = 1 gives a rate.

4ħβ p (f(x) - f(Tx)) diverges like β^{1-γ} for γ < 1 and vanishes for γ > 1; times β^{γ-1} it tends
to λρ(Tx)/ρ(x) (f(x) - f(Tx)) whatever γ. Without that factor it is followed from β to 4β for
γ = 1/2, 1, 3/2 and 2: it changes by 2, 1, 1/2 and 1/4, so that the γ of no growth, from a line
fitted over them, is 1.
"""

from convergence.claims import Sector, critical_exponent_claim, sector_claim
from convergence.running import Study
from convergence.scores import Distance, Jump, Mixture
from convergence.spaces import Circle, Sphere

SOURCE = "Candanedo, arXiv:2604.09560, critical scale of jumps"

ring = Circle(kappa=0.6, mean_angle=0.5)
sphere = Sphere(2)
ANTIPODE = ((-1.0, 0.0), (0.0, -1.0))
QUARTER_TURN = ((0.0, -1.0), (1.0, 0.0))
ANTIPODE_IN_SPACE = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
HALF_TURN = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))
CRITICAL = (
    r"$v_\gamma = 4\hbar\beta p\,(f(x) - f(Tx))$ grows for $\gamma < 1$, falls for $\gamma > 1$, "
    r"and at $\gamma^* = 1$ is $\lambda\frac{\rho(Tx)}{\rho(x)}(f(x) - f(Tx))$"
)
opposite = Mixture(sphere, Distance(), (Jump(1.5, ANTIPODE_IN_SPACE),))
# orders of the bias and of its steps: p = ε/(1 + ε), ε of order β^-γ, and 1/β of the width
EXPONENTS = (
    (0.5, 0.5, 0.5, r"\frac{1}{2}"),
    (1.0, 1.0, 1.0, "1"),
    (1.5, 1.0, 0.5, r"\frac{3}{2}"),
    (2.0, 1.0, 1.0, "2"),
)


def bond(gamma, matrix=ANTIPODE):
    return Mixture(ring, Distance(), (Jump(1.5, matrix, exponent=gamma),))


def claim(gamma, order, step, text):
    f, g = ring.fourier(1, 0.3), ring.fourier(2, 1.2)
    return sector_claim(
        f"exponent-{gamma:g}",
        ring,
        bond(gamma, QUARTER_TURN),
        (Sector(f.label, 1, f=f), Sector(g.label, 1, f=g)),
        (f, g),
        statement=rf"$\gamma = {text}$: $\beta^{{\gamma - 1}} \, 4\hbar\beta p\,(f(x) - f(Tx)) \to "
        r"\lambda \frac{\rho(Tx)}{\rho(x)} (f(x) - f(Tx))$",
        source=SOURCE,
        wrong={"jump to the wrong point": bond(gamma)},
        bias_order=order,
        bias_step=step,
    )


def phases(run):
    from convergence.reporting.jumps import critical_picture

    return critical_picture(run, {f"exponent-{case[0]:g}": case[0] for case in EXPONENTS})


STUDY = Study(
    title="Critical scaling of jumps",
    claims=(
        *(claim(*case) for case in EXPONENTS),
        critical_exponent_claim(
            "critical-exponent-circle",
            ring,
            bond(1.0, QUARTER_TURN),
            ring.fourier(1, 0.3),
            statement=rf"$S^1$, von Mises: {CRITICAL}",
            source=SOURCE,
            wrong={
                "jump to the wrong point": (ring, bond(1.0)),
                "density omitted": (Circle(), bond(1.0, QUARTER_TURN)),
            },
        ),
        critical_exponent_claim(
            "critical-exponent-sphere",
            sphere,
            opposite,
            sphere.polynomial("x0 + x2 + x0*x1*x2"),
            statement=rf"$S^2$, uniform, bond to $-x$: {CRITICAL}",
            source=SOURCE,
            wrong={
                "jump to the wrong point": (
                    sphere,
                    Mixture(sphere, Distance(), (Jump(1.5, HALF_TURN),)),
                )
            },
        ),
    ),
    figures={"critical_scaling": phases},
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
