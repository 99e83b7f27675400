"""Shares of compiled work on threads: each is done once, and an error is never lost."""

from collections import Counter

import numba
import pytest

from convergence.kernels.threads import in_shares


@pytest.mark.parametrize("threads", [1, numba.config.NUMBA_NUM_THREADS])
def test_every_share_once(threads):
    before = numba.get_num_threads()
    numba.set_num_threads(threads)
    done = []  # appending is one step under the interpreter's lock
    try:
        for n_shares in (0, 1, 2, 500):
            done.clear()
            in_shares(done.append, n_shares)
            assert Counter(done) == dict.fromkeys(range(n_shares), 1)
    finally:
        numba.set_num_threads(before)


@pytest.mark.parametrize("bad", [0, 1, 99])
def test_an_error_in_a_share_is_raised(bad):
    def work(share):
        if share == bad:
            raise ZeroDivisionError(share)

    with pytest.raises(ZeroDivisionError, match=str(bad)):
        in_shares(work, 100)
