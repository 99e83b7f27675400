"""Normalisations: each weight on the keys moves the drift, and by how much is exact.

Φ = -ħ log(ρ h) with h = 1 (random walk), ρ^-α (Coifman-Lafon), h (Doob), ρ^-½ (Sinkhorn), (a/ρ)^½
(Schrödinger bridge from a dν to itself), t^½/ρ (target law t dV), on a von Mises circle, a sphere
with von Mises-Fisher density and a torus of revolution. Where the weights are estimated from the
sample, errors are those of replicates.
"""

from convergence.claims import bridge_claim, generator_claim
from convergence.running import Study
from convergence.scores import CoifmanLafon, Distance, Sinkhorn, TargetMeasure
from convergence.spaces import Ellipse, Ellipsoid, TorusOfRevolution

COIFMAN_LAFON = "Coifman & Lafon 2006"
SINKHORN = "Marshall & Coifman 2019; Candanedo, arXiv:2604.09560"

circle = Ellipse(1, 1, "1.3*cos(u - 0.6)")
sphere = Ellipsoid(1, 1, 1, "1.1*cos(u)")
torus = TorusOfRevolution(2, 1, "cos(v)/2 + sin(v)/2")
tests = {
    "circle": (circle, (circle.function("cos(u + 0.3)"), circle.function("cos(2*u + 1.2)"))),
    "sphere": (sphere, (sphere.function("x0*x1 + x2"), sphere.function("x0*x2"))),
    "torus": (torus, (torus.function("sin(u + v)"), torus.function("sin(v) + cos(u)/2"))),
}
# log a of the laws a dν that bridges join: functions of the profile's coordinate
laws = {
    "circle": circle.function("sin(u)/2 + cos(2*u)/4"),
    "sphere": sphere.function("3*cos(u)**2/5 - cos(u)/3"),
    "torus": torus.function("cos(v)/3 - sin(2*v)/4"),
}
weights = {"circle": (0.5, -0.8), "sphere": (0.4, 0.3, -0.6), "torus": (0.3, 0.2, -0.4)}
symbols = {"circle": "$S^1$, von Mises", "sphere": "$S^2$, von Mises-Fisher", "torus": "torus"}


def claim(name, kind, normalisation, statement, source=COIFMAN_LAFON, doob=()):
    space, functions = tests[name]
    score = Distance(doob, normalisation)
    return generator_claim(
        f"{name}-{kind}",
        space,
        score,
        functions,
        statement=f"{symbols[name]}, {statement}",
        source=source,
        target_count=None if score.reuses_sample else 3,
    )


STUDY = Study(
    title="Normalisations and the drift they leave",
    claims=(
        *(
            claim(name, f"alpha-{alpha:g}", CoifmanLafon(alpha), rf"$\alpha = {text}$: {drift}")
            for name in tests
            for alpha, text, drift in (
                (0.5, r"\frac{1}{2}", r"$\Phi = -\frac{\hbar}{2}\log\rho$"),
                (1.0, "1", r"$\mathcal{C} = -\hbar\Delta$"),
            )
        ),
        *(
            claim(
                name,
                "sinkhorn",
                Sinkhorn(),
                r"Sinkhorn: $\Phi = -\frac{\hbar}{2}\log\rho$",
                SINKHORN,
            )
            for name in tests
        ),
        *(
            claim(name, "walk", CoifmanLafon(0.0), r"$\alpha = 0$: $\Phi = -\hbar\log\rho$")
            for name in tests
        ),
        *(
            claim(
                name,
                "doob",
                CoifmanLafon(0.0),
                r"Doob $e^{a\cdot F(y)}$: $\Phi = -\hbar\log(\rho h)$",
                doob=weights[name],
            )
            for name in tests
        ),
        claim(
            "circle",
            "doob-alpha-1",
            CoifmanLafon(1.0),
            r"$\alpha = 1$ and Doob $e^{a\cdot y}$: $\Phi = -\hbar\log h$",
            doob=(0.5, -0.8),
        ),
        claim(
            "circle",
            "target",
            TargetMeasure(laws["circle"]),
            r"target $t\,dV$: $\Phi = -\frac{\hbar}{2}\log t$",
        ),
        *(
            claim(
                name,
                "bridge",
                Sinkhorn(laws[name]),
                r"bridge $a\,d\nu \to a\,d\nu$: $\Phi = -\frac{\hbar}{2}\log(\rho a)$",
                SINKHORN,
            )
            for name in tests
        ),
        bridge_claim(
            "bridge-currents",
            circle,
            laws["circle"],
            circle.function("cos(u)/2"),
            statement="bridge with equal marginals over a symmetric kernel: $A = A^T$, no currents",
            source="Candanedo, arXiv:2604.09560, first version",
            refutes="typically non-reversible, with nonzero stationary currents",
        ),
    ),
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
