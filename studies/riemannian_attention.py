"""Riemannian attention: a metric G(x) at every point, and the two limits it can have.

The score -β(y-x)ᵀG(x)(y-x) that takes G at the query alone tends to the Itô form
-ħ G^{ab}(∂_a∂_b + 2 ∂_a log q ∂_b), q the density of the coordinates, and not to a Laplacian. With
½(G(x) + G(y)) it tends to -ħ Δ_G + 2⟨dΦ, d·⟩_G, Φ = -ħ log(q/sqrt(det G)), in the geometry of G.
"""

from convergence.claims import generator_claim
from convergence.running import Study
from convergence.scores import PerPointMetric
from convergence.spaces import Circle, FlatTorus

SOURCE = "Candanedo, arXiv:2604.09560, per-point metrics"
ITO = r"$-\hbar G^{ab}(\partial_a\partial_b + 2\,\partial_a\log q\,\partial_b)$"
GEOMETRIC = r"$-\hbar\Delta_G + 2\langle d\Phi, d\cdot\rangle_G$"

ring = Circle(kappa=0.9, mean_angle=0.4)
torus = FlatTorus((Circle(kappa=0.8, mean_angle=0.5), Circle(kappa=0.6)))
SCALAR = (("3/2 + 3/5*sin(u0)",),)
FACTOR = (("3/5*sin(u0 + u1)",), ("1/5 + 3/5*cos(u0)",))
ON_RING = (ring.fourier(1, 0.9), ring.fourier(2, 1.2))
ON_TORUS = (torus.fourier((1, 1), (0.3, 0.9)), torus.fourier((2, 0), (0.2, 0.0)))

STUDY = Study(
    title="Riemannian attention: per-point metrics",
    claims=(
        generator_claim(
            "circle-one-sided",
            ring,
            PerPointMetric(metric=SCALAR),
            ON_RING,
            statement=rf"$S^1$, von Mises, $G(x)$: {ITO}",
            source=SOURCE,
        ),
        generator_claim(
            "circle-symmetrised",
            ring,
            PerPointMetric(metric=SCALAR, symmetrised=True),
            ON_RING,
            statement=rf"$S^1$, von Mises, $\frac{{1}}{{2}}(G(x) + G(y))$: {GEOMETRIC}",
            source=SOURCE,
        ),
        generator_claim(
            "torus-one-sided",
            torus,
            PerPointMetric(factor=FACTOR),
            ON_TORUS,
            statement=rf"$T^2$, von Mises, $G = I + UU^T$ at $x$: {ITO}",
            source=SOURCE,
            hbar=0.7,
        ),
        generator_claim(
            "torus-symmetrised",
            torus,
            PerPointMetric(factor=FACTOR, symmetrised=True),
            ON_TORUS,
            statement=rf"$T^2$, von Mises, $G = I + UU^T$ at $x$ and $y$: {GEOMETRIC}",
            source=SOURCE,
            hbar=0.7,
        ),
    ),
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
