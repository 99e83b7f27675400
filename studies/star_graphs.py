"""Star graphs: where edges meet the walk obeys Kirchhoff, and hears the quantum graph.

At the vertex sqrt(πβ) (P - I) f tends to the mean of the outgoing derivatives, so that only
functions with Σ f' = 0 have a generator there; the eigenvalues of 4ħβ(I - P) are those of the
quantum graph, up to β^-1/2.
"""

from convergence.claims import SpectrumProblem, layer_claim, spectrum_claim, subspace_claim
from convergence.limits import QuantumGraph
from convergence.running import Study
from convergence.spaces import StarGraph

SOURCE = "Berkolaiko & Kuchment, Introduction to Quantum Graphs"
VERTEX = r"$\sqrt{\beta}\,(P - I)f \to$ mean outgoing $f'/\sqrt{\pi}$"

tripod = StarGraph((1.0, 1.0, 1.0))
unequal = StarGraph((1.0, 0.8, 0.55))
# four edges in space, no two in line
spatial = StarGraph(
    (1.0, 1.0, 1.2, 0.8), ((1, 0.2, 0), (-0.5, 1, 0.3), (0, -0.4, 1), (-0.6, -0.7, -0.6))
)

CLAIMS = (
    layer_claim(
        "vertex",
        tripod,
        tripod.rays,
        ((0, 0.0), (0, 0.5), (1, 1.0)),
        (tripod.function("2*t", "exp(t) - 1", "-sin(t)/2"), tripod.function("x0 + x1**2")),
        statement=rf"tripod, at the vertex, and its layer around it: {VERTEX}",
        source=SOURCE,
    ),
    layer_claim(
        "vertex-in-space",
        spatial,
        spatial.rays,
        ((0, 0.0), (1, 0.5), (2, 1.0)),
        (spatial.function("t", "2*t", "sin(3*t)", "t**2 - t"),),
        statement=rf"four edges in $\mathbb{{R}}^3$: {VERTEX}",
        source=SOURCE,
    ),
    spectrum_claim(
        "tripod",
        tripod,
        6,
        statement=r"tripod: $\lambda \to \hbar\pi^2\{0, \frac{1}{4}, \frac{1}{4}, 1, "
        r"\frac{9}{4}, \frac{9}{4}\}$",
        source=SOURCE,
        wrong={"a fourth edge": QuantumGraph((1.0, 1.0, 1.0, 1.0))},
    ),
    spectrum_claim(
        "unequal-edges",
        unequal,
        4,
        statement=r"edges 1, 0.8, 0.55: $\lambda \to \hbar k^2$, $\sum_j \tan kL_j = 0$",
        source=SOURCE,
        hbar=0.7,
        wrong={"equal edges of the same total": QuantumGraph((2.35 / 3,) * 3)},
    ),
    subspace_claim(
        "tripod-eigenspaces",
        tripod,
        4,
        statement=r"tripod: eigenspaces of $\frac{1}{4}$ (two modes) and $1$",
        source=SOURCE,
    ),
)


def converging(run):
    from convergence.reporting.star_graph import spectrum_converging

    sizes = {"smoke": (600,), "standard": (6_000, 18_000), "paper": (30_000, 100_000)}
    problems = {
        "tripod": SpectrumProblem(tripod, 6),
        "unequal-edges": SpectrumProblem(unequal, 4, hbar=0.7),
    }
    return spectrum_converging(run, problems, sizes[run.preset])


def modes(run):
    from convergence.reporting.star_graph import eigenfunctions

    return eigenfunctions(tripod, 300 if run.preset == "smoke" else 5_000, 200.0)


STUDY = Study(
    "Star graphs: Kirchhoff vertices",
    CLAIMS,
    figures={"spectrum": converging, "eigenfunctions": modes},
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
