"""Girsanov drift: a link between query and key drives currents that no potential drives.

The score -β|x-y|² + a(x, y), a antisymmetric, tends to -ħΔ + 2⟨dΦ + 𝒜⊥, d·⟩ with the one-form
𝒜⊥ = -ħc, c = ∂_y a at y = x. Of a bilinear link xᵀMy it is c = Mᵀx on tangent vectors: constant on
circles and tori (closed, not exact: Novikov), a Killing field on the sphere, a rotation of the
plane, a non-closed form on a torus. A symmetric M is exact: a Doob weight exp(½ yᵀMy) to this
order; a = w(y) - w(x) is the Doob transform of e^w. Expectations are closed forms, and quadratures
for links that are not bilinear. The Killing field's spectrum is complex.
"""

from convergence.claims import generator_claim, killing_claim
from convergence.running import Study
from convergence.scores import Distance, GeneralLink, harmonic_link, killing_link
from convergence.spaces import Chart, Circle, Ellipse, FlatTorus, Gaussian, Sphere, angle

SOURCE = "Candanedo, arXiv:2604.09560, Witten-Novikov-Girsanov drift"
RISKEN = "Risken, The Fokker-Planck Equation, chapters 6 and 11"
LIMIT = r"$-\hbar\Delta + 2\langle d\Phi + \mathcal{A}^\perp, d\cdot\rangle$"

circle = Circle()
ring = Circle(kappa=1.2, mean_angle=0.6)
sphere = Sphere(2)
fisher = Sphere(2, kappa=1.1, mu=(0.9, -0.4, 0.5))
plane = Gaussian(((2.0, 0.5), (0.5, 1.0)))
torus = FlatTorus((Circle(kappa=0.8, mean_angle=0.5), Circle(kappa=0.6)))
# the same ring and torus as charts
curve = Ellipse(1, 1, "1.2*cos(u - 0.6)")
product = Chart(
    (angle("u"), angle("v")),
    ("cos(u)", "sin(u)", "cos(v)", "sin(v)"),
    "0.8*cos(u - 0.5) + 0.6*cos(v)",
)

ON_CIRCLE = (circle.fourier(1, 0.3), circle.fourier(2, 0.7))
ON_RING = (ring.fourier(1, 0.3), ring.fourier(2, 1.2))
ON_SPHERE = (sphere.polynomial("x0*x1"), sphere.polynomial("x0*x1*x2"))
ON_TORUS = (torus.fourier((1, 1), (0.3, 0.9)), torus.fourier((2, 0), (0.2, 0.0)))
ON_CURVE = (curve.function("cos(u + 0.3)"), curve.function("cos(2*u + 1.2)"))
ON_PRODUCT = (product.function("cos(u + v + 0.3)"), product.function("cos(2*u + 0.4) + sin(v)"))

AROUND = Distance(link=harmonic_link([0.8]))
EXACT = Distance(link=((0.7, -0.4), (-0.4, -0.7)))
ROTATION = Distance(link=killing_link((0.6, -1.0, 1.8)))
# B of exp(β xᵀBy) is 2I + M/β: a Killing field and a Doob weight at once
HEAD = Distance(link=((0.9, 1.3, -0.7), (-1.5, 0.4, 0.6), (0.7, -1.6, -0.8)))
HARMONIC = Distance(link=harmonic_link([0.9, -0.6]))
# the entries that mix the circles make dc ≠ 0
NON_CLOSED = Distance(
    link=(
        (0.0, 0.5, 0.9, -0.4),
        (-0.5, 0.0, 0.3, 0.8),
        (-0.9, -0.3, 0.0, -0.6),
        (0.4, -0.8, 0.6, 0.0),
    )
)
# w = sin(x1) + x0²/2
DOOB_LINK = GeneralLink("sin(y1) + y0**2/2 - sin(x1) - x0**2/2")
CIRCULATING = GeneralLink("0.8*(x0*y1 - x1*y0)")
# c = (0.9 + 1.4 cos v) du + ...: neither bilinear nor closed
NON_BILINEAR = GeneralLink("(x0*y1 - x1*y0)*(0.9 + 0.7*x2 + 0.7*y2) + 0.8*sin(x0*y3 - x3*y0)")

