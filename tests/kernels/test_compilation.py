"""Machine code: the same numbers just compiled, and loaded from the cache."""

import os
import subprocess
import sys

PROGRAM = """
import hashlib, sys
import numpy as np
from convergence.kernels import gaussian_sums
rng = np.random.default_rng(0)
digest = hashlib.sha256()
for n in (30_000, 60_000):
    x, v = rng.standard_normal((n, 2)), rng.standard_normal((n, 2))
    for array in gaussian_sums(x[:7], x, 30.0, x[:, 0], v, v[:7]):
        digest.update(array.tobytes())
print(digest.hexdigest())
"""


def test_compiled_and_cached_code_agree_to_the_last_bit(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    )
    assert any(tmp_path.rglob("*.nbc"))
    assert first == second
