"""Spectra of star graphs: Kirchhoff's in closed form, and that of P_β on the graph at N = ∞.

Limit. Edges of lengths L_j from one vertex, -ħf'' on each, f continuous and Σ f'_j = 0 (outgoing)
at the vertex, f' = 0 at the free ends: f_j = c cos k(L_j - t)/cos kL_j with

    Σ_j tan kL_j = 0,

one root between neighbouring poles, the sum being increasing; and where m edges have their pole
(n + ½)π/L_j at the same k, an eigenvalue of multiplicity m - 1 of functions that vanish at the
vertex. Tripod of unit edges: k²/π² = 0, ¼, ¼, 1, 9/4, 9/4, 4, ...

Finite β. P_β is self-adjoint for the law q_β dν; Gauss-Legendre panels along the edges make it a
matrix, whose lowest modes are those of the graph Laplacian D - A, A_ij = w_i K_ij w_j.

Berkolaiko & Kuchment, Introduction to Quantum Graphs (2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy import sparse
from scipy.optimize import brentq
from scipy.sparse.linalg import eigsh
from scipy.spatial import KDTree

from ..errors import InvalidInputError, require_positive
from ..spaces import StarGraph

# poles of different edges closer than this are one
_SAME_POLE = 1e-10
# nodes a panel, and a panel's length in units of β^-1/2: eigenvalues to 1e-10
_NODES, _PANEL = 12, 1.5
# exp(-β d²) beyond is under 1e-18
_CUT = 42.0


@dataclass(frozen=True)
class QuantumGraph:
    """A star of edges with a Kirchhoff vertex and free ends.

    Parameters
    ----------
    lengths : tuple of float
    """

    lengths: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.lengths:
            raise InvalidInputError("a star has at least one edge")
        for length in self.lengths:
            require_positive("an edge's length", length)

    def wave_numbers(self, count: int) -> np.ndarray:
        """The `count` lowest k ≥ 0, each as often as its multiplicity; eigenvalues are ħk²."""
        edges = np.asarray(self.lengths)
        poles = np.sort(((np.arange(count + 1) + 0.5) * np.pi / edges[:, None]).ravel())
        last = np.min((count + 0.5) * np.pi / edges)  # further up some edge's poles are missing
        distinct, found = [0.0], [0.0]
        for pole in poles[poles <= last * (1 + _SAME_POLE)]:
            if pole - distinct[-1] <= _SAME_POLE * pole:
                found.append(pole)
                continue
            if len(distinct) > 1:
                found.append(self._root(distinct[-1], pole))
            distinct.append(pole)
        return np.sort(found)[:count]

    def _root(self, low: float, high: float) -> float:
        """The root of Σ tan kL between two neighbouring poles."""
        edges, width = np.asarray(self.lengths), high - low

        def total(k: float) -> float:
            return float(np.sum(np.tan(k * edges)))

        inset = width * 1e-3
        while not total(low + inset) < 0 < total(high - inset):
            inset /= 10
        return float(brentq(total, low + inset, high - inset, xtol=1e-14, rtol=1e-15))

    def groups(self, count: int) -> list[list[int]]:
        """Numbers of the lowest `count` modes, those of one eigenvalue together.

        A group that `count` would cut is left out.
        """
        k = self.wave_numbers(count + 1)
        found: list[list[int]] = [[0]]
        for i in range(1, count + 1):
            if k[i] - k[i - 1] <= 1e-6 * k[i]:
                found[-1].append(i)
            else:
                found.append([i])
        return found[:-1]

    def eigenspace(self, group: list[int]) -> np.ndarray:
        """Coefficients c (edges, multiplicity) of f_j = c_j cos k(L_j - t), for one of `groups`."""
        k = self.wave_numbers(group[0] + 1)[-1]
        edges = np.asarray(self.lengths)
        cosines, sines = np.cos(k * edges), np.sin(k * edges)
        # continuity, f_j(0) = f_0(0), and Kirchhoff's Σ f'_j(0) = 0
        rows = np.vstack([np.diag(cosines)[1:] - np.eye(len(edges))[0] * cosines[0], sines])
        # as many of the smallest singular values as the group has modes
        return np.linalg.svd(rows)[2][-len(group) :].T


@dataclass(frozen=True)
class GraphChain:
    """P_β of the uniform law on a star graph in R^D, at N = ∞.

    Parameters
    ----------
    space : StarGraph
    beta : float
    """

    space: StarGraph
    beta: float

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Points of the space and their weights, by length."""
        unit, weights = leggauss(_NODES)
        points, lengths = [], []
        for k, end in enumerate(self.space.lengths):
            panels = int(np.ceil(end * np.sqrt(self.beta) / _PANEL))
            starts = end * np.arange(panels) / panels
            t = (starts[:, None] + end / panels * (1 + unit) / 2).reshape(-1, 1)
            points.append(self.space.points(k, t))
            lengths.append(np.tile(weights * end / panels / 2, panels))
        return np.concatenate(points), np.concatenate(lengths)

    @cached_property
    def _affinities(self) -> sparse.csr_matrix:
        """A_ij = w_i exp(-β|x_i - x_j|²) w_j, where not negligible."""
        points, weights = self._nodes
        tree = KDTree(self.space.features(points))
        near = tree.sparse_distance_matrix(
            tree, np.sqrt(_CUT / self.beta), output_type="coo_matrix"
        )
        values = weights[near.row] * np.exp(-self.beta * near.data**2) * weights[near.col]
        return sparse.csr_matrix((values, (near.row, near.col)), shape=near.shape)

    @cached_property
    def _degrees(self) -> np.ndarray:
        return np.asarray(self._affinities.sum(axis=1)).ravel()

    @property
    def law(self) -> tuple[np.ndarray, np.ndarray]:
        """The nodes, and the stationary law's weights on them."""
        return self._nodes[0], self._degrees / np.sum(self._degrees)

    def eigenpairs(self, count: int, hbar: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """The lowest eigenvalues of 4ħβ(I - P_β), and eigenfunctions at the nodes."""
        degrees = self._degrees
        laplacian = sparse.diags(degrees) - self._affinities
        # (D - A) f = μ D f; the shift keeps the factorised matrix definite
        start = np.random.default_rng(0).standard_normal(len(degrees))
        _, vectors = eigsh(
            laplacian.tocsc(),
            count,
            sparse.diags(degrees).tocsc(),
            sigma=-0.1 / self.beta,
            v0=start,
        )
        vectors /= np.sqrt(degrees @ vectors**2)
        values = 4 * hbar * self.beta * self._energies(vectors)
        order = np.argsort(values)
        return values[order], vectors[:, order]

    def _energies(self, vectors: np.ndarray) -> np.ndarray:
        """½ Σ A_ij (f_i - f_j)², from differences."""
        near = self._affinities.tocoo()
        steps = vectors[near.row] - vectors[near.col]
        return 0.5 * near.data @ steps**2
