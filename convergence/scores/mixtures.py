"""Remote bonds beside the local kernel: mixtures, the unnormalised kernels of jump processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import real_array
from ..errors import InvalidInputError, require_positive
from ..spaces import Polynomial, Space
from .distance import Distance, Part
from .links import Matrix, matrix_of
from .normalisations import RANDOM_WALK


@dataclass(frozen=True)
class Jump:
    """A remote bond: jumps from x to around T(x) = Ax + b at the rate λ(x).

    Its kernel against the volume is j(x, y) = λ(x) k(Tx, y), k a normalised Gaussian kernel
    exp(-β'|Tx - y|²)/Z(β'). With a symmetric j, as that of a constant rate and an isometric
    involution T (antipodal points, a reflection), the jumps are reversible.

    Parameters
    ----------
    rate : float or Polynomial
        λ/ħ > 0, a number or a function of the ambient coordinates.
    matrix : matrix
        A, square; T must map the space to itself.
    shift : tuple of float, optional
        b; zero by default.
    beta : float, optional
        β', fixed: a jump law of finite width, on the unit circle von Mises of concentration
        κ = 2β'. By default the β of the local kernel, so that in the limit jumps go to T(x).
    exponent : float
        γ: the relative mass of the jumps is of order λ/(4β^γ). Only the critical γ = 1, the
        default, gives a finite rate.
    """

    rate: float | Polynomial
    matrix: Matrix
    shift: tuple[float, ...] = ()
    beta: float | None = None
    exponent: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", matrix_of(self.matrix))
        if not isinstance(self.rate, Polynomial):
            require_positive("a jump rate", self.rate)
        if self.beta is not None:
            require_positive("beta of a jump law", self.beta)
        require_positive("exponent", self.exponent)
        real_array("the shift of a jump", self.shift)
        if self.shift and len(self.shift) != len(self.matrix):
            raise InvalidInputError(
                f"the shift of a jump needs {len(self.matrix)} numbers, not {len(self.shift)}"
            )

    def destination(self, x: np.ndarray) -> np.ndarray:
        """T(x), shape (..., D)."""
        x = real_array("points", x)
        if x.shape[-1:] != (len(self.matrix),):
            raise InvalidInputError(
                f"a jump in {len(self.matrix)} coordinates cannot start from shape {x.shape}"
            )
        return x @ np.asarray(self.matrix).T + np.asarray(self.shift or 0.0)

    def log_rate(self, x: np.ndarray) -> np.ndarray:
        """log λ(x)/ħ, shape (...)."""
        rate = (
            self.rate(x)
            if isinstance(self.rate, Polynomial)
            else np.full(np.shape(x)[:-1], self.rate)
        )
        if not np.all(rate > 0):
            raise InvalidInputError("a jump rate must be positive on the whole space")
        return np.log(rate)


@dataclass(frozen=True)
class Mixture:
    """A local kernel with jumps, row-normalised as one kernel.

        K(x, y) = [exp(-β|x - y|² + xᵀMy) + Σ_m w_m(x) exp(-β_m|T_m x - y|²)] h(y),
        w_m(x) = λ_m(x)/(4β^γ) Z(β)/Z(β_m),   Z(β) = ∫ exp(-β|x - y|²) dV(y) ≈ (π/β)^{d/2}.

    With ν uniform the m-th jump then has, next to the plain local kernel, the relative mass
    λ_m(x)/(4β^γ) exactly.

    Parameters
    ----------
    space : Space
        Whose volume normalises jump laws of finite width; its density does not matter.
    local : Distance
        With the random-walk normalisation; its Doob weight h weights the keys of the jumps too.
    jumps : tuple of Jump

    References
    ----------
    Candanedo, Attention Geometry, arXiv:2604.09560, Beurling-Deny and Courrège generators.
    """

    space: Space
    local: Distance
    jumps: tuple[Jump, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.jumps, tuple) or not all(isinstance(j, Jump) for j in self.jumps):
            raise InvalidInputError("the jumps of a mixture are a tuple of Jump: (Jump(...),)")
        if not self.jumps:
            raise InvalidInputError("a mixture needs at least one jump; else give the Distance")
        if self.local.normalisation != RANDOM_WALK:
            raise InvalidInputError(
                "a mixture weights its rows by the sum of all its parts: its local kernel has the "
                "random walk's normalisation, with a Doob weight if wanted"
            )

    @property
    def images(self) -> tuple[Callable[[np.ndarray], np.ndarray], ...]:
        """The maps T of the jumps without a width of their own."""
        return tuple(jump.destination for jump in self.jumps if jump.beta is None)

    def keys(self, points: np.ndarray) -> np.ndarray:
        """v = y."""
        return points

    def log_weights(
        self, features: np.ndarray, points: np.ndarray | None = None
    ) -> np.ndarray | None:
        """log h(y), as in `Distance.log_weights`."""
        return self.local.log_weights(features, points)

    def parts(self, features: np.ndarray, beta: float) -> list[Part]:
        """The local kernel first, then one part a jump."""
        features = real_array("points", features)
        (local,) = self.local.parts(features, beta)
        # exp(-β|x-y|² + xᵀMy) = exp(-β|u-y|²) exp(β(|u|² - |x|²))
        change = local.queries - features
        local_weight = beta * np.sum(change * (features + local.queries), axis=-1)
        return [
            Part(local.queries, beta, local_weight),
            *(self._jump(jump, features, beta) for jump in self.jumps),
        ]

    def _jump(self, jump: Jump, features: np.ndarray, beta: float) -> Part:
        log_weight = jump.log_rate(features) - np.log(4) - jump.exponent * np.log(beta)
        own = beta
        if jump.beta is not None:
            own, volume = jump.beta, self.space.log_kernel_volume
            log_weight = log_weight + volume(beta) - volume(own)
        return Part(jump.destination(features), own, log_weight)
