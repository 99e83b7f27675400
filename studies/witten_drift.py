"""Witten drift: the distance kernel's generator tends to -ħΔ + 2⟨dΦ, d·⟩, Φ = -ħ log(ρh).

Random-walk normalisation with uniform and non-uniform densities ρ and log-linear Doob weights h,
on circles, spheres, a flat torus and Gaussian spaces, where the expectation at N = ∞ is known in
closed form at every β, and on an ellipse and a torus of revolution, where it is a quadrature.
"""

from convergence.claims import generator_claim
from convergence.running import Study
from convergence.scores import Distance
from convergence.spaces import Circle, Ellipse, FlatTorus, Gaussian, Sphere, TorusOfRevolution

COIFMAN_LAFON = "Coifman & Lafon 2006; Candanedo, arXiv:2604.09560, Witten (Einstein) drift"
RANDOM_WALK = Distance()

circle = Circle()
ring = Circle(kappa=1.3, mean_angle=0.6)
ring_at_zero = Circle(kappa=1.3)
sphere = Sphere(2)
tilted_sphere = Sphere(2, kappa=1.1, mu=(0.9, -0.4, 0.5))
other_pole = Sphere(2, kappa=1.1, mu=(0.9, 0.4, 0.5))
line = Gaussian(((1.7,),))
plane = Gaussian(((2.0, 0.5), (0.5, 1.0)))
torus = FlatTorus((Circle(kappa=0.8, mean_angle=0.5), Circle(kappa=1.1, radius=0.7)))
torus_at_zero = FlatTorus((Circle(kappa=0.8), Circle(kappa=1.1, radius=0.7)))
ellipse = Ellipse(2, 1, "cos(u - 1)", against="coordinates")
ellipse_by_length = Ellipse(2, 1, "cos(u - 1)")
ring_torus = TorusOfRevolution(2, 1, "cos(u)/2 + 3*sin(v)/10")
ring_torus_by_angle = TorusOfRevolution(2, 1, "cos(u)/2 + 3*sin(v)/10", against="coordinates")
doob_on_circle = Distance((0.5, -0.8))
doob_on_sphere = Distance((0.2, 0.3, -0.7))

STUDY = Study(
    title="Witten drift of the distance kernel",
    claims=(
        generator_claim(
            "circle",
            circle,
            RANDOM_WALK,
            (circle.fourier(1, 0.3), circle.fourier(2, 0.7)),
            statement=r"$S^1$, uniform: $\mathcal{C} = -\hbar\Delta$",
            source=COIFMAN_LAFON,
        ),
        generator_claim(
            "circle-von-mises",
            ring,
            RANDOM_WALK,
            (circle.fourier(1, 0.3), circle.fourier(2, 1.2)),
            statement=r"$S^1$, von Mises: $\Phi = -\hbar\log\rho$",
            source=COIFMAN_LAFON,
            wrong={"uncentred density": (ring_at_zero, RANDOM_WALK)},
        ),
        generator_claim(
            "circle-von-mises-doob",
            ring,
            doob_on_circle,
            (circle.fourier(1, 0.3), circle.fourier(2, 1.2)),
            statement=r"$S^1$, von Mises, Doob $e^{a\cdot y}$: $\Phi = -\hbar\log(\rho h)$",
            source=COIFMAN_LAFON,
            hbar=0.7,
            wrong={"uncentred density": (ring_at_zero, doob_on_circle)},
        ),
        generator_claim(
            "sphere",
            sphere,
            RANDOM_WALK,
            (sphere.polynomial("x0*x1"), sphere.polynomial("x0*x1*x2")),
            statement=r"$S^2$, uniform, $\ell = 2, 3$: $\mathcal{C} = -\hbar\Delta$",
            source=COIFMAN_LAFON,
        ),
        generator_claim(
            "sphere-fisher-doob",
            tilted_sphere,
            doob_on_sphere,
            (sphere.polynomial("x0*x1"), sphere.polynomial("x0*x1*x2")),
            statement=r"$S^2$, von Mises-Fisher, Doob $e^{a\cdot y}$: $\Phi = -\hbar\log(\rho h)$",
            source=COIFMAN_LAFON,
            wrong={"uncentred density": (other_pole, doob_on_sphere)},
        ),
        generator_claim(
            "sphere-3",
            Sphere(3),
            RANDOM_WALK,
            (Sphere(3).polynomial("x0*x1"), Sphere(3).polynomial("x0*x1*x2")),
            statement=r"$S^3$, uniform: $\mathcal{C} = -\hbar\Delta$",
            source=COIFMAN_LAFON,
        ),
        generator_claim(
            "ornstein-uhlenbeck",
            line,
            RANDOM_WALK,
            (line.hermite(1), line.hermite(2), line.hermite(3)),
            statement=r"$\mathbb{R}$, $N(0,\sigma^2)$: $\mathrm{He}_k$ to $2\hbar k/\sigma^2$",
            source="Risken, The Fokker-Planck Equation; harmonic Witten Laplacian",
            hbar=2.0,
        ),
        generator_claim(
            "gaussian-plane",
            plane,
            RANDOM_WALK,
            (plane.polynomial("x0*x1"), plane.polynomial("x0**2 - x1")),
            statement=r"$\mathbb{R}^2$, $N(0,\Sigma)$: $\Phi = \frac{\hbar}{2}\,x^T\Sigma^{-1}x$",
            source="Risken, The Fokker-Planck Equation",
        ),
        generator_claim(
            "torus",
            torus,
            RANDOM_WALK,
            (torus.fourier((1, 1), (0.3, 0.9)), torus.fourier((2, 0), (0.2, 0.0))),
            statement=r"$T^2$, radii 1 and 0.7, von Mises: $\Phi = -\hbar\log\rho$",
            source=COIFMAN_LAFON,
            wrong={"uncentred density": (torus_at_zero, RANDOM_WALK)},
        ),
        generator_claim(
            "ellipse",
            ellipse,
            RANDOM_WALK,
            (ellipse.function("sin(u + 2/5)"), ellipse.function("cos(u) + sin(2*u)/3")),
            statement=r"Ellipse, $q = e^{\cos(u - 1)}$: $\rho = q/\sqrt{\det\mathcal{G}}$",
            source=COIFMAN_LAFON,
            wrong={"det of the metric omitted": (ellipse_by_length, RANDOM_WALK)},
        ),
        generator_claim(
            "torus-of-revolution",
            ring_torus,
            RANDOM_WALK,
            (ring_torus.function("sin(u + v)"), ring_torus.function("x0*x1/2 + x2")),
            statement=r"Torus of revolution, density by area: $\Phi = -\hbar\log\rho$",
            source=COIFMAN_LAFON,
            target_count=4,
            wrong={"area element omitted": (ring_torus_by_angle, RANDOM_WALK)},
        ),
    ),
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
