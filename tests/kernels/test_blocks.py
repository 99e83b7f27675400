"""The block engine: any array library of the standard, and scores that are no distance."""

import array_api_strict
import numpy as np
import pytest

from convergence.errors import InvalidInputError
from convergence.kernels import gaussian_sums, gaussian_sums_blocks, score_sums

rng = np.random.default_rng(4)
QUERIES, KEYS = rng.normal(size=(37, 3)), rng.normal(size=(301, 3))
WEIGHTS, VALUES = rng.uniform(-200, 200, 301), rng.normal(size=(301, 2))
CENTERS, EXCLUDE = rng.normal(size=(37, 2)), rng.integers(-1, 301, 37)


def test_the_engine_keeps_to_the_standard():
    """array-api-strict has what the standard says, and nothing else."""
    strict = [
        array_api_strict.asarray(a) for a in (QUERIES, KEYS, WEIGHTS, VALUES, CENTERS, EXCLUDE)
    ]
    got = gaussian_sums_blocks(
        strict[0], strict[1], 4.0, strict[2], strict[3], strict[4], exclude=strict[5], block_size=50
    )
    expected = gaussian_sums(QUERIES, KEYS, 4.0, WEIGHTS, VALUES, CENTERS, exclude=EXCLUDE)
    for one, other in zip(got, expected, strict=True):
        assert type(one).__module__.startswith("array_api_strict")
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-12, atol=1e-13)
    with pytest.raises(InvalidInputError, match="> 0"):
        gaussian_sums_blocks(strict[0], strict[1], -1.0)


def bilinear(x, y, beta):
    return beta * (x @ y.T)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_score_that_is_no_distance(scale):
    """β x·y of either sign and any size, against its distance form q = k, c = |k|²/2, β = ½."""
    keys = scale * KEYS
    got = score_sums(bilinear, QUERIES, keys, 1.0, values=VALUES, block_size=64)
    half_square = 0.5 * np.sum(keys**2, axis=1)
    log_mass, means = gaussian_sums(QUERIES, keys, 0.5, half_square, VALUES)
    expected = log_mass + 0.5 * np.sum(QUERIES**2, axis=1)
    np.testing.assert_allclose(got[0], expected, rtol=1e-12, atol=1e-12 * max(1, scale**2))
    # weights carry the rounding of exponents as large as |k|²
    np.testing.assert_allclose(got[1], means, rtol=1e-12 + 1e-15 * scale**2, atol=1e-12)


def test_masked_pairs_and_rows():
    """Minus infinity removes a pair; a row with none left is marked, not NaN."""

    def causal(x, y, beta):
        score = -beta * (x - y.T) ** 2
        return np.where(x >= y.T, score, -np.inf)

    line = np.linspace(0, 1, 9)[:, None]
    log_mass, means = score_sums(causal, line - 0.01, line, 10.0, values=line, block_size=4)
    assert log_mass[0] == -np.inf
    assert means[0] == 0
    assert np.all(np.isfinite(log_mass[1:]))
    k = np.exp(-10.0 * (line[3, 0] - 0.01 - line[:3, 0]) ** 2)
    assert means[3, 0] == pytest.approx(np.sum(k * line[:3, 0]) / np.sum(k), rel=1e-13)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_scores_that_are_no_number_are_named(wrong):
    """The message says in which rows; a pair that is left out may be anything."""

    def score(x, y, beta):
        return np.where((x > 0.85) & (y.T > 0.9), wrong, -beta * (x - y.T) ** 2)

    line = np.linspace(0, 1, 9)[:, None]
    with pytest.raises(InvalidInputError, match=r"2 rows are NaN or plus infinity \(rows 7, 8\)"):
        score_sums(score, line, line, 10.0, block_size=9)
    with pytest.raises(InvalidInputError, match=r"1 rows .*\(rows 7\)"):
        score_sums(score, line, line, 10.0, exclude=np.arange(9), block_size=4)
    assert np.all(np.isfinite(score_sums(score, line[:7], line, 10.0)[0]))


def test_scores_of_a_wrong_kind_are_refused():
    line = np.linspace(0, 1, 9)[:, None]
    for score, message in [
        (lambda x, y, beta: -beta * (x - y.T) ** 2 + 0j, "scores must be an array of real"),
        (lambda x, y, beta: x, r"shape \(9, 1\) for 9 queries and 9 keys"),
        (lambda x, y, beta: np.ma.masked_less(x - y.T, 0), "masked"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            score_sums(score, line, line, 1.0)
