"""Compiled loops side by side: shares of the work on plain threads.

The loops release the interpreter's lock, so threads are enough. Numba's own parallel loops would
compile for longer, and their pools do not survive a fork or a call from two threads at once.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numba import get_num_threads


def in_shares(work: Callable[[int], Any], n_shares: int) -> None:
    """Call ``work(0)``, ..., ``work(n_shares - 1)`` on as many threads as Numba would use."""
    n_threads = min(get_num_threads(), n_shares)
    if n_threads <= 1:
        for share in range(n_shares):
            work(share)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(work, range(n_shares)):
            pass  # an error in a share is raised here
