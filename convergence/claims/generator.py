"""Claims on the generator itself: 4ħβ(f - P f) → 𝒞f, pointwise, for chosen test functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from .. import limits
from ..errors import require_tuple
from ..operators import generator, sample_log_weights, streamed_generator
from ..scores import (
    Distance,
    GaussianScore,
    IndefiniteHead,
    Mixture,
    PerPointMetric,
    Score,
    Sinkhorn,
)
from ..spaces import Chart, SmoothFunction, Space
from ..verification import Claim, Fault, Reference
from .pointwise import pointwise_claim
from .remembered import remembered
from .schedules import (
    COSTLY,
    ITERATED,
    STREAMED,
    WHOLE,
    Plan,
    least_distance,
    least_place_distance,
)
from .wrong_scores import wrong_drifts, wrong_scores

# of Sinkhorn's marginals: errors of log-weights, beside which those of sampling are (effective
# degree)^-1/2, above 1e-3
_MARGINALS = 1e-6


@dataclass(frozen=True)
class GeneratorProblem:
    """A space, a score and test functions, evaluated at fixed targets.

    Every method returns an array (targets, functions).

    Parameters
    ----------
    space : Space
    score : Distance, GeneralLink, Mixture, IndefiniteHead or PerPointMetric
    functions : tuple of test functions
    hbar : float
        Diffusion constant ħ.
    target_count : int
    """

    space: Space
    score: Score
    functions: tuple[SmoothFunction, ...]
    hbar: float = 1.0
    target_count: int = 3

    def __post_init__(self) -> None:
        require_tuple("functions", self.functions)

    @cached_property
    def targets(self) -> np.ndarray:
        """Evaluation points outside every sample, one a row."""
        images = getattr(self.score, "images", ())
        return self.space.targets(self.functions, self.target_count, images)

    def _columns(self, column: Callable[[SmoothFunction], np.ndarray]) -> np.ndarray:
        return np.stack([column(f) for f in self.functions], axis=-1)

    def values(self, x: np.ndarray) -> np.ndarray:
        """f(x) for every function, shape (..., functions)."""
        return self._columns(lambda f: f(x))

    def estimate(self, points: np.ndarray | Iterable[np.ndarray], beta: float) -> np.ndarray:
        """4ħβ(f - P f) from a sample, whole or in chunks."""
        chunks = [points] if isinstance(points, np.ndarray) else points
        if self.reuses_sample:
            return self._normalised_estimate(np.concatenate(list(chunks)), beta)
        return streamed_generator(
            (self._chunk(chunk) for chunk in chunks),
            self.score,
            beta,
            self.hbar,
            targets=self.space.features(self.targets),
            target_values=self.values(self.targets),
        )

    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.expectation_of(self.space, self.score, beta)

    def _chunk(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Features, values and log-weights of some points."""
        features = self.space.features(points)
        if isinstance(self.score, GaussianScore):
            return features, self.values(points), self.score.log_weights(features, points)
        return features, self.values(points), None

    @property
    def reuses_sample(self) -> bool:
        """Whether the weights of the keys are estimated from the sample."""
        return isinstance(self.score, Distance) and self.score.reuses_sample

    @property
    def plan(self) -> Plan:
        """Sizes of samples that the estimate affords."""
        if not self.reuses_sample:
            return COSTLY if isinstance(self.space, Chart) and self.space.dim > 1 else STREAMED
        assert isinstance(self.score, Distance)
        return ITERATED if isinstance(self.score.normalisation, Sinkhorn) else WHOLE

    def _normalised_estimate(self, points: np.ndarray, beta: float) -> np.ndarray:
        """The same where all points are summed over all points first.

        No point counts in its own q_j, whose mean is then N - 1 times q_β; Sinkhorn's scaling needs
        the diagonal to exist.
        """
        assert isinstance(self.score, Distance)
        features = self.space.features(points)
        loops = isinstance(self.score.normalisation, Sinkhorn)
        log_weights = sample_log_weights(
            features, self.score, beta, self_loops=loops, points=points, tolerance=_MARGINALS
        )
        return generator(
            features, self.values(points), self.score, beta, self.hbar, log_weights=log_weights,
            targets=self.space.features(self.targets), target_values=self.values(self.targets),
        )  # fmt: skip

    @remembered
    def expectation_of(self, space: Space, score: Score, beta: float) -> np.ndarray:
        """The expectation of another (space, score) at this problem's targets."""
        return self._columns(
            lambda f: limits.expectation(space, score, f, self.targets, beta, self.hbar)
        )

    def _leaking(self, beta: float) -> np.ndarray:
        """4ħβ (f - ∫ K f dν / ∫ K_local dν): jumps that take nothing from the local mass."""
        law = limits.score_law(self.score, self.space)
        assert isinstance(law, limits.MixtureLaw)
        local = law.shares(self.targets, beta)[0][:, None]
        rest = 4 * self.hbar * beta * (1 / local - 1) * self.values(self.targets)
        return self.expectation(beta) / local - rest

    def _head_faults(self, score: IndefiniteHead) -> list[Fault]:
        """A gap 1/β without its logarithm, and a rate without the widths of the two maxima."""
        near, far = score.curvatures

        def constant_gap(beta: float) -> np.ndarray:
            return self.expectation_of(self.space, replace(score, rate=4 * beta / np.e), beta)

        faults = [Fault("gap without its logarithm", constant_gap)]
        if near != far:
            jumps = self._columns(lambda f: limits.jump_part(score, self.space, f, self.targets))
            change = self.hbar * (np.sqrt(far / near) - 1) * jumps
            faults.append(Fault("width ratio omitted", partial(self._shifted, change)))
        return faults

    def _shifted(self, change: np.ndarray, beta: float) -> np.ndarray:
        return self.expectation(beta) + change

    @remembered
    def sampling_error(self, n: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
        """Mean shift and standard deviation of the estimate, as if the weights were known."""
        law = limits.score_law(self.score, self.space)
        pairs = [
            limits.sampling_constants_of(law, f, self.targets, beta, self.hbar)
            for f in self.functions
        ]
        shift = np.stack([pair[0] for pair in pairs], axis=-1) / n
        return shift, np.sqrt(np.stack([pair[1] for pair in pairs], axis=-1) / n)

    def effective_degree(self, n: int, beta: float) -> np.ndarray:
        """N ρ (π/β)^{d/2} at the targets."""
        return limits.effective_degree(self.space, self.score, self.targets, n, beta)

    @property
    def separation(self) -> float:
        """The least distance between targets, as the score measures it: exp(-β·separation²).

        Infinite where replicate errors are used, whose tests hold for dependent targets too.
        """
        if self.reuses_sample:
            return np.inf
        if isinstance(self.score, PerPointMetric):
            squares = -self.score(self.targets, self.targets, 1.0)
            return float(np.sqrt(np.min(squares + np.diag(np.full(len(squares), np.inf)))))
        if isinstance(self.score, Mixture):
            return least_place_distance(self.targets, self.score.images)
        if isinstance(self.score, IndefiniteHead):  # exp(-½βκδ²) at both maxima
            width = np.sqrt(min(self.score.curvatures) / 2)
            return float(width) * least_place_distance(self.targets, self.score.images)
        return least_distance(self.space.features(self.targets))

    @property
    def limit(self) -> np.ndarray:
        """N = ∞ and β = ∞."""
        return self._columns(
            lambda f: limits.generator(self.space, self.score, f, self.targets, self.hbar)
        )

    @property
    def drift(self) -> np.ndarray:
        """The first-order part of the limit."""
        return self.drift_of(self.score)

    def drift_of(self, score: Score) -> np.ndarray:
        """The first-order part of another score's limit at this problem's targets."""
        return self._columns(lambda f: limits.drift(self.space, score, f, self.targets, self.hbar))

    def parts(self) -> dict[str, Reference]:
        """The drift, and what curvature brings to -ħΔ, where they are more than rounding."""
        jumps = self._columns(lambda f: limits.jump_part(self.score, self.space, f, self.targets))
        second = self.limit - self.drift - self.hbar * jumps
        found = {"drift": self.drift}
        laplacian = self._columns(lambda f: self.space.laplacian(f, self.targets))
        if np.allclose(second, -self.hbar * laplacian):  # the score measures with this metric
            term = self._columns(lambda f: self.space.curvature_term(f, self.targets))
            found["curvature"] = -self.hbar * term
        least = 1e-9 * np.max(np.abs(self.limit))
        return {
            name: partial(_constant, part)
            for name, part in found.items()
            if np.max(np.abs(part)) > least
        }

    def faults(self, wrong: Mapping[str, tuple[Space, Score]]) -> tuple[Fault, ...]:
        """Wrong constants that fit this problem, and the wrong problems given by name."""
        right, drift = self.expectation, self.drift
        values = self.values(self.targets)
        percent = 10 if self.reuses_sample else 5  # what the standard preset can show
        faults = [
            Fault(f"ħ off by {percent} %", lambda beta: (1 + percent / 100) * right(beta)),
            Fault("β off by 2", lambda beta: 0.5 * right(2 * beta)),
            Fault("2/ε for 4/ε", lambda beta: 0.5 * right(beta)),
        ]
        if np.max(np.abs(drift)) > 1e-9 * np.max(np.abs(self.limit)):  # more than rounding
            faults += [
                Fault("drift without its 2", lambda beta: right(beta) - 0.5 * drift),
                Fault("drift omitted", lambda beta: right(beta) - drift),
            ]
        else:
            faults += [
                Fault("sign of 𝒞", lambda beta: -right(beta)),
                Fault("P for 𝒞", lambda beta: values - right(beta) / (4 * self.hbar * beta)),
            ]
        for name, other in wrong_drifts(self.score).items():
            change = self.drift_of(other) - drift
            faults.append(Fault(name, partial(self._shifted, change)))
        if isinstance(self.score, Mixture):
            faults.append(Fault("rows not renormalised", self._leaking))
        if isinstance(self.score, IndefiniteHead):
            faults += self._head_faults(self.score)
        of_score = {name: (self.space, score) for name, score in wrong_scores(self.score).items()}
        for name, (space, score) in {**of_score, **wrong}.items():
            faults.append(Fault(name, partial(self.expectation_of, space, score)))
        return tuple(faults)


def _constant(part: np.ndarray, beta: float) -> np.ndarray:
    return part


def generator_claim(
    id: str,
    space: Space,
    score: Score,
    functions: tuple[SmoothFunction, ...],
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
    target_count: int | None = None,
    wrong: Mapping[str, tuple[Space, Score]] | None = None,
) -> Claim:
    """The claim 4ħβ(f - P_β f) → 𝒞f on a space, for any row-normalised kernel of `scores`.

    Parameters
    ----------
    id : str
    space, score : the problem
    functions : tuple of test functions
    statement, source : str
    hbar : float
    target_count : int, optional
        Number of evaluation points; on curves and with jumps 3, so that independent errors leave
        room for a β small enough to show its bias, else 5; 6 where the errors are those of
        replicates, which may depend on each other.
    wrong : mapping, optional
        Further faults: a name, and the wrong (space, score) whose expectation must be rejected.

    Returns
    -------
    Claim
        With all four checks, schedules for every preset, and the slope -2/(d+6) of the joint
        limit β = c N^{2/(d+6)}. Where the weights of the keys are estimated from the sample itself,
        the errors are those of replicates: means at several (N, β) are held against the exact
        expectation, and no rate is claimed.
    """
    few = space.dim == 1 or isinstance(score, Mixture)  # jumps need room too
    reuses_sample = isinstance(score, Distance) and score.reuses_sample
    target_count = target_count or (6 if reuses_sample else 3 if few else 5)
    problem = GeneratorProblem(space, score, functions, hbar, target_count)
    claim = pointwise_claim(
        id, problem, tuple(f.label for f in functions), statement=statement, source=source,
        faults=problem.faults(wrong or {}), rate=2 / (space.dim + 6), plan=problem.plan,
        replicate_errors=problem.reuses_sample,
    )  # fmt: skip
    return replace(
        claim,
        bias_logarithm=isinstance(score, IndefiniteHead),
        parts=problem.parts(),
        error_weights=lambda n, beta: problem.sampling_error(n, beta)[1],
    )
