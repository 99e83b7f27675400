"""One run at a time writes into a folder of results."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import CheckpointError
from .results import PARTIAL, write_text


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder; the lock ends with the process, however that ends.

    What a killed run had not finished writing is removed.

    Raises
    ------
    CheckpointError
        When another run holds it (the message says which), or the lock cannot be written.
    """
    owner = folder / ".lock-owner"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock", timeout=0)
        lock.acquire()
    except Timeout as error:
        holder = owner.read_text(encoding="utf-8") if owner.is_file() else "another run"
        raise CheckpointError(
            f"{folder} is being written by {holder}; wait for it, or give another --output"
        ) from error
    except OSError as error:
        raise CheckpointError(f"cannot lock {folder}: {error}") from error
    started = time.strftime("%Y-%m-%d %H:%M:%S")
    holder = f"process {os.getpid()} on {socket.gethostname()} since {started}"
    try:
        write_text(owner, holder)
        for partial in folder.glob(f"{PARTIAL}*"):
            if partial.is_file():
                partial.unlink(missing_ok=True)
        yield
    finally:
        if owner.is_file():
            owner.unlink()
        lock.release()
