"""The one fused primitive: Gaussian sums and weighted means over all keys, for every query.

Every head and kernel of the package is ``K_ij = exp(-β |u_i - v_j|² + c_j)`` after row
normalisation has cancelled what depends on the query alone, so this room has a single operation
with two engines on the same interface:

`gaussian_sums`          compiled loops on the CPU, or on a CUDA device, with guaranteed pruning
`gaussian_sums_blocks`   plain blocks on NumPy, or on the array library of its inputs

`repeated_sums` sorts points once for value columns that change, and `score_sums` takes scores that
are no distance, on the block engine.

`inputs` says what is accepted, `tiles` sorts points in space, `cpu` holds the compiled loops.
Importing this room compiles nothing and does not import Numba.
"""

from .blocks import gaussian_sums_blocks, score_sums
from .gaussian_sums import gaussian_sums, repeated_sums

__all__ = ["gaussian_sums", "gaussian_sums_blocks", "repeated_sums", "score_sums"]
