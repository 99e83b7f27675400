"""How the keys of a kernel are weighted before its rows are normalised, as plain data.

A weight h(y) on the keys and row normalisation give P = diag(Kh)⁻¹ K diag(h), whose limit has the
potential Φ = -ħ log(ρ h). Each class below is one choice of h:

| normalisation             | weight at finite β                         | its limit h |
|---------------------------|--------------------------------------------|-------------|
| `CoifmanLafon(α)`         | q_β^-α, q_β(y) = ∫ K(y, z) dν(z)           | ρ^-α        |
| `Sinkhorn(log a)`         | u with u(x) ∫ K(x, y) u(y) dν(y) = a(x)    | (a/ρ)^1/2   |
| `TargetMeasure(log t)`    | t^1/2 / q_β                                | t^1/2 / ρ   |
| `KeyPotential(ψ)`         | exp ψ                                      | exp ψ       |

α = 0 is the random walk. How a sample estimates these weights is said in
`convergence.operators.normalisations`, what their exact values are in `convergence.limits`.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ..errors import InvalidInputError
from ..spaces import SmoothFunction


@dataclass(frozen=True)
class CoifmanLafon:
    """The α-normalisation K / (q_β(x)^α q_β(y)^α), α any real number; 0 is the random walk.

    References
    ----------
    Coifman and Lafon, Diffusion maps, 2006.
    """

    alpha: float = 0.0

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, Real) and np.isfinite(self.alpha)):
            raise InvalidInputError(f"alpha must be a finite number, not {self.alpha!r}")


@dataclass(frozen=True)
class Sinkhorn:
    """The symmetric scaling u(x) K(x, y) u(y) with both marginals equal to a dν.

    With a = 1 the doubly stochastic one; with another a the Schrödinger bridge from a dν to
    itself, whose key potential is ψ = log u.

    Parameters
    ----------
    log_marginal : smooth function, optional
        log a against the sampling law ν.

    References
    ----------
    Marshall and Coifman, Manifold learning with bi-stochastic kernels, 2019.
    """

    log_marginal: SmoothFunction | None = None


@dataclass(frozen=True)
class TargetMeasure:
    """The weight that makes a chosen law t dV stationary in the limit: (ρh)² ∝ t.

    Parameters
    ----------
    log_density : smooth function
        log t against the Riemannian volume, up to a constant.
    """

    log_density: SmoothFunction


@dataclass(frozen=True)
class KeyPotential:
    """A given weight h = exp ψ: a Doob transform, or the key potential of a Schrödinger bridge.

    Parameters
    ----------
    log_weight : smooth function
        ψ = log h, up to a constant.
    """

    log_weight: SmoothFunction


Normalisation = CoifmanLafon | Sinkhorn | TargetMeasure | KeyPotential

RANDOM_WALK = CoifmanLafon(0.0)
