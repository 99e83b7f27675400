"""Compiled functions whose machine code on disk follows every source of this room.

Numba keeps the code of a function as long as the function's own file stays as it is, also when a
function of another file that was compiled into it has changed. Here the folder of the code is named
by a digest of all kernel sources, so that any edit compiles anew.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit


def compiled(function: Callable | None = None, **options: Any) -> Any:
    """`numba.njit` with a cache on disk: a decorator, with or without options."""
    if function is None:
        return lambda f: compiled(f, **options)
    own, config.CACHE_DIR = config.CACHE_DIR, str(code_folder())
    try:
        return njit(cache=True, **options)(function)
    finally:
        config.CACHE_DIR = own


@cache
def code_folder() -> Path:
    """Where today's machine code lies: below NUMBA_CACHE_DIR, the package, or the temporary files.

    The first of them that can be written.
    """
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    temporary = Path(tempfile.gettempdir()) / f"convergence-{os.environ.get('USER', 'code')}"
    given = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    for base in (*given, Path(__file__).parent / "__pycache__", temporary):
        folder = base / f"kernels-{digest}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return temporary
