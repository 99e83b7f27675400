"""What a space must say about itself, and what follows from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from ..arrays import real_array
from ..errors import InvalidInputError, NoReferenceError, require_whole
from .polynomials import Polynomial


class SmoothFunction(Protocol):
    """A smooth function of a space's points with exact derivatives in their coordinates."""

    @property
    def label(self) -> str: ...
    def __call__(self, x: np.ndarray) -> np.ndarray: ...
    def gradient(self, x: np.ndarray) -> np.ndarray: ...
    def hessian(self, x: np.ndarray) -> np.ndarray: ...


class Space(ABC):
    """A Riemannian submanifold of R^D with a sampling density ρ against its volume dV.

    A new space is one short file: the members below marked abstract. Points are rows of an
    array (..., D) of ambient coordinates, except on a `Chart`, whose points are rows (..., d) of
    its own coordinates; `features` gives what the kernel acts on, densities, test functions and
    geometry take points. With P the orthogonal projector onto the tangent space and H the
    mean-curvature vector (H = Δx, the Laplacian of the embedding),

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
        """n independent points with law ρ dV, one a row.

        Every space takes a `numpy.random.Generator` and nothing else (`require_draw`): a seed in
        its place would draw the same points at every call.
        """

    def located(self, x: np.ndarray) -> np.ndarray:
        """Points as an array of float64, where they are real, finite and lie on the space.

        Raises
        ------
        InvalidInputError
        """
        found = real_array("points", x)
        if found.shape[-1:] != (self.point_dim,):
            raise InvalidInputError(
                f"points of {self} are rows of {self.point_dim} coordinates, not an array of shape "
                f"{found.shape}"
            )
        self.refuse_outside(found)
        return found

    @property
    def point_dim(self) -> int:
        """Numbers that make a point: the ambient coordinates, or on a chart its own."""
        return self.ambient_dim

    def refuse_outside(self, x: np.ndarray) -> None:  # noqa: B027  (all of R^D by default)
        """Raise InvalidInputError where some points (..., D) do not lie on the space."""

    def features(self, x: np.ndarray) -> np.ndarray:
        """What the kernel acts on: the embedded points, shape (..., D)."""
        return x

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

    def log_kernel_volume(self, beta: float) -> float:
        """log ∫ exp(-β|x - y|²) dV(y) where it is the same at every x, about (π/β)^{d/2}.

        Raises
        ------
        NoReferenceError
            Where it depends on x, or is not known.
        """
        raise NoReferenceError(
            f"the volume that a Gaussian kernel sees is not known on {type(self).__name__}: take "
            "a sphere, a flat torus or a Gaussian space"
        )

    def polynomial(self, expression: str) -> Polynomial:
        """A test function from its expression in x0, x1, ..., for example ``"x0*x1"``."""
        return Polynomial(expression, self.ambient_dim)

    def gradient(self, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
        """grad f as a tangent vector in ambient coordinates, shape (..., D)."""
        return np.einsum("...ab,...b->...a", self.projector(x), f.gradient(x))

    def laplacian(self, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
        """Laplace-Beltrami Δf (negative semi-definite), shape (...)."""
        trace = np.einsum("...ab,...ab->...", self.projector(x), f.hessian(x))
        return trace + self.curvature_term(f, x)

    def curvature_term(self, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
        """⟨ΔF, ∇f⟩, the part of Δf that the mean curvature vector ΔF brings, shape (...)."""
        return np.einsum("...a,...a->...", self.mean_curvature(x), f.gradient(x))

    def targets(
        self,
        functions: Sequence[SmoothFunction],
        count: int,
        images: Sequence[Callable[[np.ndarray], np.ndarray]] = (),
    ) -> np.ndarray:
        """Evaluation points: fixed, well apart, well sampled, and with every ∇f away from zero.

        Where ∇f = 0 the sampling error is of smaller order, so such points would spoil a common
        rate: candidates where some |grad f| is under a quarter of its root-mean-square are left
        out, and so are those with a density under a quarter of the largest. The rest is thinned
        by farthest-point selection among the features, from the densest candidate on.

        Parameters
        ----------
        functions : sequence of test functions
        count : int
            Number of targets wanted.
        images : sequence of callables, optional
            Maps of the features to where jumps go; targets keep away from each other's images too.

        Returns
        -------
        ndarray, `count` points

        Raises
        ------
        InvalidInputError
            When too few candidates remain.
        """
        require_whole("the number of targets", count, 1)
        points = self.candidates()
        log_density = self.log_density(points)
        keep = log_density >= np.max(log_density) - np.log(4)
        for f in functions:
            slope = np.linalg.norm(self.gradient(f, points), axis=1)
            keep &= (slope > 0) & (slope >= 0.25 * np.sqrt(np.mean(slope**2)))
        points, log_density = points[keep], log_density[keep]
        if len(points) < count:
            raise InvalidInputError(
                f"only {len(points)} candidate points of {self} have non-zero gradients of all "
                f"functions, {count} targets are wanted; choose other functions or fewer targets"
            )
        places = [self.features(points)]
        places += [image(places[0]) for image in images]
        chosen = [int(np.argmax(log_density))]
        distance = _distances(places, chosen[0])
        while len(chosen) < count:
            chosen.append(int(np.argmax(distance)))
            distance = np.minimum(distance, _distances(places, chosen[-1]))
        return points[chosen]


def require_draw(n: object, rng: object) -> None:
    """The one check of what `sample` is given.

    Raises
    ------
    InvalidInputError
        Where n is no whole number >= 0, or rng no `numpy.random.Generator`.
    """
    require_whole("the sample size", n)
    if not isinstance(rng, np.random.Generator):
        raise InvalidInputError(
            f"rng must be a numpy.random.Generator, for example np.random.default_rng(0), not "
            f"{rng!r}: points drawn from a seed would be the same at every call"
        )


def _distances(places: list[np.ndarray], index: int) -> np.ndarray:
    """The least distance of any place of each point from any place of one of them."""
    apart = [np.linalg.norm(a - b[index], axis=1) for a in places for b in places]
    return np.min(apart, axis=0)
