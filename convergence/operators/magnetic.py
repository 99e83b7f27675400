"""The magnetic operator P ⊙ e^{i a}: a Markov operator with a phase on every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import LinearOperator

from ..arrays import complex_array, real_array
from ..errors import LARGEST_DENSE, InvalidInputError, refuse_large, require_positive
from .entries import log_block
from .markov import MarkovOperator
from .spectrum import reversible_law

Phase = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(points (a, D), points (b, D)) → phases (a, b), antisymmetric."""

_BLOCK = 1 << 20  # pairs


def bilinear_phase(matrix: np.ndarray) -> Phase:
    """The phase a(x, y) = xᵀMy, Mᵀ = -M.

    Raises
    ------
    InvalidInputError
        When M is not antisymmetric.
    """
    m = real_array("matrix", matrix)
    if m.ndim != 2 or m.shape[0] != m.shape[1] or not np.array_equal(m, -m.T):
        raise InvalidInputError("the matrix of a bilinear phase must be antisymmetric: Mᵀ = -M")
    return lambda x, y: x @ m @ y.T


class MagneticOperator(LinearOperator):
    """P ⊙ e^{i a} on complex functions, P_ij e^{i a(x_i, y_j)}, block by block.

    Every pair is summed, in O(N) memory. Targets outside the sample are a rectangular P.

    Parameters
    ----------
    operator : MarkovOperator
        P.
    phase : callable
        a: `bilinear_phase`, or any function of two blocks of points.
    queries, keys : ndarray, shapes (n_queries, D) and (n_keys, D)
        The points x_i and y_j that the phase takes; by default those of the kernel.

    References
    ----------
    Singer and Wu, Vector diffusion maps and the connection Laplacian, 2012.
    """

    def __init__(
        self,
        operator: MarkovOperator,
        phase: Phase,
        queries: np.ndarray | None = None,
        keys: np.ndarray | None = None,
    ) -> None:
        first = operator.components_[0]
        self.operator, self.phase = operator, phase
        self.queries, self.keys = (
            operator.on_host(own) if given is None else real_array(name, given, copy=True)
            for name, own, given in (
                ("queries", first.queries, queries),
                ("keys", first.keys, keys),
            )
        )
        if (len(self.queries), len(self.keys)) != operator.shape:
            raise InvalidInputError(
                f"a phase on {len(self.queries)} x {len(self.keys)} points does not fit an "
                f"operator of shape {operator.shape}"
            )
        super().__init__(dtype=complex, shape=operator.shape)  # type: ignore[call-arg]

    def parts(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P_ij and a_ij of chosen rows and columns."""
        given = self.phase(self.queries[rows], self.keys[columns])
        if np.shape(given) != (len(rows), len(columns)) or np.iscomplexobj(given):
            raise InvalidInputError("a phase must give one real number a pair of points")
        phases = real_array("phases", given)
        return np.exp(log_block(self.operator, rows, columns)), phases

    def _blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Rows with their P and a."""
        columns = np.arange(self.shape[1])
        height = max(1, _BLOCK // len(columns))
        for start in range(0, self.shape[0], height):
            rows = np.arange(start, min(start + height, self.shape[0]))
            yield rows, *self.parts(rows, columns)

    def _matmat(self, values: np.ndarray) -> np.ndarray:
        values = complex_array("values", values)
        return np.concatenate([(p * np.exp(1j * a)) @ values for _, p, a in self._blocks()])

    def _rmatmat(self, weights: np.ndarray) -> np.ndarray:
        weights = complex_array("weights", weights)
        total = np.zeros((self.shape[1], weights.shape[1]), dtype=complex)
        for rows, p, a in self._blocks():
            total += (p * np.exp(-1j * a)).T @ weights[rows]
        return total

    def _matvec(self, values: np.ndarray) -> np.ndarray:
        return self._matmat(values.reshape(-1, 1))[:, 0]

    def _rmatvec(self, weights: np.ndarray) -> np.ndarray:
        return self._rmatmat(weights.reshape(-1, 1))[:, 0]

    def generator(
        self, values: np.ndarray, centers: np.ndarray | None = None, hbar: float = 1.0
    ) -> np.ndarray:
        """4ħβ (f(x_i) - Σ_j P_ij e^{i a_ij} f_j), the difference formed inside the sum.

        Parameters
        ----------
        values : ndarray, shape (n_keys,)
            f at the keys, real or complex.
        centers : ndarray, shape (n_queries,), optional
            f at the queries; by default, at the sample itself, `values`.
        hbar : float

        Raises
        ------
        InvalidInputError
        """
        values = complex_array("values", values)
        at_queries = values if centers is None else complex_array("centers", centers)
        if values.shape != self.shape[1:] or at_queries.shape != self.shape[:1]:
            raise InvalidInputError("values and centers need one number a key and a query")
        sums = []
        for rows, p, a in self._blocks():
            # e^{ia} f_j - f_i = e^{ia} (f_j - f_i) + (e^{ia} - 1) f_i
            own = at_queries[rows, None]
            turned = np.exp(1j * a) * (values[None, :] - own) + np.expm1(1j * a) * own
            sums.append(np.sum(p * turned, axis=1))
        scale = -4 * require_positive("hbar", hbar) * self.operator.beta
        return scale * np.concatenate(sums)

    def hermitian(self, largest: int = LARGEST_DENSE) -> np.ndarray:
        """π^½ (P ⊙ e^{i a}) π^-½ as a dense Hermitian matrix, P reversible for π.

        Raises
        ------
        InvalidInputError
            When P is not reversible, the phase not antisymmetric, or the matrix larger than
            `largest` bytes.
        """
        refuse_large(16 * self.shape[0] * self.shape[1], largest)
        root = np.sqrt(reversible_law(self.operator))
        everything = np.arange(self.shape[0])
        p, phases = self.parts(everything, everything)
        scale = max(1.0, float(np.max(np.abs(phases))))
        if not np.max(np.abs(phases + phases.T)) < 1e-10 * scale:
            raise InvalidInputError("the phase must be antisymmetric: a(y, x) = -a(x, y)")
        matrix = root[:, None] * p * np.exp(1j * phases) / root
        return 0.5 * (matrix + matrix.conj().T)

    def eigenvalues(self, k: int, hbar: float = 1.0) -> np.ndarray:
        """The k lowest eigenvalues of 4ħβ(I - P ⊙ e^{i a}), real and ascending.

        From the dense Hermitian form, so with their multiplicities: N of a few thousand.
        """
        n = self.shape[0]
        if not 1 <= k <= n - 2:
            raise InvalidInputError(f"between 1 and {n - 2} eigenvalues, not {k}")
        values = eigvalsh(self.hermitian(), subset_by_index=(n - k, n - 1))
        return np.sort(4 * require_positive("hbar", hbar) * self.operator.beta * (1 - values))
