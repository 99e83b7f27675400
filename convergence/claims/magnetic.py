"""Claims on the magnetic operator P ⊙ e^{ia} on the circle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..limits import magnetic_limit
from ..spaces import Ellipse
from ..verification import Claim, Fault
from .chart_problems import Function, TargetwiseProblem, chart_claim, shifted


@dataclass(frozen=True)
class MagneticProblem(TargetwiseProblem):
    """4ħβ (I - P ⊙ e^{i a₀ sin(y-x)}) e^{i(kθ+φ)} → ħ(k+a₀)² e^{i(kθ+φ)} on the uniform circle.

    Real and imaginary part are two columns: at a target x those of
    g_x(y) = exp i(a₀ sin(y-x) + ky + φ), whose values at x are those of the mode.

    Parameters
    ----------
    flux : float
        a₀.
    k : int
    hbar : float
    target_count : int
    """

    flux: float
    k: int
    hbar: float = 1.0
    target_count: int = 3

    phase = 0.4  # φ
    factor = 1.0

    @cached_property
    def space(self) -> Ellipse:  # type: ignore[override]
        """The uniform circle, in its angle."""
        return Ellipse(1, 1)

    @cached_property
    def targets(self) -> np.ndarray:
        """Where neither part of e^{i(kθ+φ)}, nor its slope, is near zero."""
        wave = f"{self.k}*u + {self.phase}"
        functions = [self.space.function(f"{part}({wave})") for part in ("cos", "sin")]
        return self.space.targets(functions, self.target_count)

    def functions_at(self, x: np.ndarray) -> list[Function]:
        """Real and imaginary part of g_x."""

        def angle(y: np.ndarray) -> np.ndarray:
            return self.flux * np.sin(y[..., 0] - x[0]) + self.k * y[..., 0] + self.phase

        return [lambda y: np.cos(angle(y)), lambda y: np.sin(angle(y))]

    @property
    def limit(self) -> np.ndarray:
        """N = ∞ and β = ∞."""
        return magnetic_limit(self.flux, self.k, self.hbar) * self._wave

    @property
    def _wave(self) -> np.ndarray:
        angle = self.k * self.targets[:, 0] + self.phase
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)

    def faults(self) -> tuple[Fault, ...]:
        """Wrong constants, and the limits of wrong fluxes."""
        right, limit = self.expectation, self.limit
        wrong = {"sign of the flux": -1.0, "flux omitted": 0.0, "flux halved": 0.5}
        offsets = {
            name: magnetic_limit(share * self.flux, self.k, self.hbar) * self._wave - limit
            for name, share in wrong.items()
        }
        offsets["k² + a₀²"] = -2 * self.hbar * self.k * self.flux * self._wave
        return (
            Fault("ħ off by 5 %", lambda beta: 1.05 * right(beta)),
            Fault("β off by 2", lambda beta: 0.5 * right(2 * beta)),
            *shifted(right, limit, offsets),
        )


def magnetic_claim(
    id: str, flux: float, k: int, *, statement: str, source: str, hbar: float = 1.0
) -> Claim:
    """The claim on one mode at one flux, with all four checks.

    Parameters
    ----------
    id, statement, source : str
    flux, k, hbar
        As in `MagneticProblem`.
    """
    problem = MagneticProblem(flux, k, hbar)
    labels = tuple(rf"\{part}({k}\theta + {problem.phase})" for part in ("cos", "sin"))
    return chart_claim(id, problem, labels, statement, source, problem.faults(), 2 / 7)