STUDY = Study(
    title="Girsanov drift of directed links",
    claims=(
        generator_claim(
            "circle-link",
            circle,
            AROUND,
            ON_CIRCLE,
            statement=r"$S^1$, uniform, link $c\,\sin(y - x)$: $-\hbar(\partial^2 + 2c\,\partial)$",
            source=SOURCE,
        ),
        generator_claim(
            "circle-exact-link",
            circle,
            EXACT,
            ON_CIRCLE,
            statement=r"$S^1$, uniform, symmetric $M$, exact: $\mathcal{A} = -\hbar\,"
            r"d(\frac{1}{2}x^TMx)$",
            source=SOURCE,
            wrong={"exact link claimed to circulate": (circle, AROUND)},
        ),
        generator_claim(
            "tilted-ring",
            ring,
            AROUND,
            ON_RING,
            statement=rf"$S^1$, von Mises, link $c\,\sin(y - x)$, tilted ring: {LIMIT}",
            source=RISKEN,
            hbar=0.7,
        ),
        generator_claim(
            "sphere-killing",
            fisher,
            ROTATION,
            ON_SPHERE,
            statement=rf"$S^2$, von Mises-Fisher, link $(\omega\times x)\cdot y$, Killing: {LIMIT}",
            source=SOURCE,
        ),
        generator_claim(
            "sphere-head",
            sphere,
            HEAD,
            (sphere.polynomial("x0*x1"), sphere.polynomial("x0**2 - x2**2")),
            statement=rf"$S^2$, uniform, head $\beta x^TBy$, $B = 2I + M/\beta$: {LIMIT}",
            source=SOURCE,
        ),
        generator_claim(
            "torus-harmonic",
            torus,
            HARMONIC,
            ON_TORUS,
            statement=rf"$T^2$, von Mises, harmonic form $c_1 d\theta_1 + c_2 d\theta_2$: {LIMIT}",
            source=SOURCE,
        ),
        generator_claim(
            "torus-non-closed",
            torus,
            NON_CLOSED,
            ON_TORUS,
            statement=rf"$T^2$, von Mises, $M$ mixing the circles, $dc \neq 0$: {LIMIT}",
            source=SOURCE,
        ),
        generator_claim(
            "circle-doob-link",
            curve,
            DOOB_LINK,
            ON_CURVE,
            statement=r"$S^1$, von Mises, $a = w(y) - w(x)$: $\Phi = -\hbar(\log\rho + w)$, "
            r"$\mathcal{A}^\perp = 0$",
            source=SOURCE,
            wrong={"exact link claimed to circulate": (curve, CIRCULATING)},
        ),
        generator_claim(
            "torus-non-bilinear",
            product,
            NON_BILINEAR,
            ON_PRODUCT,
            statement=rf"$T^2$, von Mises, $a(x, y)$ not bilinear, $c = \partial_y a$: {LIMIT}",
            source=SOURCE,
            hbar=0.7,
            target_count=4,
        ),
        killing_claim(
            "sphere-spectrum",
            1.5,
            statement=r"$S^2$, uniform, Killing: $\lambda_{\ell m} = \hbar\ell(\ell + 1) - "
            r"2i\hbar m\vert\omega\vert$",
            source=SOURCE,
            hbar=0.7,
        ),
        generator_claim(
            "gaussian-rotation",
            plane,
            Distance(link=((0.0, 0.7), (-0.7, 0.0))),
            (plane.polynomial("x0*x1"), plane.polynomial("x0**2 - x1")),
            statement=r"$\mathbb{R}^2$, $N(0,\Sigma)$, rotation: "
            r"$-\hbar\Delta + 2\hbar(\Sigma^{-1}x - M^Tx)\cdot\nabla$",
            source=RISKEN,
        ),
    ),
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
