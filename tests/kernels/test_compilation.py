"""Machine code: the same numbers just compiled, and loaded from the cache."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import convergence

PACKAGE = Path(convergence.__file__).parent

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


SMALL = """
import numpy as np
from convergence.kernels import gaussian_sums
x = np.linspace(0, 1, 300)[:, None]
print(gaussian_sums(x[:5], x, 30.0)[0].tolist())
"""


def printed(program, package, **variables):
    """What a program prints with the package in a folder, on a fresh process."""
    environment = {**os.environ, "PYTHONPATH": str(package), **variables}
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=package,  # comes first on the path
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("users_folder", [False, True])
def test_an_edit_of_any_kernel_source_reaches_its_callers(tmp_path, users_folder):
    """The drivers of cpu.py are compiled with what they call from pairs.py."""
    shutil.copytree(PACKAGE, tmp_path / "convergence", ignore=shutil.ignore_patterns("__pycache__"))
    folder = {"NUMBA_CACHE_DIR": str(tmp_path / "cache") if users_folder else ""}
    source = tmp_path / "convergence" / "kernels" / "pairs.py"
    text = source.read_text()
    edited = text.replace(
        "total += weight\n    return total", "total += weight\n    return 60.0 * total"
    )
    assert edited != text
    first = printed(SMALL, tmp_path, **folder)
    source.write_text(edited)
    second = printed(SMALL, tmp_path, **folder)
    source.write_text(text)
    assert printed(SMALL, tmp_path, **folder) == first
    np.testing.assert_allclose(
        np.subtract(json.loads(second), json.loads(first)), np.log(60), rtol=1e-12
    )
    caches = {path.parent for path in tmp_path.rglob("*.nbc")}
    assert len(caches) == 2


def test_a_cache_is_kept_where_the_package_cannot_be_written(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "convergence", ignore=shutil.ignore_patterns("__pycache__"))
    # a file where the folder would be stops every user, also root
    (tmp_path / "convergence" / "kernels" / "__pycache__").write_text("")
    ask = "from convergence.kernels.compiled import cache_folder as f; print(f(''), f('/dev/null'))"
    users = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}
    kept, none = printed(ask, tmp_path, **users).split()
    assert Path(kept).is_relative_to(tmp_path / "home")
    assert Path(kept).is_dir()
    assert none == "None"
    assert printed(SMALL, tmp_path, NUMBA_CACHE_DIR="/dev/null") == printed(SMALL, PACKAGE.parent)


def test_no_kernel_is_cached_by_its_own_file_alone():
    for path in (PACKAGE / "kernels").glob("*.py"):
        assert path.name == "compiled.py" or "njit" not in path.read_text()
