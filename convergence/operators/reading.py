"""What a trained head does, read from its queries and keys."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from ..arrays import real_array
from ..errors import InvalidInputError, require_flag
from ..scores import Head
from .currents import elimination_law, entropy_production
from .entries import log_matrix
from .heads import head_operator

_STARTS = 32  # triangles from which larger affinities are searched


@dataclass(frozen=True)
class HeadReading:
    """Readings of one head. S_s and S_a are the symmetric and antisymmetric parts of its scores.

    Attributes
    ----------
    tokens, head_dim : int
        N, and the dimension of queries and keys.
    definiteness : str
        Of the symmetric form: positive, negative, indefinite or zero.
    positive, negative : float
        Its positive and negative eigenvalues, counted per head dimension.
    rho_skew : float
        ‖S_a‖_F / ‖S_s‖_F.
    epsilon_rev : float
        ‖A - Aᵀ‖_F / ‖A‖_F, A = diag(π) P, from 0 (reversible) to √2 (every step one-way).
    effective_neighbours : float
        exp of the mean entropy of the rows of P.
    entropy_production : float
        ½ Σ (A_ij - A_ji) log(A_ij/A_ji).
    cycle_affinities : tuple of float
        The largest that were found over triangles of tokens, at most three, descending.
    bond_norm, link_norm : float
        ‖½d²_ij‖_F and ‖S_a‖_F.
    """

    tokens: int
    head_dim: int
    definiteness: str
    positive: float
    negative: float
    rho_skew: float
    epsilon_rev: float
    effective_neighbours: float
    entropy_production: float
    cycle_affinities: tuple[float, ...]
    bond_norm: float
    link_norm: float


def read_head(
    queries: np.ndarray, keys: np.ndarray, *, member: str = "ATTN", causal: bool = False
) -> HeadReading:
    """Read one head.

    π is the stationary law of P. A causal walk ends at the first token, so there π is uniform;
    every step is one-way, the entropy production infinite, and definiteness, ρ_skew, norms and
    cycle affinities are those of the scores without the mask.

    Parameters
    ----------
    queries, keys : ndarray, shape (n, d)
        With the usual 1/√d already in them.
    member : str
        Of the transport family; plain attention by default.
    causal : bool

    Returns
    -------
    HeadReading

    Raises
    ------
    InvalidInputError
        For wrong shapes, or too many tokens for a dense matrix of 1 GiB.
    """
    head = Head(queries, keys, member)
    n, d = head.queries.shape
    require_flag("causal", causal)
    operator = head_operator(head, causal=causal)
    log_p = log_matrix(operator)
    p = np.exp(log_p)
    law = np.full(n, 1 / n) if causal else elimination_law(p)
    coupling = law[:, None] * p
    entropies = -np.sum(p * np.where(p > 0, log_p, 0), axis=1)
    scores = head.scores()
    skew, symmetric = 0.5 * (scores - scores.T), 0.5 * (scores + scores.T)
    # bonds and affinities are free of what tokens share
    a, b, _ = head.centred
    own = scores if a is b else a @ b.T
    half_bond = 0.5 * (np.diag(own)[:, None] + np.diag(own)) - 0.5 * (own + own.T)
    link_norm, symmetric_norm = np.linalg.norm(skew), np.linalg.norm(symmetric)
    positive, negative = head.signature
    return HeadReading(
        tokens=n,
        head_dim=d,
        definiteness=head.definiteness,
        positive=positive / d,
        negative=negative / d,
        rho_skew=float(link_norm / symmetric_norm) if symmetric_norm else np.inf,
        epsilon_rev=float(np.linalg.norm(coupling - coupling.T) / np.linalg.norm(coupling)),
        effective_neighbours=float(np.exp(np.mean(entropies))),
        entropy_production=entropy_production(operator, law),
        cycle_affinities=_largest_affinities(own - own.T),
        bond_norm=float(np.linalg.norm(half_bond)),
        link_norm=float(link_norm),
    )


def read_heads(
    queries: np.ndarray, keys: np.ndarray, *, member: str = "ATTN", causal: bool = False
) -> pd.DataFrame:
    """A table with one row a head of a batch.

    Parameters
    ----------
    queries, keys : ndarray, shape (..., n, d)
        Leading axes, for example layer and head, become the index of the table.
    member, causal
        As in `read_head`.
    """
    queries, keys = real_array("queries", queries), real_array("keys", keys)
    if queries.ndim < 3 or queries.shape != keys.shape:
        raise InvalidInputError(
            f"a batch needs queries and keys of one shape (..., n, d), not {queries.shape} and "
            f"{keys.shape}; one head goes through read_head"
        )
    places = list(np.ndindex(queries.shape[:-2]))
    rows = [
        asdict(read_head(queries[place], keys[place], member=member, causal=causal))
        for place in places
    ]
    index = (
        pd.Index([p[0] for p in places]) if queries.ndim == 3 else pd.MultiIndex.from_tuples(places)
    )
    return pd.DataFrame(rows, index=index)


def _largest_affinities(differences: np.ndarray, seed: int = 0) -> tuple[float, ...]:
    """Largest sums x_ij + x_jk + x_ki of an antisymmetric x over triangles, at most three.

    Seeded triangles climb by exchange of one vertex for the best one until none is better, so the
    values are affinities of true triangles, and the first is the largest in nearly all cases.
    """
    n = len(differences)
    if n < 3:
        return ()
    rng = np.random.default_rng(seed)
    found: dict[tuple[int, ...], float] = {}
    for _ in range(_STARTS):
        triangle = rng.choice(n, 3, replace=False).tolist()
        best, stuck = -np.inf, 0
        while stuck < 3:
            i, j, k = triangle
            values = differences[i, j] + differences[j] + differences[:, i]
            choice = int(np.argmax(values))
            stuck = 0 if values[choice] > best else stuck + 1
            if not stuck:
                best, k = float(values[choice]), choice
            triangle = [j, k, i]
        if best >= 0:
            found[tuple(sorted(triangle))] = best
    return tuple(sorted(found.values(), reverse=True)[:3])
