"""Claims on the spectrum of a walk on a star graph, and on its eigenspaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..limits import GraphChain, QuantumGraph
from ..operators import MarkovOperator, eigenpairs, reversible_law
from ..scores import Distance
from ..spaces import StarGraph
from ..verification import Claim, Fault, Schedule, Setting
from .remembered import remembered
from .whole_operators import least_degree, without_first_bias

PLAIN_KERNEL = Distance()
# density fluctuations move eigenvalues like N^-1/2, whatever β; the bias falls like β^-1/2, so that
# along β = c N^2/3 the error falls at least like N^-1/3
RATE, ORDER = 2 / 3, 0.5
GROWTH = 1.5
# the smallest N, how many, and replicates of the joint check; paper ends at N = 10⁵
SIZES = {"smoke": (200, 3, 8), "standard": (800, 5, 12), "paper": (800, 13, 16)}
# N, β and replicates of the sampling check: errors are like (N·replicates)^-1/2, whatever β
SAMPLING = {
    "smoke": Setting(1_400, 12.0, 12),
    "standard": Setting(1_400, 12.0, 260),
    "paper": Setting(2_800, 48.0, 720),
}
BETAS = tuple(128.0 * 4**k for k in range(5))
# residual that the solver is asked for, relative to the eigenvalues of P: its square, times 4β over
# a gap, is the error of an eigenvalue
_TOLERANCE = 1e-7


@dataclass(frozen=True)
class SpectrumProblem:
    """Eigenvalues of 4ħβ(I - P) on a uniform star graph, each group's mean; an array (1, groups).

    The mean over the modes of one eigenvalue is half the trace of P on their space: a sample splits
    a double eigenvalue by order N^-1/2, but its trace moves smoothly.

    Parameters
    ----------
    space : StarGraph
    count : int
        Modes, the constant included; a group of equal eigenvalues that it would cut is left out.
    hbar : float
    """

    space: StarGraph
    count: int
    hbar: float = 1.0

    @cached_property
    def graph(self) -> QuantumGraph:
        """The limit."""
        return QuantumGraph(self.space.lengths)

    @cached_property
    def groups(self) -> list[list[int]]:
        """Numbers of the modes of every eigenvalue but zero."""
        return self.graph.groups(self.count)[1:]

    def means(self, values: np.ndarray) -> np.ndarray:
        """Of the lowest eigenvalues, over each group; shape (1, groups)."""
        return np.array([[np.mean(np.asarray(values)[group]) for group in self.groups]])

    def walk(self, points: np.ndarray, beta: float) -> MarkovOperator:
        """The sampled operator."""
        features = self.space.features(points)
        return MarkovOperator.of_sample(features, PLAIN_KERNEL, beta, self_loops=True)

    def measured(self, points: np.ndarray, beta: float) -> np.ndarray:
        """The groups' means from one sample."""
        walk, count = self.walk(points, beta), self.groups[-1][-1] + 1
        return self.means(eigenpairs(walk, count, self.hbar, tolerance=_TOLERANCE).values)

    def estimate(self, points: np.ndarray, beta: float) -> np.ndarray:
        """The same, free of the bias of order 1/N."""
        return without_first_bias(self.measured, points, beta)

    @remembered
    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self.means(GraphChain(self.space, beta).eigenpairs(self.count, self.hbar)[0])

    @property
    def limit(self) -> np.ndarray:
        """Kirchhoff's vertex, β = ∞."""
        return self.hbar * self.means(self.graph.wave_numbers(self.count) ** 2)

    @property
    def labels(self) -> tuple[str, ...]:
        """LaTeX of every column, the modes counted from zero."""
        return tuple(rf"\lambda_{{{','.join(map(str, group))}}}" for group in self.groups)

    def faults(self, wrong: Mapping[str, QuantumGraph]) -> tuple[Fault, ...]:
        """Wrong constants, wrong vertices, and the spectra of the wrong graphs given by name."""
        right, edges = self.expectation, np.asarray(self.space.lengths)[:, None]
        n = np.arange(self.count)
        waves = {
            "Dirichlet vertex": np.sort(((n + 0.5) * np.pi / edges).ravel()),
            "edges not joined": np.sort((n * np.pi / edges).ravel()),
            **{name: graph.wave_numbers(self.count) for name, graph in wrong.items()},
        }

        def moved(change: np.ndarray) -> Callable[[float], np.ndarray]:
            return lambda beta: right(beta) + change

        return (
            Fault("2ħβ for 4ħβ", lambda beta: right(beta) / 2),
            Fault("10 % too large", lambda beta: 1.1 * right(beta)),
            *(
                Fault(name, moved(self.hbar * self.means(k**2) - self.limit))
                for name, k in waves.items()
            ),
        )


