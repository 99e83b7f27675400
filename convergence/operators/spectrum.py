"""Eigenpairs and stationary laws of a Markov operator, with what is needed to trust them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, eigs

from ..backend import array_module
from ..errors import (
    LARGEST_DENSE,
    DisconnectedError,
    InvalidInputError,
    NoMassError,
    SpectrumError,
)
from .communication import (
    POSITIVE,
    closed_classes,
    communicating_classes,
    named_rows,
    refuse_reducible,
    restricted,
)
from .currents import elimination_law
from .entries import log_matrix
from .krylov import largest_eigenpairs, random_block
from .markov import MarkovOperator
from .scored import ScoreOperator
from .symmetry import gaussian_factors

# the lowest eigenvalue of 𝒞 is zero, on constants
GROUND_TOLERANCE = 1e-10
# bytes, those of 2048 points, up to which a dense solve beats an iteration
_DENSE = 1 << 25
_TINY = 8 * 8**2  # too few points for an iteration
# vectors in Arnoldi's basis for a law: with the solver's own 20 a gap of a percent costs three
# times the products, all in restarts
_BASIS = 40
# residuals of an iterated and of a solved law; over the distance to the next eigenvalue, or over
# the reciprocal condition, they say how far the law may be off
_RESIDUAL = 1e-14
_ROUNDING = float(np.finfo(float).eps)
# error from which on a law is found by elimination, which has none
_LAW_ERROR = 1e-6


@dataclass(frozen=True)
class Eigenpairs:
    """Lowest eigenpairs of 𝒞 = 4ħβ(I - P), ordered by real part.

    Attributes
    ----------
    values : ndarray, shape (k,)
        Real where P is reversible, else complex.
    vectors : ndarray, shape (n, k)
        Right eigenvectors, of mean square one under the stationary law (reversible) or the
        uniform one, with a largest entry that is real and positive.
    residuals : ndarray, shape (k,)
        Norm of 𝒞f - λf in the same law.
    solver : str
    tolerance : float
        What the solver was asked for.
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    solver: str
    tolerance: float


@dataclass(frozen=True)
class Stationary:
    """A stationary law π = πP.

    Attributes
    ----------
    law : ndarray, shape (n,)
        Positive, sums to one.
    residual : float
        Σ_i |(πP)_i - π_i|.
    method : str
    """

    law: np.ndarray
    residual: float
    method: str


def stationary(
    operator: MarkovOperator, seed: int = 0, *, largest_dense: int = _DENSE
) -> Stationary:
    """The stationary law: in closed form where P is reversible, otherwise by Arnoldi's method.

    Reversible: π_i ∝ exp(c_i) Σ_j K_ij. Where the dense matrix of another P takes at most
    `largest_dense` bytes, its linear equations are solved instead: for some thousand points faster
    than Arnoldi's method wherever the walk mixes slowly. Where it mixes so slowly that rounding
    moves the law by more than 1e-6, or classes are joined only by steps too rare for a sum,
    elimination on the dense matrix finds the law, up to 1 GiB; `method` says so.

    Raises
    ------
    DisconnectedError
        When not all points communicate in float64 (`communicating_classes`), or some have no mass;
        the message names the rows. `stationary_by_class` gives one law a class.
    SpectrumError
        When the solver finds no positive law, or the walk mixes too slowly for an iteration and is
        too large for elimination.
    """
    seen = communicating_classes(operator)
    if operator.reversible:
        refuse_reducible(operator, seen, "the stationary law")
        law, method = _positive_law(operator), "closed form"
    elif np.max(seen) > 0:
        law, method = _rare_law(operator, seen), "elimination"
    elif 8 * operator.shape[0] ** 2 <= max(largest_dense, _TINY):
        law, method = _solved_law(operator, largest_dense)
    else:
        law, method = _iterated_law(operator, seed)
    if not np.min(law) >= -1e-12 * np.max(law):  # NaN too
        raise SpectrumError("the solver found no positive stationary law")
    law = np.maximum(law, 0)
    law = law / np.sum(law)
    residual = float(np.sum(np.abs(operator.T @ law - law)))
    return Stationary(law, residual, method)


