"""Claims on the complex spectrum of a rotation of the sphere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidInputError
from ..limits import killing_eigenvalue
from ..operators import MarkovOperator, eigenpairs
from ..scores import Distance, killing_link
from ..spaces import Sphere
from ..verification import Claim
from .whole_operators import Course, OperatorProblem, operator_claim

# one harmonic (ℓ, m) of each size and turn, of those that nine eigenvalues hold
HARMONICS = ((1, 0), (1, 1), (2, 2))
_PAIRS = 9


@dataclass(frozen=True)
class KillingProblem(OperatorProblem):
    """Eigenvalues of a sampled 𝒞_β on S² with link (ω×x)·y, ω along the third axis.

    An eigenvalue belongs to the harmonic Y_ℓm that its right eigenvector overlaps most; without
    that a real matrix could not tell the turn of the rotation.

    Parameters
    ----------
    space : Sphere
        S² of radius 1, uniform.
    score : Distance
        `Distance(link=killing_link((0, 0, ω)))`.
    hbar : float

    Raises
    ------
    InvalidInputError
        For another space or score, whose spectrum is not known.
    """

    def __post_init__(self) -> None:
        _rotation(self.space, self.score)

    @property
    def functions(self) -> tuple[str, ...]:
        found: list[str] = []
        for ell, m in HARMONICS:
            name = rf"\lambda_{{{ell}{m}}}"
            found += [rf"\mathrm{{Re}}\,{name}", rf"\mathrm{{Im}}\,{name}"] if m else [name]
        return tuple(found)

    def observed(self, operator: MarkovOperator, points: np.ndarray) -> list[float]:
        """Real and imaginary parts of the eigenvalues, by their eigenvectors."""
        found = eigenpairs(operator, _PAIRS, self.hbar)
        turning = points[:, 0] + 1j * points[:, 1]
        harmonics = {(1, 0): points[:, 2], (1, 1): turning, (2, 2): turning**2}
        values = []
        for key in HARMONICS:
            overlaps = np.abs(np.conj(harmonics[key]) @ found.vectors)
            values.append(complex(found.values[1:][np.argmax(overlaps[1:])]))
        return self._parts(values)

    def reference(self, space: Sphere, score: Distance, beta: float | None) -> list[float]:
        """Galerkin in the harmonics of one m; the limit ħℓ(ℓ+1) - 2iħ m ω."""
        omega = _rotation(space, score)
        return self._parts(
            [killing_eigenvalue(ell, m, omega, beta, self.hbar) for ell, m in HARMONICS]
        )

    @staticmethod
    def _parts(values: list[complex]) -> list[float]:
        parts: list[float] = []
        for (_, m), value in zip(HARMONICS, values, strict=True):
            parts += [value.real, value.imag] if m else [value.real]
        return parts


def _rotation(space: Sphere, score: Distance) -> float:
    """ω of a score, zero without link; what would change the spectrum unseen is refused."""
    if not isinstance(space, Sphere) or space.d != 2 or space.kappa or space.radius != 1:
        raise InvalidInputError(
            f"this spectrum is that of the uniform sphere S² of radius 1, not {space}"
        )
    three = isinstance(score, Distance) and len(score.link) == 3
    omega = score.link[0][1] if three else 0.0
    known = Distance(link=killing_link((0.0, 0.0, omega)))
    if score not in (known, Distance()):
        raise InvalidInputError(
            f"the score must be Distance(link=killing_link((0, 0, ω))), not {score}"
        )
    return omega


def killing_claim(
    id: str, omega: float, *, statement: str, source: str, hbar: float = 1.0
) -> Claim:
    """The claim that eigenvalues of a sampled P tend to ħℓ(ℓ+1) - 2iħ m ω on the uniform S².

    Parameters
    ----------
    id, statement, source : str
    omega : float
        Around the third axis.
    hbar : float

    Returns
    -------
    Claim
        As of `operator_claim`.
    """
    problem = KillingProblem(Sphere(2), Distance(link=killing_link((0.0, 0.0, omega))), hbar)
    return operator_claim(
        id,
        problem,
        statement=statement,
        source=source,
        course=Course(5.0, sampling_beta=1.5, points=100_000),
    )
