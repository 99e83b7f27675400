"""What a run was made with: enough to make it again."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import sysconfig
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import convergence

# the rooms that decide a cell's numbers; the rest may change without recomputing
_ROOMS = ("backend.py", "spaces", "scores", "kernels", "operators", "claims", "running/cells.py")
_NUMERICAL = ("numpy", "scipy", "numba", "sympy")
_OTHER = ("joblib", "matplotlib", "pandas")


def _users_modules() -> list[Path]:
    """Files of loaded modules that are no installed library: a study's own helpers."""
    library = {Path(sysconfig.get_path(key)) for key in ("stdlib", "platstdlib", "purelib")}
    library |= {Path(sysconfig.get_path("platlib")), Path(convergence.__file__).parent}
    found = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name != "__main__" and not name.startswith("study_") and file and file.endswith(".py"):
            path = Path(file)
            if not library & set(path.parents) and path.is_file():
                found.add(path)
    return sorted(found)


@lru_cache(maxsize=16)
def code_version(study: Path) -> str:
    """A digest of the study file, the code and the libraries that decide a cell's numbers.

    Modules of the user's that the loaded study imports count too, unless they are installed in
    site-packages (there they are libraries: clear the checkpoint after changing one).
    """
    digest = hashlib.sha256()
    package = Path(convergence.__file__).parent
    for room in _ROOMS:
        path = package / room
        files = (
            [path] if path.is_file() else sorted(path.rglob("*.py")) + sorted(path.rglob("*.cu"))
        )
        for file in files:
            digest.update(file.relative_to(package).as_posix().encode())
            digest.update(file.read_bytes())
    digest.update(study.read_bytes())
    for file in _users_modules():
        digest.update(file.read_bytes())
    digest.update(json.dumps(_versions(_NUMERICAL)).encode())
    return digest.hexdigest()


def _versions(names: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _commit(folder: Path) -> str | None:
    """The git commit of a folder, with "+" where files differ from it; None outside git."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        found = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
        return found.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!results")
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def provenance(study: Path, configuration: dict, seed: int, jobs: int, device: str) -> dict:
    """Versions, commit, seed, device, dtype, threads, configuration and its hash."""
    text = json.dumps(configuration, sort_keys=True)
    return {
        "convergence": convergence.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": _versions(_NUMERICAL + _OTHER),
        "commit": _commit(study.parent),
        "code": code_version(study),
        "seed": seed,
        "device": device,
        "dtype": "float64",
        "jobs": jobs,
        "threads": os.environ.get("NUMBA_NUM_THREADS", "default"),
        "configuration_hash": hashlib.sha256(text.encode()).hexdigest(),
        "configuration": configuration,
    }
