r"""Query-key heads and their transport family, as the one primitive exp(-β|u_i - v_j|² + c_j).

With q and k the queries and keys of the tokens, m = (q + k)/√2 and n = (q - k)/√2,

| member | score s_ij                                                        |
|--------|-------------------------------------------------------------------|
| ATTN   | ⟨q_i, k_j⟩                                                        |
| DMTN   | ½⟨m_i, m_j⟩ + ½(⟨q_i, k_j⟩ - ⟨k_i, q_j⟩) = ⟨q_i, k_j⟩ + ½⟨n_i, n_j⟩ |
| ATAP   | ½(⟨q_i, k_j⟩ + ⟨k_i, q_j⟩)                                        |
| DMAP   | -½|m_i - m_j|²                                                    |

Every one is s_ij = ⟨a_i, b_j⟩ + (terms of i) + (terms of j), and row normalisation cancels the
terms of i. So does what all keys share: a coordinate in which all of them lie within a factor of
two is taken less the smallest of them, which is exact in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import common_part, index_array, real_array
from ..errors import InvalidInputError, require_flag, require_positive
from .distance import squared_distances

MEMBERS = ("ATTN", "DMTN", "ATAP", "DMAP")


@dataclass(frozen=True, eq=False)
class Head:
    """One member of the transport family on given queries and keys.

    DMAP has half the parameters: only q + k enters, so W_Q and W_K may both be ½(W_Q + W_K).

    Parameters
    ----------
    queries, keys : ndarray, shape (n, d)
        q and k, one row a token, with the usual 1/√d already in them (`from_tokens` has a `scale`).
        With W_Q and W_K in their place the tokens are the unit vectors of feature space.
    member : str
        One of `MEMBERS`.

    Raises
    ------
    InvalidInputError

    References
    ----------
    Candanedo, Attention Geometry, arXiv:2604.09560, Table 4.
    """

    queries: np.ndarray
    keys: np.ndarray
    member: str = "ATTN"

    def __post_init__(self) -> None:
        for name in ("queries", "keys"):
            object.__setattr__(self, name, _matrix(name, getattr(self, name)).copy())
        if self.queries.shape != self.keys.shape:
            raise InvalidInputError(
                f"a head needs as many queries as keys, of one dimension, not {self.queries.shape} "
                f"and {self.keys.shape}"
            )
        if self.member not in MEMBERS:
            raise InvalidInputError(f"unknown member {self.member!r}: one of {', '.join(MEMBERS)}")

    @classmethod
    def from_tokens(
        cls,
        tokens: np.ndarray,
        query_weights: np.ndarray,
        key_weights: np.ndarray,
        member: str = "ATTN",
        *,
        scale: float = 1.0,
    ) -> Head:
        """The head with q = √scale X W_Q and k = √scale X W_K.

        Parameters
        ----------
        tokens : ndarray, shape (n, D)
            X.
        query_weights, key_weights : ndarray, shape (D, d)
            W_Q and W_K.
        member : str
        scale : float
            Factor of every score: an inverse temperature, 1/√d in most transformers.
        """
        root = np.sqrt(require_positive("scale", scale))
        tokens = _matrix("tokens", tokens)
        weights = _matrix("query_weights", query_weights), _matrix("key_weights", key_weights)
        if any(w.shape[0] != tokens.shape[1] for w in weights):
            raise InvalidInputError(
                f"tokens of dimension {tokens.shape[1]} need weights of as many rows, not "
                f"{weights[0].shape} and {weights[1].shape}"
            )
        queries, keys = (root * tokens @ w for w in weights)
        return cls(queries, keys, member)

    @property
    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """a and b, shape (n, r), with s_ij = ⟨a_i, b_j⟩ + o_i + o_j (`offsets`)."""
        q, k = self.queries, self.keys
        m, n = (q + k) / np.sqrt(2), (q - k) / np.sqrt(2)
        if self.member == "DMAP":
            return m, m
        if self.member == "DMTN":  # S = ½(⟨m,m⟩ - ⟨n,n⟩ + ⟨n_i,m_j⟩ - ⟨m_i,n_j⟩)
            return np.hstack([m, n]) / np.sqrt(2), np.hstack([m - n, m]) / np.sqrt(2)
        if self.member == "ATAP":
            return np.hstack([q, k]) / np.sqrt(2), np.hstack([k, q]) / np.sqrt(2)
        return q, k

    @property
    def offsets(self) -> np.ndarray:
        """o, shape (n,): -½|m|² for DMAP, else zero."""
        a, _ = self.factors
        return -0.5 * np.sum(a * a, axis=1) if self.member == "DMAP" else np.zeros(len(a))

    @property
    def centred(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """a', b' and c with ⟨a'_i, b'_j⟩ + c_j = s_ij + (terms of i): shorter where tokens share.

        a' = a - a₀ and b' = b - b₀, exact, with a₀ and b₀ zero in every coordinate where tokens
        differ by more than a factor of two. c = b' a₀, for DMAP -½|b'|².

        Returns
        -------
        a', b' : ndarray, shape (n, r)
            One array for DMAP.
        c : ndarray, shape (n,)
        """
        a, b = self.factors
        shared = common_part(a)
        left = a - shared
        if a is b:
            return left, left, -0.5 * np.sum(left * left, axis=1)
        right = b - common_part(b)
        return left, right, right @ shared

    def kernel(self, beta: float = 0.5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Queries u, keys v and log-weights c with exp(-β|u_i - v_j|² + c_j) ∝_i exp(s_ij).

        u = a'/√(2β), v = b'/√(2β), c = ½|b'|² + c': for ATTN at β = ½ u = q, v = k, c = ½|k|², but
        for what all tokens share (`centred`). Any β > 0 gives the same Markov operator.

        Exponents carry the rounding of β|u|² and β|v|², see `kernel_size`.

        Returns
        -------
        u, v : ndarray, shape (n, r)
            One array where the kernel is symmetric (DMAP).
        c : ndarray, shape (n,)
        """
        root = np.sqrt(2 * require_positive("beta", beta))
        a, b, c = self.centred
        u = a / root
        v = u if a is b else b / root
        return u, v, 0.5 * np.sum(b * b, axis=1) + c

    @property
    def kernel_size(self) -> float:
        """Largest β|u|² + β|v|² of `kernel`: log P is off by the rounding of so large a number."""
        a, b, _ = self.centred
        return 0.5 * sum(float(np.max(np.sum(f * f, axis=1))) for f in (a, b))

    @property
    def row_terms(self) -> np.ndarray:
        """r, shape (n,), with s_ij = -β|u_i - v_j|² + c_j + r_i: the way back to the score."""
        a, b = self.factors
        if a is b:
            return np.zeros(len(a))
        left = self.centred[0]
        return 0.5 * np.sum(left * left, axis=1) + a @ common_part(b)

    def scores(self) -> np.ndarray:
        """All s_ij, shape (n, n)."""
        a, b = self.factors
        return -0.5 * squared_distances(a, b) if a is b else a @ b.T

    def pair_scores(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """s_ij at given pairs, shape (pairs,)."""
        a, b = self.factors
        rows, columns = self._tokens(rows, columns)
        if a is b:
            return -0.5 * np.sum((a[rows] - a[columns]) ** 2, axis=-1)
        return np.sum(a[rows] * b[columns], axis=-1)

    def squared_bond(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """d²_ij = s_ii + s_jj - s_ij - s_ji = ⟨a_i - a_j, b_i - b_j⟩ at given pairs.

        Negative where the form of the head is not positive definite.
        """
        a, b = self.factors
        rows, columns = self._tokens(rows, columns)
        return np.sum((a[rows] - a[columns]) * (b[rows] - b[columns]), axis=-1)

    def link(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The antisymmetric part ½(s_ij - s_ji) at given pairs."""
        a, b = self.factors
        rows, columns = self._tokens(rows, columns)
        forward = np.sum(a[rows] * b[columns], axis=-1)
        return 0.5 * (forward - np.sum(a[columns] * b[rows], axis=-1))

    def _tokens(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = len(self.queries)
        return index_array("rows", rows, n), index_array("columns", columns, n)

    @property
    def sites(self) -> np.ndarray:
        """½s_ii, shape (n,), with s_ij = -½d²_ij + link_ij + ½s_ii + ½s_jj.

        The terms of i cancel in every row, those of j are the logarithm of a Doob weight.
        """
        a, b = self.factors
        return 0.5 * np.sum(a * b, axis=1) + self.offsets

    @property
    def bond_eigenvalues(self) -> np.ndarray:
        """Eigenvalues of the symmetric form ½(a bᵀ + b aᵀ), the possibly non-zero ones, ascending.

        For ``Head(W_Q, W_K)`` they are those of the symmetric part of W_Q W_Kᵀ. The bond of a
        head is a distance where none is negative.
        """
        a, b = self.factors
        triangle = np.linalg.qr(np.hstack([a, b]), mode="r")
        left, right = np.split(triangle, 2, axis=1)
        return np.linalg.eigvalsh(0.5 * (left @ right.T + right @ left.T))

    @property
    def signature(self) -> tuple[int, int]:
        """Numbers of positive and of negative eigenvalues of the symmetric form.

        Eigenvalues below the rounding of the largest one, and of the factors, count as zero.
        """
        a, b = self.factors
        values = self.bond_eigenvalues
        zero = 64 * np.finfo(float).eps * np.linalg.norm(a) * np.linalg.norm(b)
        return int(np.sum(values > zero)), int(np.sum(values < -zero))

    @property
    def definiteness(self) -> str:
        """Of the symmetric form: "positive", "negative" or "indefinite"; "zero" without a bond."""
        positive, negative = self.signature
        if positive and negative:
            return "indefinite"
        return "positive" if positive else "negative" if negative else "zero"


def _matrix(name: str, array: np.ndarray) -> np.ndarray:
    matrix = real_array(name, array)
    if matrix.ndim != 2 or not matrix.size:
        raise InvalidInputError(
            f"{name} must be a matrix with a row a token, not of shape {matrix.shape}"
        )
    return matrix


@dataclass(frozen=True)
class ProductScore:
    """⟨x, y⟩ of query and key, whatever β, for `convergence.kernels.score_sums`."""

    def __call__(self, queries: Any, keys: Any, beta: float) -> Any:
        """The products, shape (len(queries), len(keys)), of the array library of the points."""
        return queries @ keys.T


@dataclass(frozen=True)
class CausalScore:
    """⟨a_i, b_j⟩ where token j is not after token i, minus infinity elsewhere.

    A call (queries, keys, β), for `convergence.kernels.score_sums`, takes rows (a, position) and
    (b, position). The score does not depend on β.

    Parameters
    ----------
    distances : bool
        Whether the score is -½|a_i - b_j|² instead.
    """

    distances: bool = False

    def __post_init__(self) -> None:
        require_flag("distances", self.distances)

    def __call__(self, queries: np.ndarray, keys: np.ndarray, beta: float) -> np.ndarray:
        """The masked scores, shape (len(queries), len(keys))."""
        a, b = queries[:, :-1], keys[:, :-1]
        scores = -0.5 * squared_distances(a, b) if self.distances else a @ b.T
        later = keys[:, -1][None, :] > queries[:, -1][:, None]
        return np.where(later, -np.inf, scores)
