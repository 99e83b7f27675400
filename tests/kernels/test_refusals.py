"""Bad input is refused by name, by both engines, in the same words."""

import subprocess
import sys

import numpy as np
import pytest

from convergence.errors import InvalidInputError
from convergence.kernels import gaussian_sums, gaussian_sums_blocks

KEYS = np.zeros((4, 2))
NAN_POINT = np.array([[0.0, np.nan]])
INFINITE_POINT = np.array([[0.0, np.inf]])

CASES = {
    "nan query": ((NAN_POINT, KEYS, 1.0), {}, "queries must be an array of finite"),
    "infinite key": ((KEYS, INFINITE_POINT, 1.0), {}, "keys must be an array of finite"),
    "text": (([["a", "b"]], KEYS, 1.0), {}, "queries must be an array of real"),
    "flat points": ((np.zeros(4), KEYS, 1.0), {}, r"reshape\(-1, 1\)"),
    "no dimension": ((np.zeros((4, 0)), np.zeros((4, 0)), 1.0), {}, "queries have shape"),
    "two spaces": ((np.zeros((4, 3)), KEYS, 1.0), {}, "both must lie in the same space"),
    "no keys": ((KEYS, KEYS[:0], 1.0), {}, "there are no keys"),
    "zero beta": ((KEYS, KEYS, 0.0), {}, "beta must be a finite number > 0"),
    "negative beta": ((KEYS, KEYS, -1.0), {}, "beta must be a finite number > 0"),
    "infinite beta": ((KEYS, KEYS, np.inf), {}, "beta must be a finite number > 0"),
    "nan beta": ((KEYS, KEYS, np.nan), {}, "beta must be a finite number > 0"),
    "beta array": ((KEYS, KEYS, np.ones(4)), {}, "beta must be a finite number > 0"),
    "weight shape": ((KEYS, KEYS, 1.0, np.zeros(3)), {}, "log_weights have shape"),
    "nan weight": ((KEYS, KEYS, 1.0, [0, 0, np.nan, 0]), {}, "log_weights contain NaN"),
    "infinite weight": ((KEYS, KEYS, 1.0, [0, 0, np.inf, 0]), {}, "log_weights contain NaN"),
    "value shape": ((KEYS, KEYS, 1.0, None, np.zeros(3)), {}, "values have shape"),
    "nan value": (
        (KEYS, KEYS, 1.0, None, [0, 0, np.nan, 0]),
        {},
        "values must be an array of fin",
    ),
    "center shape": (
        (KEYS[:2], KEYS, 1.0, None, np.zeros(4), np.zeros(4)),
        {},
        "centers have shape",
    ),
    "center columns": ((KEYS, KEYS, 1.0, None, np.zeros(4), KEYS), {}, "centers have 2 columns"),
    "infinite center": (
        (KEYS, KEYS, 1.0, None, np.zeros(4), np.full(4, np.inf)),
        {},
        "centers must be an array of finite",
    ),
    "only centers": ((KEYS, KEYS, 1.0, None, None, np.zeros(4)), {}, "without values"),
    "exclude type": ((KEYS, KEYS, 1.0), {"exclude": np.zeros(4)}, "integer key index"),
    "exclude shape": ((KEYS, KEYS, 1.0), {"exclude": [0, 1]}, "integer key index"),
    "exclude range": ((KEYS, KEYS, 1.0), {"exclude": [0, 1, 2, 4]}, "outside the keys"),
    "exclude below": ((KEYS, KEYS, 1.0), {"exclude": [0, 1, 2, -2]}, "outside the keys"),
}


@pytest.mark.parametrize("engine", [gaussian_sums, gaussian_sums_blocks])
@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_named(engine, case):
    arguments, keywords, message = CASES[case]
    with pytest.raises(InvalidInputError, match=message):
        engine(*arguments, **keywords)


def test_import_does_not_load_the_compiler():
    code = "import sys, convergence.kernels; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
