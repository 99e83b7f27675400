"""Mixtures of a local kernel and jumps: step law, probabilities of sectors, and the limit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from scipy.special import logsumexp, softmax

from ..arrays import real_array
from ..errors import InvalidInputError, NoReferenceError, require_positive
from ..scores import Distance, Jump, Mixture, Part
from ..spaces import FlatTorus, Gaussian, Polynomial, SmoothFunction, Space, Sphere
from .gaussians import GaussianLaw
from .law import PolynomialLaw, StepLaw, log_density, score_law, step_law
from .spheres import SphericalLaw
from .witten import generator, jump_part, second_and_first_order


@singledispatch
def anywhere_law(space: Space, score: Distance) -> PolynomialLaw:
    """The step law of a distance for queries that need not lie on the space.

    Raises
    ------
    NoReferenceError
        On spaces other than spheres, flat tori and Gaussian ones.
    """
    raise NoReferenceError(
        f"jumps have an exact expectation on spheres, flat tori and Gaussian spaces, not on "
        f"{type(space).__name__}"
    )


@anywhere_law.register
def _(space: Sphere, score: Distance) -> SphericalLaw:
    return SphericalLaw(space, (space,), score, anywhere=True)


@anywhere_law.register
def _(space: FlatTorus, score: Distance) -> SphericalLaw:
    return SphericalLaw(space, space.circles, score, anywhere=True)


@anywhere_law.register
def _(space: Gaussian, score: Distance) -> GaussianLaw:
    return GaussianLaw(space, score)


@dataclass(frozen=True)
class Piece:
    """One part of a kernel, or the product of two parts, as a law of y given x.

    Attributes
    ----------
    log_mass : ndarray, shape (...)
    law : PolynomialLaw
    query : ndarray, shape (..., D)
        Where the law starts from.
    beta : float
    power : int
    """

    log_mass: np.ndarray
    law: PolynomialLaw
    query: np.ndarray
    beta: float
    power: int

    def increment(self, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
        """E f(y) - f(x)."""
        inner = self.law.mean_increment(f, self.query, self.beta, self.power)
        return inner if self.query is x else inner + (f(self.query) - f(x))

    def mean(self, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
        """E f(y)."""
        return f(x) + self.increment(f, x)

    def squared_increment(self, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
        """E (f(y) - f(x))²."""
        square = self.law.mean_squared_increment(f, self.query, self.beta, self.power)
        if self.query is x:
            return square
        apart = f(self.query) - f(x)
        inner = self.law.mean_increment(f, self.query, self.beta, self.power)
        return square + apart * (2 * inner + apart)


class MixtureLaw(StepLaw):
    """The step law of K = Σ_m g_m(x) exp(-β_m|u_m - y|²) h(y) on spheres, tori and Gaussians.

    One step is that of part m with the probability ∫ K_m dν / ∫ K dν. The square K² has the
    products of two parts, which are Gaussian kernels again,

        β|u - y|² + β'|u' - y|² = (β + β')|y - v|² + ββ'/(β + β') |u - u'|²,
        v = (βu + β'u')/(β + β').
    """

    def __init__(self, space: Space, score: Mixture) -> None:
        self.space, self.score = space, score
        refuse_other_volume(space, score)
        doob = score.local.doob
        self.local = step_law(space, score.local)
        self.remote = anywhere_law(space, Distance(doob))
        self.twice = anywhere_law(space, Distance(tuple(2 * a for a in doob)))

    def parts(self, x: np.ndarray, beta: float) -> list[Piece]:
        """The local kernel and the jumps."""
        return [self._alone(m, part, x, 1) for m, part in enumerate(self.score.parts(x, beta))]

    def products(self, x: np.ndarray, beta: float) -> list[list[Piece]]:
        """K_m K_n for all parts m, n."""
        parts = self.score.parts(x, beta)
        return [
            [
                self._alone(m, first, x, 2) if m == n else self._product(first, second)
                for n, second in enumerate(parts)
            ]
            for m, first in enumerate(parts)
        ]

    def _alone(self, m: int, part: Part, x: np.ndarray, power: int) -> Piece:
        """(K_m h)^power; the local one in the closed form that keeps its link."""
        if m == 0:
            log_mass = self.local.log_mass(x, part.beta, power)
            return Piece(log_mass, self.local, x, part.beta, power)  # type: ignore[arg-type]
        log_mass = self.remote.log_mass(part.queries, part.beta, power)
        return Piece(
            log_mass + power * part.log_weight, self.remote, part.queries, part.beta, power
        )

    def _product(self, first: Part, second: Part) -> Piece:
        total = first.beta + second.beta
        query = (first.beta * first.queries + second.beta * second.queries) / total
        apart = np.sum((first.queries - second.queries) ** 2, axis=-1)
        log_weight = first.log_weight + second.log_weight
        log_weight = log_weight - first.beta * second.beta / total * apart
        log_mass = self.twice.log_mass(query, total, 1) + log_weight
        return Piece(log_mass, self.twice, query, total, 1)

    def shares(self, x: np.ndarray, beta: float) -> np.ndarray:
        """The probability of every part, shape (parts, ...)."""
        require_positive("beta", beta)
        return softmax(np.stack([p.log_mass for p in self.parts(x, beta)]), axis=0)

    def sector_mean(self, g: Polynomial, m: int, x: np.ndarray, beta: float) -> np.ndarray:
        """E[g(y); a step of part m], the probability of that part included, shape (...)."""
        return self.shares(x, beta)[m] * self.parts(x, beta)[m].mean(g, x)

    def sector_constants(
        self, g: Polynomial, m: int, x: np.ndarray, beta: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """N·(mean shift) and N·(variance) of the estimate of `sector_mean` from N samples.

        With R the mean, w_k = ∫ K_k dν / ∫ K dν and w_kl = ∫ K_k K_l dν / (∫ K dν)², as in
        `sampling_constants` but with a function 1_m g of sector and point,

            N shift = -Σ_kl w_kl E_kl[1_m(k) g - R]
            N var   =  Σ_kl w_kl E_kl[(1_m(k) g - R)(1_m(l) g - R)].
        """
        mean = self.sector_mean(g, m, x, beta)
        total = 2 * self.log_mass(x, beta, 1)
        shift, variance = np.zeros_like(mean), np.zeros_like(mean)
        for k, row in enumerate(self.products(x, beta)):
            for n, piece in enumerate(row):
                weight = np.exp(piece.log_mass - total)
                first = piece.mean(g, x) if m in (k, n) else 0.0
                both = piece.mean(g.squared, x) if k == n == m else 0.0
                shift -= weight * ((first if k == m else 0.0) - mean)
                variance += weight * (both - mean * first * ((k == m) + (n == m)) + mean**2)
        return shift, variance

    def sector_limit(self, g: Polynomial, m: int, x: np.ndarray) -> np.ndarray:
        """The limit of 4β^γ `sector_mean`; of the local part, γ = 1, for g(x) = 0."""
        if m == 0:
            return -generator(self.space, self.score.local, g, x)
        jump = self.score.jumps[m - 1]
        destination = jump.destination(x)
        mean = g(destination)
        if jump.beta is not None:
            mean = mean + self.remote.mean_increment(g, destination, jump.beta, 1)
        return leading_rate(self.space, self.score, jump, x) * mean

    def _pieces(self, x: np.ndarray, beta: float, power: int) -> list[Piece]:
        if power == 1:
            return self.parts(x, beta)
        return [piece for row in self.products(x, beta) for piece in row]

    def log_mass(self, x: np.ndarray, beta: float, power: int) -> np.ndarray:
        pieces = self._pieces(real_array("points", x, finite=False), beta, power)
        return logsumexp(np.stack([p.log_mass for p in pieces]), axis=0)

    def _mean(self, values: list[np.ndarray], pieces: list[Piece]) -> np.ndarray:
        weights = softmax(np.stack([p.log_mass for p in pieces]), axis=0)
        return np.sum(weights * np.stack(values), axis=0)

    def mean_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        x = real_array("points", x, finite=False)
        pieces = self._pieces(x, beta, power)
        return self._mean([p.increment(f, x) for p in pieces], pieces)

    def mean_squared_increment(
        self, f: SmoothFunction, x: np.ndarray, beta: float, power: int
    ) -> np.ndarray:
        x = real_array("points", x, finite=False)
        pieces = self._pieces(x, beta, power)
        return self._mean([p.squared_increment(f, x) for p in pieces], pieces)


def refuse_other_volume(space: Space, score: Mixture) -> None:
    """Raise InvalidInputError where jump laws are normalised on another space than this one."""
    wide = any(jump.beta is not None for jump in score.jumps)
    if wide and score.space.log_kernel_volume(1.0) != space.log_kernel_volume(1.0):
        raise InvalidInputError(
            f"the mixture normalises its jump laws on {score.space}, not on {space}: give both the "
            "same space, up to its density"
        )


@score_law.register
def _(score: Mixture, space: Space) -> MixtureLaw:
    return MixtureLaw(space, score)


@second_and_first_order.register
def _(score: Mixture, space: Space, f: SmoothFunction, x: np.ndarray):
    return second_and_first_order(score.local, space, f, x)


def jump_rate(space: Space, score: Mixture, jump: Jump, x: np.ndarray) -> np.ndarray:
    """The limit of 4β (probability of a jump), λ(x)/ħ · (ρh seen from Tx) / ρh(x), shape (...).

    Of a jump law of finite width, ∫ k(Tx, y) ρh(y) dV(y) is seen; else ρh(Tx).

    Raises
    ------
    NoReferenceError
        For an exponent other than the critical one, where no finite rate exists.
    InvalidInputError
        Where T leads off the space.
    """
    if jump.exponent != 1:
        raise NoReferenceError(
            f"jumps of relative mass β^-{jump.exponent:g} have no finite rate: exponent = 1 has"
        )
    return leading_rate(space, score, jump, space.located(x))


def leading_rate(space: Space, score: Mixture, jump: Jump, x: np.ndarray) -> np.ndarray:
    """The limit of 4β^γ (probability of a jump) for jumps of relative mass λ/4β^γ, shape (...)."""
    refuse_other_volume(space, score)
    slope = score.local.slope(space.ambient_dim)
    here = space.log_density(x) + x @ slope
    destination = jump.destination(x)
    if jump.beta is None:
        step_law(space, Distance()).log_mass(destination, 1.0, 1)  # refuses points off the space
        there = space.log_density(destination) + destination @ slope
    else:
        law = anywhere_law(space, Distance(score.local.doob))
        there = law.log_mass(destination, jump.beta, 1) - space.log_kernel_volume(jump.beta)
    return np.exp(jump.log_rate(x) + there - here)


@jump_part.register
def _(score: Mixture, space: Space, f: SmoothFunction, x: np.ndarray) -> np.ndarray:
    """(1/ρh(x)) ∫ j(x, y) (f(x) - f(y)) ρh(y) dV(y), over all jumps."""
    total = np.zeros(np.shape(x)[:-1])
    law = anywhere_law(space, Distance(score.local.doob))
    for jump in score.jumps:
        destination = jump.destination(x)
        gain = f(destination) - f(x)
        if jump.beta is not None:
            gain = gain + law.mean_increment(f, destination, jump.beta, 1)
        total -= jump_rate(space, score, jump, x) * gain
    return total


@log_density.register
def _(score: Mixture, space: Space, x: np.ndarray) -> np.ndarray:
    """The least of those at x and where its jumps of no width go."""
    places = [x, *(image(x) for image in score.images)]
    return np.min([space.log_density(place) for place in places], axis=0)
