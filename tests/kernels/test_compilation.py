"""Machine code: the same numbers just compiled, and loaded from the cache."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import convergence

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


def test_an_edit_of_any_kernel_source_compiles_anew(tmp_path):
    """The sums live in one file and the drivers in another: no old code of the first stays."""
    package = Path(convergence.__file__).parent
    copy = tmp_path / "convergence"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import numpy as np; from convergence.kernels import gaussian_sums; "
        "x = np.arange(12.0)[:, None]; print(gaussian_sums(x, x, 0.1, None, x**2)[1].sum())"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)

    def number():
        command = [sys.executable, "-c", program]
        run = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return float(run.stdout)

    right = number()
    pairs = copy / "kernels" / "pairs.py"
    text = pairs.read_text()
    line = "total += buffer[j] * (values[k, j] - center)"
    assert text.count(line) == 1
    pairs.write_text(text.replace(line, f"2 * {line}".replace("2 * total += ", "total += 2 * ")))
    wrong = number()
    assert abs(wrong - right) > 0.1 * abs(right)
    pairs.write_text(text)
    assert number() == right