Basis = Callable[[list[int], np.ndarray, np.ndarray], np.ndarray]
"""(group, edges, t) → functions that span a group's space at points, shape (points, m)."""


@dataclass(frozen=True)
class SubspaceProblem(SpectrumProblem):
    """How much of each sampled eigenspace lies in the exact one; an array (1, groups), limit one.

    For ψ the exact eigenfunctions of a group, orthonormal in the law of P, and v the sampled ones:
    Σ_ab ⟨ψ_a, v_b⟩² over the size of the group, the mean squared cosine of the angles between the
    two spaces, whatever bases they are given in.
    """

    def _exact(self, group: list[int], edge: np.ndarray, t: np.ndarray) -> np.ndarray:
        k = self.graph.wave_numbers(self.count)[group[0]]
        wave = np.cos(k * (np.asarray(self.space.lengths)[edge] - t))
        return self.graph.eigenspace(group)[edge] * wave[:, None]

    def _separate(self, dirichlet: bool) -> Basis:
        """Waves of edges that know nothing of each other, free or clamped at the vertex."""
        offset, wave = (0.5, np.sin) if dirichlet else (0.0, np.cos)
        waves = [
            ((n + offset) * np.pi / end, j)
            for j, end in enumerate(self.space.lengths)
            for n in range(self.count)
        ]
        waves.sort()
        return lambda group, edge, t: np.stack(
            [wave(k * t) * (edge == j) for k, j in (waves[i] for i in group)], axis=1
        )

    def overlaps(
        self, points: np.ndarray, law: np.ndarray, modes: np.ndarray, basis: Basis
    ) -> np.ndarray:
        """Of modes with the spaces of a basis, under a law on points; shape (1, groups)."""
        edge, t = points[:, 0].astype(int), points[:, 1]
        found = []
        for group in self.groups:
            exact, sampled = basis(group, edge, t), modes[:, group]
            products = exact.T @ (law[:, None] * sampled)
            inverse = np.linalg.inv(exact.T @ (law[:, None] * exact))
            norms = np.sum(law[:, None] * sampled**2, axis=0)
            found.append(np.mean(np.sum(products * (inverse @ products), axis=0) / norms))
        return np.array([found])

    def measured(self, points: np.ndarray, beta: float) -> np.ndarray:
        """The overlaps from one sample."""
        walk = self.walk(points, beta)
        modes = eigenpairs(walk, self.groups[-1][-1] + 1, tolerance=_TOLERANCE).vectors
        return self.overlaps(points, reversible_law(walk), modes, self._exact)

    @remembered
    def expectation(self, beta: float) -> np.ndarray:
        """The same for N = ∞."""
        return self._expectation_of(beta, self._exact)

    def _expectation_of(self, beta: float, basis: Basis) -> np.ndarray:
        chain = GraphChain(self.space, beta)
        return self.overlaps(*chain.law, chain.eigenpairs(self.count)[1], basis)

    @property
    def limit(self) -> np.ndarray:
        """One."""
        return np.ones((1, len(self.groups)))

    @property
    def labels(self) -> tuple[str, ...]:
        """LaTeX of every column."""
        return tuple(rf"\cos^2_{{{','.join(map(str, group))}}}" for group in self.groups)

    def faults(self, wrong: Mapping[str, QuantumGraph]) -> tuple[Fault, ...]:
        """Spaces of wrong vertices, and a tenth elsewhere."""
        clamped, free = self._separate(True), self._separate(False)
        sizes = np.array([[len(group) for group in self.groups]])
        return (
            Fault("Dirichlet vertex", lambda beta: self._expectation_of(beta, clamped)),
            Fault("edges not joined", lambda beta: self._expectation_of(beta, free)),
            Fault("pairs as single functions", lambda beta: self.expectation(beta) / sizes),
            Fault("a tenth elsewhere", lambda beta: 0.9 * self.expectation(beta)),
        )


