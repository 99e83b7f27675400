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
    """Call ``work(0)``, ..., ``work(n_shares - 1)`` on as many threads as Numba would use.

    The calling thread is one of them; each takes the next share when it has done one.
    """
    n_threads = min(get_num_threads(), n_shares)
    shares = iter(range(n_shares))  # next() of it is one step under the interpreter's lock

    def take() -> None:
        for share in shares:
            work(share)

    if n_threads <= 1:
        take()
        return
    with ThreadPoolExecutor(n_threads - 1) as pool:
        others = [pool.submit(take) for _ in range(n_threads - 1)]
        take()
    for other in others:
        other.result()  # an error in a share is raised here
