"""The claim on the critical exponent: only jumps of relative mass β^-1 survive the limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ..errors import InvalidInputError
from ..scores import Mixture
from ..spaces import Polynomial, Space
from ..verification import Claim, Fault, Schedule, Setting
from ..verification.claim import LEAST_EFFECTIVE_DEGREE
from .remembered import remembered
from .sectors import Sector, SectorProblem
from .wrong_scores import half

EXPONENTS = (0.5, 1.0, 1.5, 2.0)
# the smaller of the two β, and the ratio between them
FIRST_BETA, FACTOR = 24.0, 4.0
_CRITICAL = EXPONENTS.index(1.0)
# orders of the bias in 1/β: p = ε/(1 + ε) with ε of order β^-γ, and 1/β of the kernel's width
_ORDERS = tuple(min(gamma, 1.0) for gamma in EXPONENTS)


class _JumpPart(SectorProblem):
    """4ħβ p E[f(x) - f(y); a jump], by the same scale whatever the γ of the score."""

    def _scale(self, beta: float) -> float:
        return 4 * self.hbar * beta


@dataclass(frozen=True)
class CriticalProblem:
    """How v_γ(β) = 4ħβ p (f(x) - f(Tx)) goes on from β to 4β, for jumps of relative mass λ/4β^γ.

    Columns, shape (targets, exponents + 2): the ratios v_γ(4β)/v_γ(β), one for each γ, above 1
    where v grows and below where it falls; the γ* at which the line fitted to their logarithms over
    γ is zero; and v_1(4β) itself, which tends to a rate and not to zero. The estimate knows a γ as
    the place of its ratio on that line only. Every v is measured on a part of the sample of its
    own. With relative errors of v of mean shift m and variance s², at 4β with a prime, to order 1/N

        ratio                     mean shift m' - m + s²,    variance s² + s'²    (both relative)
        e_k, of its logarithm     mean shift m' - m - (s'² - s²)/2,    variance s² + s'²
        γ* = -a/b of a + bγ       mean shift Σ h_k (w_k var(e_k)/b - E e_k)/b,
                                  variance Σ h_k² var(e_k)/b²

    with w_k = (γ_k - mean γ)/Σ (γ - mean γ)² and h_k = 1/K + (γ* - mean γ) w_k for K exponents.

    Parameters
    ----------
    space : Space
    score : Mixture
        Of one jump, whose exponent is replaced.
    f : Polynomial
        With f(Tx) ≠ f(x) at the targets.
    hbar : float
    target_count : int
    """

    space: Space
    score: Mixture
    f: Polynomial
    hbar: float = 1.0
    target_count: int = 3

    @cached_property
    def parts(self) -> tuple[SectorProblem, ...]:
        """One problem for each γ."""
        return self._parts(self.space, self.score)

    def _parts(self, space: Space, score: Mixture) -> tuple[SectorProblem, ...]:
        sectors, (jump,) = (Sector("", 1, f=self.f),), score.jumps
        return tuple(
            _JumpPart(
                space, replace(score, jumps=(replace(jump, exponent=gamma),)), sectors, (self.f,),
                self.hbar, self.target_count,
            )
            for gamma in EXPONENTS
        )  # fmt: skip

    @property
    def targets(self) -> np.ndarray:
        """Evaluation points outside every sample, one a row."""
        return self.parts[0].targets

    @property
    def separation(self) -> float:
        """The least distance between the places of two targets."""
        return self.parts[0].separation

    @staticmethod
    def _columns(near: np.ndarray, far: np.ndarray) -> np.ndarray:
        """From v at β and at 4β, shape (exponents, targets)."""
        ratios = far / near
        with np.errstate(invalid="ignore"):  # of opposite signs: no number
            slope, start = np.polyfit(EXPONENTS, np.log(ratios), 1)
        return np.stack([*ratios, -start / slope, far[_CRITICAL]], axis=-1)

    def estimate(self, points: np.ndarray, beta: float) -> np.ndarray:
        """The columns from one sample."""
        step = 2 * len(EXPONENTS)
        near, far = (
            np.stack(
                [
                    part.estimate([points[2 * k + i :: step]], b)[:, 0]
                    for k, part in enumerate(self.parts)
                ]
            )
            for i, b in enumerate((beta, FACTOR * beta))
        )
        return self._columns(near, far)

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(self.space, self.score, beta)

    @remembered
    def expectation_of(self, space: Space, score: Mixture, beta: float) -> np.ndarray:
        """Under another density or mixture, at the same targets."""
        parts = self._parts(space, score)
        for part in parts:
            part.__dict__["targets"] = self.targets
        near, far = (
            np.stack([part.expectation(b)[:, 0] for part in parts]) for b in (beta, FACTOR * beta)
        )
        return self._columns(near, far)

    @property
    def limit(self) -> np.ndarray:
        """4^{1 - γ}, γ* = 1, and λρ(Tx)/ρ(x) (f(x) - f(Tx))."""
        rate = self.parts[_CRITICAL].limit[:, 0]
        ratios = [np.full_like(rate, FACTOR ** (1 - gamma)) for gamma in EXPONENTS]
        return np.stack([*ratios, np.ones_like(rate), rate], axis=-1)

    @remembered
    def sampling_error(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
        """Mean shift and standard deviation of the estimate."""
        share, moments = n // (2 * len(EXPONENTS)), []
        for b in (beta, FACTOR * beta):
            value = np.stack([part.expectation(b)[:, 0] for part in self.parts])
            errors = [part.sampling_error(share, b) for part in self.parts]
            shift, sd = (np.stack([e[i][:, 0] for e in errors]) for i in (0, 1))
            moments.append((shift / value, (sd / value) ** 2))
        (near, near_variance), (far, far_variance) = moments
        variance = near_variance + far_variance
        exact = self.expectation(beta)
        ratios, critical, rate = exact[:, :-2].T, exact[:, -2], exact[:, -1]

        gamma = np.array(EXPONENTS)[:, None]
        weights = (gamma - gamma.mean()) / np.sum((gamma - gamma.mean()) ** 2)
        slope = np.sum(weights * np.log(ratios), axis=0)
        at_zero = 1 / len(gamma) + (critical - gamma.mean()) * weights  # h
        logs = far - near - (far_variance - near_variance) / 2
        moved = np.sum(at_zero * (weights * variance / slope - logs), axis=0) / slope
        spread = np.sqrt(np.sum(at_zero**2 * variance, axis=0)) / np.abs(slope)

        shifts = [*(ratios * (far - near + near_variance)), moved, rate * far[_CRITICAL]]
        last = np.abs(rate) * np.sqrt(far_variance[_CRITICAL])
        return np.stack(shifts, axis=-1), np.stack(
            [*(ratios * np.sqrt(variance)), spread, last], axis=-1
        )

    def effective_degree(self, n: int, beta: float) -> np.ndarray:
        """Of one part of the sample, at the larger of the two β."""
        share = n // (2 * len(EXPONENTS))
        return self.parts[0].effective_degree(share, FACTOR * beta)

    def faults(self, wrong: Mapping[str, tuple[Space, Mixture]]) -> tuple[Fault, ...]:
        """Other critical exponents, scales that are left out, and wrong rates."""
        (jump,) = self.score.jumps
        halved = replace(self.score, jumps=(replace(jump, rate=half(jump.rate)),))
        exponents = {
            "γ* = 1/2": 0.5,
            "γ* = 0.9": 0.9,
            "γ* = 2": 2.0,
            "(π/β)^{d/2} of the jump left out": 1 + self.space.dim / 2,
        }
        others = {"rate halved": (self.space, halved), **wrong}
        return (
            *(Fault(name, partial(self._critical_at, other)) for name, other in exponents.items()),
            Fault("p for 4ħβp", self._of_probabilities),
            Fault("the same growth for every γ", self._alike),
            Fault("rate off by 5 %", partial(self._rate_times, 1.05)),
            *(
                Fault(name, partial(self.expectation_of, space, score))
                for name, (space, score) in others.items()
            ),
        )

    def _critical_at(self, other: float, beta: float) -> np.ndarray:
        """If v stayed finite at another γ."""
        found = self.expectation(beta).copy()
        found[:, :-2] *= FACTOR ** (other - 1)
        found[:, -2] += other - 1
        return found

    def _of_probabilities(self, beta: float) -> np.ndarray:
        found = self._critical_at(0.0, beta)
        found[:, -1] /= 4 * self.hbar * FACTOR * beta
        return found

    def _alike(self, beta: float) -> np.ndarray:
        found = self.expectation(beta).copy()
        found[:, :-2] = found[:, _CRITICAL, None]
        return found

    def _rate_times(self, factor: float, beta: float) -> np.ndarray:
        found = self.expectation(beta).copy()
        found[:, -1] *= factor
        return found


def critical_exponent_claim(
    id: str,
    space: Space,
    score: Mixture,
    f: Polynomial,
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
    wrong: Mapping[str, tuple[Space, Mixture]] | None = None,
) -> Claim:
    """The claim that 4ħβ p (f(x) - f(Tx)) grows for γ < 1, falls for γ > 1 and has a rate at γ = 1.

    Parameters
    ----------
    id, statement, source : str
    space, score, f, hbar
        As in `CriticalProblem`.
    wrong : mapping, optional
        Further faults: a name, and the (space, mixture) that must be rejected.

    Returns
    -------
    Claim
        With the checks of bias, sampling (by the predicted standard deviation) and faults.
    """
    problem = CriticalProblem(space, score, f, hbar)
    x = problem.targets
    change = np.abs(f(x) - f(score.jumps[0].destination(x)))
    if np.min(change) < 0.1 * np.ptp(f(space.candidates())):
        raise InvalidInputError(
            f"{f.label} hardly changes by a jump from some of the targets ({change}): take another "
            "function"
        )
    # enough neighbours at 4β
    few = float(np.min(problem.effective_degree(10**6, FIRST_BETA))) / 10**6
    count = 1.2 * LEAST_EFFECTIVE_DEGREE / few
    sizes = {"smoke": (1, 12), "standard": (2, 64), "paper": (6, 200)}
    ratios = (rf"v_{{{gamma:g}}}(4\beta)/v_{{{gamma:g}}}(\beta)" for gamma in EXPONENTS)
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=space,
        functions=(*ratios, r"\gamma^*", r"v_1(4\beta)"),
        estimate=problem.estimate,
        expectation=problem.expectation,
        limit=problem.limit,
        schedules={
            preset: Schedule(
                betas=tuple(32.0 * 4**k for k in range(8)),
                sampling=(Setting(int(factor * count), FIRST_BETA, replicates),),
            )
            for preset, (factor, replicates) in sizes.items()
        },
        sampling_error=problem.sampling_error,
        effective_degree=problem.effective_degree,
        bias_order=(*_ORDERS, min(_ORDERS), 1.0),
        bias_step=0.5,
        faults=problem.faults(wrong or {}),
        checks=("bias", "sampling", "faults"),
        configuration=repr((problem, problem.targets.tolist(), EXPONENTS, FACTOR)),
    )