def _solved_law(operator: MarkovOperator, largest: int) -> tuple[np.ndarray, str]:
    """πP = π, its first equation replaced by Σπ = 1; by elimination where that is ill-conditioned.

    Where the walk hardly mixes, the equations determine the law no more in float64, although the
    residual is small; elimination without subtractions keeps every entry.
    """
    markov = np.exp(log_matrix(operator, max(largest, LARGEST_DENSE)))
    system = markov.T.copy()
    system[np.diag_indices_from(system)] -= 1.0
    system[0] = 1.0
    norm = np.linalg.norm(system, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", linalg.LinAlgWarning)  # singular: the condition says so
        factors = linalg.lu_factor(system, overwrite_a=True)
    condition, _ = linalg.lapack.dgecon(factors[0], norm)
    if condition * _LAW_ERROR < _ROUNDING:
        return _eliminated(markov), "elimination"
    return linalg.lu_solve(factors, np.eye(1, len(system))[0]), "scipy.linalg.solve"


def _iterated_law(operator: MarkovOperator, seed: int) -> tuple[np.ndarray, str]:
    """The left eigenvector of eigenvalue one, where the next one is far enough to tell them."""
    n = operator.shape[0]
    start, basis = np.random.default_rng(seed).random(n), min(n, _BASIS)
    try:
        values, vectors = eigs(operator.T, 2, which="LR", v0=start, tol=_RESIDUAL, ncv=basis)
    except ArpackError as error:
        raise SpectrumError(f"eigs did not converge: {error}") from error
    first, second = np.argsort(-np.real(values))[:2]
    gap = abs(1 - values[second])
    if gap * _LAW_ERROR >= _RESIDUAL:
        law = vectors[:, first]
        return np.real(law / np.sum(law)), "scipy.sparse.linalg.eigs"
    if 8 * n**2 > LARGEST_DENSE:
        raise SpectrumError(
            f"the second eigenvalue of P is {gap:.1e} from one, too near for an iteration to tell "
            "the stationary law, and the dense matrix too large for elimination: take a smaller "
            "beta, or treat parts of the points by themselves (restricted)"
        )
    return _eliminated(np.exp(log_matrix(operator))), "elimination"


def _rare_law(operator: MarkovOperator, seen: np.ndarray) -> np.ndarray:
    """The law of a walk some of whose steps are too rare for sums, by elimination.

    Sums leave such steps out, so no iteration knows the law; the entries, while positive in
    float64, determine it.
    """
    if 8 * operator.shape[0] ** 2 > LARGEST_DENSE:
        refuse_reducible(operator, seen, "the stationary law")
    positive = communicating_classes(operator, POSITIVE)
    refuse_reducible(operator, positive, "the stationary law")
    return _eliminated(np.exp(log_matrix(operator)))


def _eliminated(markov: np.ndarray) -> np.ndarray:
    try:
        return elimination_law(markov)
    except NoMassError as error:
        raise DisconnectedError(f"the stationary law is not unique: {error}") from error


def stationary_by_class(
    operator: MarkovOperator, seed: int = 0, *, largest_dense: int = _DENSE
) -> list[tuple[np.ndarray, Stationary]]:
    """One stationary law for each class that the walk does not leave; others have no mass.

    Returns
    -------
    list of (rows, Stationary)
        The points of a class and the law on them, in the order of their first points.
    """
    labels = communicating_classes(operator)
    return [
        (rows, stationary(restricted(operator, rows), seed, largest_dense=largest_dense))
        for rows in closed_classes(operator, labels)
    ]


def _positive_law(operator: MarkovOperator) -> np.ndarray:
    """The closed form, where it gives every point a mass in float64."""
    law = reversible_law(operator)
    empty = np.flatnonzero(law == 0)
    if len(empty):
        raise DisconnectedError(
            f"the walk never comes to rows {named_rows(empty)}: their stationary mass is zero in "
            "float64 (a log-weight of -inf, or no other point within reach); leave these rows out"
        )
    return law


def reversible_law(operator: MarkovOperator) -> np.ndarray:
    """π_i ∝ exp(c_i) Σ_j K_ij, normalised over all points, also of a disconnected operator.

    Of a score or kernel that is symmetric up to factors, s_ij - s_ji = a_i - a_j, less a_i.
    """
    factors = _reversing_factors(operator)
    if factors is None:
        raise InvalidInputError("the closed form needs one symmetric kernel")
    log_weights = operator.components_[0].log_weights
    own = 0.0 if log_weights is None else operator.on_host(log_weights)
    log_law = operator.log_degrees[:, 0] + own - factors
    law = np.exp(log_law - np.max(log_law))
    return law / np.sum(law)


def _reversing_factors(operator: MarkovOperator) -> np.ndarray | float | None:
    if isinstance(operator, ScoreOperator):
        return operator._factors
    if operator.reversible:
        return 0.0
    return gaussian_factors(operator) if operator.square else None


def eigenpairs(
    operator: MarkovOperator, k: int, hbar: float = 1.0, *, tolerance: float = 1e-12, seed: int = 0
) -> Eigenpairs:
    """The k lowest eigenpairs of the generator 𝒞 = 4ħβ(I - P), with their multiplicities.

    Reversible operators, also scores and kernels that are symmetric up to factors of one point (see
    `symmetry`), are symmetrised, S = π^½ P π^-½, and the largest eigenvalues of S taken by block
    Lanczos; the eigenvalues of 𝒞 then follow as Rayleigh quotients of differences formed inside
    the sums, so that nothing is lost at large β. Others go through block Arnoldi. A block has more
    random columns than pairs are wanted, so that a repeated eigenvalue comes as often as it is one;
    several columns at a time cost little more than one. The block is seeded; where k parts a
    repeated eigenvalue, the seed chooses the vectors.

    Parameters
    ----------
    operator : MarkovOperator
        Square.
    k : int
        At most n - 2.
    hbar : float
    tolerance : float
        Asked of the solver, relative to the eigenvalues of P.
    seed : int

    Raises
    ------
    DisconnectedError
        When not all points communicate in float64, or some have no stationary mass; the message
        names the rows.
    SpectrumError
        When the solver does not converge, or the ground eigenvalue is not zero to 1e-10.
    """
    n = operator.shape[0]
    if not operator.square or not 1 <= k <= n - 2:
        raise InvalidInputError(f"between 1 and {n - 2} eigenpairs of a square operator, not {k}")
    start = random_block(n, k, seed)
    refuse_reducible(operator, communicating_classes(operator), "the spectrum's ground state")
    if _reversing_factors(operator) is not None:
        law, solver = _positive_law(operator), "block Lanczos"
        vectors = _symmetrised(operator, law, k, start, tolerance)
    else:
        law, solver = np.full(n, 1 / n), "block Arnoldi"
        vectors = largest_eigenpairs(operator.matmat, start, k, tolerance, symmetric=False).vectors
    largest = np.take_along_axis(vectors, np.argmax(np.abs(vectors), axis=0)[None], axis=0)
    vectors = vectors / (largest / np.abs(largest))
    vectors = vectors / np.sqrt(np.sum(law[:, None] * np.abs(vectors) ** 2, axis=0))
    applied = _generator(operator, vectors, hbar)
    values = np.sum(law[:, None] * np.conj(vectors) * applied, axis=0)
    order = np.argsort(np.real(values), kind="stable")
    values, vectors, applied = values[order], vectors[:, order], applied[:, order]
    residuals = np.sqrt(np.sum(law[:, None] * np.abs(applied - values * vectors) ** 2, axis=0))
    found = Eigenpairs(values, vectors, residuals, solver, tolerance)
    _check(found, k, hbar, operator.beta)
    return found


def _check(found: Eigenpairs, k: int, hbar: float, beta: float) -> None:
    """Count, ground state and residuals are those of a converged spectrum."""
    if len(found.values) != k or not np.all(np.isfinite(found.values)):
        raise SpectrumError(f"{len(found.values)} of {k} eigenvalues came out, or not finite")
    if np.abs(found.values[0]) > GROUND_TOLERANCE * max(1.0, hbar):
        raise SpectrumError(
            f"the ground eigenvalue is {found.values[0]:.2e}, not zero: ask for a smaller tolerance"
        )
    # the solver's tolerance is relative to P's largest eigenvalue, one
    allowed = 4 * hbar * beta * (100 * found.tolerance + 1e-12)
    if np.max(found.residuals) > allowed:
        raise SpectrumError(
            f"a residual of {np.max(found.residuals):.1e} exceeds {allowed:.1e}: "
            "the solver did not reach its tolerance"
        )


def _generator(operator: MarkovOperator, vectors: np.ndarray, hbar: float) -> np.ndarray:
    if np.iscomplexobj(vectors):
        real, imaginary = (operator.generator(v, hbar) for v in (vectors.real, vectors.imag))
        return real + 1j * imaginary
    return operator.generator(vectors, hbar)


def _symmetrised(
    operator: MarkovOperator, law: np.ndarray, k: int, start: np.ndarray, tolerance: float
) -> np.ndarray:
    """Right eigenvectors of P for its k largest eigenvalues, by way of the symmetric S."""
    xp = array_module(operator.device)
    root = xp.asarray(np.sqrt(law))[:, None]
    vectors = largest_eigenpairs(
        lambda v: root * operator._matmat(v / root),
        xp.asarray(start),
        k,
        tolerance,
        symmetric=True,
        xp=xp,
    ).vectors
    return operator.on_host(vectors / root)
