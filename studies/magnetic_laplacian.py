"""Magnetic Laplacian: a phase on every step of the walk shifts the wave numbers by the flux.

P ⊙ e^{i a₀ sin(y-x)} on the uniform circle: 4ħβ(I - ·) e^{ikθ} → ħ(k+a₀)² e^{ikθ}. Real and
imaginary part of a mode are two test functions.
"""

import numpy as np

from convergence.claims import magnetic_claim
from convergence.running import Study

SOURCE = "Candanedo, arXiv:2604.09560; Singer & Wu 2012"
MODES = ((0.3, 1), (-0.45, 2), (0.8, -2))


def spectral_flow(run):
    from convergence.reporting.spectral_flow import spectral_flow

    small = run.preset == "smoke"
    return spectral_flow(200 if small else 800, np.linspace(-1, 1, 5 if small else 13))


STUDY = Study(
    "Magnetic Laplacian on the circle",
    tuple(
        magnetic_claim(
            f"flux{flux:g}-mode{k}",
            flux,
            k,
            statement=rf"$a_0 = {flux:g}$, $k = {k}$: eigenvalue $\hbar(k + a_0)^2$",
            source=SOURCE,
            hbar=0.7,
        )
        for flux, k in MODES
    ),
    figures={"spectral_flow": spectral_flow},
)

if __name__ == "__main__":
    from convergence.__main__ import run_file

    run_file(__file__)
