"""What a space must say about itself, and what follows from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..errors import InvalidInputError


class TestFunction(Protocol):
    """A smooth function of the ambient coordinates with exact derivatives."""

    __test__ = False  # not a pytest class

    @property
    def label(self) -> str: ...
    def __call__(self, x: np.ndarray) -> np.ndarray: ...
    def gradient(self, x: np.ndarray) -> np.ndarray: ...
    def hessian(self, x: np.ndarray) -> np.ndarray: ...


class Space(ABC):
    """A Riemannian submanifold of R^D with a sampling density ρ against its volume dV.

    A new space is one short file: the members below marked abstract. Points are rows of an
    array (..., D) of ambient coordinates. With P the orthogonal projector onto the tangent space
    and H the mean-curvature vector (H = Δx, the Laplacian of the embedding),

        grad f = P ∇f        Δf = tr(P ∇²f) + H·∇f

    for any smooth extension of f to R^D.
    """

    @property
    @abstractmethod
    def dim(self) -> int:
        """Intrinsic dimension d."""

    @property
    @abstractmethod
    def ambient_dim(self) -> int:
        """Dimension D of the space that holds the embedding."""

    @property
    @abstractmethod
    def volume(self) -> float:
        """Total Riemannian volume, infinite for a non-compact space."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """n independent points with law ρ dV, shape (n, D)."""

    @abstractmethod
    def log_density(self, x: np.ndarray) -> np.ndarray:
        """log ρ(x) against the Riemannian volume, shape (...)."""

    @abstractmethod
    def log_density_gradient(self, x: np.ndarray) -> np.ndarray:
        """The ambient gradient of an extension of log ρ, shape (..., D)."""

    @abstractmethod
    def projector(self, x: np.ndarray) -> np.ndarray:
        """The tangent projector P(x), shape (..., D, D)."""

    @abstractmethod
    def mean_curvature(self, x: np.ndarray) -> np.ndarray:
        """The mean-curvature vector H(x) = Δx, shape (..., D)."""

    @abstractmethod
    def candidates(self) -> np.ndarray:
        """A fixed, fine set of points in the well-sampled part, from which targets are chosen."""

    def gradient(self, f: TestFunction, x: np.ndarray) -> np.ndarray:
        """grad f as a tangent vector in ambient coordinates, shape (..., D)."""
        return np.einsum("...ab,...b->...a", self.projector(x), f.gradient(x))

    def laplacian(self, f: TestFunction, x: np.ndarray) -> np.ndarray:
        """Laplace-Beltrami Δf (negative semi-definite), shape (...)."""
        trace = np.einsum("...ab,...ab->...", self.projector(x), f.hessian(x))
        return trace + np.einsum("...a,...a->...", self.mean_curvature(x), f.gradient(x))

    def targets(
        self, functions: Sequence[TestFunction], count: int, separation: float
    ) -> np.ndarray:
        """Evaluation points: fixed, well apart, and with every ∇f away from zero.

        Where ∇f = 0 the sampling error is of smaller order, so such points would spoil a common
        rate. Candidates where some |grad f| is under half its root-mean-square are left out;
        the rest is thinned by farthest-point selection, from the densest candidate on.

        Parameters
        ----------
        functions : sequence of test functions
        count : int
            Number of targets wanted.
        separation : float
            Least ambient distance between two targets.

        Returns
        -------
        ndarray, shape (count, D)

        Raises
        ------
        InvalidInputError
            When the space has no room for that many targets so far apart.
        """
        points = self.candidates()
        keep = np.ones(len(points), dtype=bool)
        for f in functions:
            slope = np.linalg.norm(self.gradient(f, points), axis=1)
            keep &= slope >= 0.5 * np.sqrt(np.mean(slope**2))
        points = points[keep]
        if not len(points):
            raise InvalidInputError("no candidate point has a non-zero gradient of every function")
        chosen = [int(np.argmax(self.log_density(points)))]
        distance = np.linalg.norm(points - points[chosen[0]], axis=1)
        while len(chosen) < count:
            farthest = int(np.argmax(distance))
            if distance[farthest] < separation:
                raise InvalidInputError(
                    f"only {len(chosen)} targets at least {separation:.3g} apart fit on {self}; "
                    "ask for fewer targets or take a larger beta"
                )
            chosen.append(farthest)
            distance = np.minimum(distance, np.linalg.norm(points - points[farthest], axis=1))
        return points[chosen]
