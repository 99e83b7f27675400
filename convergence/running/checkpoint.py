"""Finished cells on disk: each is written in one transaction, so a killed run resumes."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..errors import CheckpointError
from .cells import Result


class Checkpoint:
    """A file of results by key. Use as a context manager.

    Raises
    ------
    CheckpointError
        When the file cannot be opened, read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._named_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, seconds REAL,"
                " shape TEXT, numbers BLOB, checksum TEXT)"
            )

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            raise CheckpointError(
                f"cannot use the checkpoint {self.path} ({error}); free some space or correct the "
                "permissions if that is the trouble, else delete the file to start over"
            ) from error

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    def get(self, key: str) -> Result | None:
        """The result kept under a key; None where there is none, or a damaged one."""
        with self._named_errors():
            row = self._connection.execute(
                "SELECT seconds, shape, numbers, checksum FROM results WHERE key = ?", (key,)
            ).fetchone()
            if row is None or row[3] != _checksum(key, *row[:3]):
                return None
            numbers = np.frombuffer(row[2], dtype="<f8").reshape(json.loads(row[1]))
            return Result(numbers.copy(), row[0])

    def put(self, key: str, result: Result) -> None:
        """Keep a finished cell; it is whole on disk, or not there."""
        numbers = np.ascontiguousarray(result.values, dtype="<f8")
        row = (float(result.seconds), json.dumps(numbers.shape), numbers.tobytes())
        with self._named_errors(), self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?)",
                (key, *row, _checksum(key, *row)),
            )


def _checksum(key: str, seconds: float, shape: str, numbers: bytes) -> str:
    head = json.dumps([key, seconds, shape]).encode()
    return hashlib.sha256(head + numbers).hexdigest()
