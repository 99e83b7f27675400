"""Cauchy-Green metric: one step of the kernel knows the metric, the dimension and the density.

2ħβ P[(yᵃ-xᵃ)(yᵇ-xᵇ)] → ħ𝒢ᵃᵇ with 𝒢 = JᵀJ pulled back by the embedding, in every component;
-2 dlog q_β/dlog β → d; (β/π)^{d/2} q_β → ρ, hence the volume where ρ is constant.
"""

from convergence.claims import density_claim, metric_claim
from convergence.running import Study
from convergence.spaces import Ellipse, Ellipsoid, SwissRoll, TanhTorus, TorusOfRevolution

SOURCE = "Candanedo, arXiv:2604.09560, Cauchy-Green metric; Coifman & Lafon 2006"

ellipse = Ellipse(2, 1, "cos(u)/2", "coordinates")
torus = TorusOfRevolution(2, 1, "cos(u)/2 + sin(u + v)/3")
ellipsoid = Ellipsoid(1.5, 1.2, 0.8, "cos(u)/3 + sin(u)*cos(v)/2")
roll = SwissRoll(10, "sin(u/2 + h/3)/2")
squeezed = roll.mapped([[0.15, 0.03, 0.0], [0.0, 0.12, 0.0], [0.0, 0.015, 0.15]])
learned = TanhTorus("sin(u - v)/3 + cos(u)/4")

CLAIMS = (
    metric_claim(
        "ellipse",
        ellipse,
        statement=r"ellipse: $2\hbar\beta P[(y-x)^2] \to \hbar\mathcal{G}^{uu}$, dimension 1",
        source=SOURCE,
        wrong={"semi-axes exchanged": Ellipse(1, 2)},
    ),
    metric_claim(
        "torus-of-revolution",
        torus,
        statement=r"torus of revolution: $\hbar\mathcal{G}^{ab}$, dimension 2",
        source=SOURCE,
        hbar=0.7,
        wrong={"tube of radius 1.2": TorusOfRevolution(2, 1.2)},
    ),
    metric_claim(
        "ellipsoid",
        ellipsoid,
        statement=r"ellipsoid: $\hbar\mathcal{G}^{ab}$, dimension 2",
        source=SOURCE,
        wrong={"round sphere": Ellipsoid(1, 1, 1)},
    ),
    metric_claim(
        "swiss-roll",
        squeezed,
        statement=r"Swiss roll and a linear map $W$: $\hbar\mathcal{G}^{ab}$, dimension 2",
        source=SOURCE,
        wrong={"without the map": roll},
    ),
    metric_claim(
        "learned-torus",
        learned,
        statement=r"torus seen by a tanh network: $\hbar\mathcal{G}^{ab}$, dimension 2",
        source=SOURCE,
    ),
    density_claim(
        "ellipse-density",
        ellipse,
        statement=r"ellipse: $(\beta/\pi)^{1/2} q_\beta \to \rho$",
        source=SOURCE,
    ),
    density_claim(
        "torus-density",
        torus,
        statement=r"torus of revolution: $(\beta/\pi)\, q_\beta \to \rho$",
        source=SOURCE,
    ),
    density_claim(
        "ellipsoid-volume",
        Ellipsoid(1.5, 1.2, 0.8),
        statement=r"ellipsoid, uniform: $(\beta/\pi)\, q_\beta \to 1/\mathrm{vol}$",
        source=SOURCE,
        wrong={"volume of the round sphere": Ellipsoid(1, 1, 1)},
    ),
)


def ellipses(run):
    from convergence.reporting.ellipses import metric_ellipses

    charts = {"torus of revolution": torus, "torus seen by a tanh network": learned}
    return metric_ellipses(charts, 20_000 if run.preset == "smoke" else 400_000, degree=500)


def heat(run):
    from convergence.reporting.heat import heat_on_the_roll

    return heat_on_the_roll(1_000 if run.preset == "smoke" else 4_000)


STUDY = Study(
    "Cauchy-Green metric from one step",
    CLAIMS,
    figures={"metric_ellipses": ellipses, "heat_on_the_roll": heat},
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