def star_beta(n: int) -> float:
    """β(N) = 60 (N/800)^{2/3}: some thirty neighbours on half of the smallest samples."""
    return float(f"{60 * (n / 800) ** RATE:.6g}")


def _schedules() -> Mapping[str, Schedule]:
    def schedule(preset: str, smallest: int, steps: int, joint: int) -> Schedule:
        sizes = [round(smallest * GROWTH**step) for step in range(steps)]
        settings = tuple(Setting(n, star_beta(n), joint) for n in sizes)
        return Schedule(betas=BETAS, sampling=(SAMPLING[preset],), joint=settings)

    return {preset: schedule(preset, *size) for preset, size in SIZES.items()}


def _claim(
    id: str,
    problem: SpectrumProblem,
    order: float,
    statement: str,
    source: str,
    wrong: Mapping[str, QuantumGraph],
) -> Claim:
    return Claim(
        id=id,
        statement=statement,
        source=source,
        space=problem.space,
        functions=problem.labels,
        estimate=problem.estimate,
        expectation=problem.expectation,
        limit=problem.limit,
        schedules=_schedules(),
        # N (π/β)^½ ρ, ρ one over the length of the graph
        effective_degree=lambda n, beta: np.array(
            [n * np.sqrt(np.pi / beta) / np.sum(problem.space.lengths)]
        ),
        least_degree=least_degree(1),
        bias_order=order,
        bias_step=ORDER,
        slope=-RATE * order,
        slope_is_bound=True,
        faults=problem.faults(wrong),
        configuration=repr(problem),
    )


def spectrum_claim(
    id: str,
    space: StarGraph,
    count: int,
    *,
    statement: str,
    source: str,
    hbar: float = 1.0,
    wrong: Mapping[str, QuantumGraph] | None = None,
) -> Claim:
    """The claim that a sampled P has, as N and β grow, the spectrum of the quantum graph.

    Errors are those of replicates. Twelve at each of five N from 800 to 4050, as at standard, give
    the slope to ±0.2 or ±0.3 (95 %). At a study's level of some 1e-6 that rejects only errors which
    grow like N^0.2 to N^0.5: there bias, sampling and faults decide, not the slope.

    Parameters
    ----------
    id, statement, source : str
    space : StarGraph
    count : int
        Modes, the constant included.
    hbar : float
    wrong : mapping, optional
        Further faults: a name, and the graph whose spectrum must be rejected.

    Returns
    -------
    Claim
        With all four checks; bias of order β^-1/2, an error that falls at least like N^-1/3 along
        β = c N^2/3.
    """
    problem = SpectrumProblem(space, count, hbar)
    return _claim(id, problem, ORDER, statement, source, wrong or {})


def subspace_claim(id: str, space: StarGraph, count: int, *, statement: str, source: str) -> Claim:
    """The claim that the sampled eigenspaces become those of the quantum graph.

    Parameters as in `spectrum_claim`. Angles are of order β^-1/2, so that their squared cosines
    meet one like 1/β.

    Returns
    -------
    Claim
        With all four checks; bias of order 1/β, an error that falls at least like N^-2/3 along
        β = c N^2/3.
    """
    return _claim(id, SubspaceProblem(space, count), 2 * ORDER, statement, source, {})
