"""Numba's compiler with a cache that no edit of this room leaves stale.

Numba keys cached machine code on the file of the function itself, although the code of every
function it calls is compiled in. Here the cache lies in a folder named by a digest of all sources
of the room: after an edit of any of them everything is compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.misc.appdirs import AppDirs

_settings: Any = numba.config  # its entries are set when it is loaded


@cache
def sources_digest() -> str:
    """A digest of the names and contents of all Python files of this room."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


@cache
def cache_folder(asked: str) -> str | None:
    """The folder of this room's machine code, None where no file can be written.

    Parameters
    ----------
    asked : str
        Numba's ``CACHE_DIR`` as the user has set it. Empty: beside the sources, or with the
        user's caches where the package cannot be written to.
    """
    beside = Path(__file__).parent / "__pycache__"
    users = Path(AppDirs(appname="convergence", appauthor=False).user_cache_dir)
    for parent in [Path(asked)] if asked else [beside, users]:
        folder = parent / f"numba-{sources_digest()}"
        try:
            os.makedirs(folder, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return str(folder)
    return None


def compiled(**options) -> Callable[[Callable], Callable]:
    """``numba.njit(**options)``, cached in `cache_folder`; Numba chooses the folder here.

    Without a place for the cache the function is compiled in every process.
    """

    def decorate(function: Callable) -> Callable:
        asked = _settings.CACHE_DIR
        folder = cache_folder(asked)
        _settings.CACHE_DIR = folder or asked
        try:
            return numba.njit(cache=folder is not None, **options)(function)
        finally:
            _settings.CACHE_DIR = asked

    return decorate
