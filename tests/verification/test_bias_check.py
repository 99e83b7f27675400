"""The bias check: value and order of expansions in powers of 1/β, half powers, logarithms."""

from dataclasses import replace

import numpy as np
import pytest

from convergence.verification import Outcome, Schedule, overall
from convergence.verification.bias import _order, bias_check, richardson
from convergence.verification.claim import Expansion


@pytest.mark.parametrize(
    "changes",
    [
        {"limit": 1.000001},  # a wrong constant
        {"order": 2.0},  # a wrong order
        {"order": 0.5},
    ],
)
def test_bias_rejects(synthetic, changes):
    claim = synthetic.claim(
        limit=synthetic.LIMIT * changes.get("limit", 1.0), bias_order=changes.get("order", 1.0)
    )
    assert overall(bias_check(claim, claim.schedules["standard"])) == Outcome.FAIL


def test_bias_without_any(synthetic):
    exact = synthetic.claim(bias_order=None, expectation=lambda beta: synthetic.LIMIT)
    assert overall(bias_check(exact, exact.schedules["standard"])) == Outcome.PASS
    biased = synthetic.claim(bias_order=None)
    assert overall(bias_check(biased, biased.schedules["standard"])) == Outcome.FAIL
    # a stated order where there is no bias to measure cannot be confirmed
    stated = synthetic.claim(expectation=lambda beta: synthetic.LIMIT)
    verdicts = bias_check(stated, stated.schedules["standard"])
    assert {v.outcome for v in verdicts if v.quantity == "order"} == {Outcome.INCONCLUSIVE}


def test_bias_at_small_beta_is_inconclusive(synthetic):
    claim = synthetic.claim(expectation=lambda beta: synthetic.LIMIT + 1 / (1 + beta))
    small = Schedule(betas=(0.01, 0.02, 0.04, 0.08))
    assert overall(bias_check(claim, small)) == Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("logarithm", "outcome"), [(True, Outcome.PASS), (False, Outcome.FAIL)])
def test_bias_with_a_logarithm(synthetic, logarithm, outcome):
    """Passes where the claim says so, and fails where it says 1/β."""
    limit, bias = synthetic.LIMIT, synthetic.BIAS

    def expectation(beta):
        log = np.log(beta)
        return limit + (bias * log + bias**2) / beta + bias * log**2 / beta**2

    claim = synthetic.claim(expectation=expectation, bias_logarithm=logarithm)
    assert overall(bias_check(claim, claim.schedules["standard"])) == outcome
    moved = replace(claim, limit=limit + 1e-4)
    assert overall(bias_check(moved, claim.schedules["standard"])) == Outcome.FAIL


def test_richardson_is_exact_for_a_polynomial():
    h = 0.5 ** np.arange(4)
    value, _ = richardson(3 + 2 * h - h**2 + 5 * h**3, 2.0, 1.0)
    assert value == pytest.approx(3, abs=1e-13)


@pytest.mark.parametrize(("stated", "expected"), [(1.0, "PASS"), (1.05, "FAIL"), (0.95, "FAIL")])
def test_an_order_is_told_from_its_neighbours(stated, expected):
    h = 0.5 ** np.arange(8)
    values = (h + 0.3 * h**2)[:, None]
    assert _order(Expansion(stated), values, np.zeros(1), 2.0, 1e-9, "f").outcome == expected


@pytest.mark.parametrize(
    ("order", "step", "expected"), [(0.5, 0.5, "PASS"), (0.55, 0.5, "FAIL"), (0.5, 1.0, "FAIL")]
)
def test_bias_in_half_powers(synthetic, order, step, expected):
    """1 + h + h² with h = β^-1/2: value and order pass with both steps right, and only then."""
    claim = synthetic.claim(
        expectation=lambda beta: synthetic.LIMIT * (1 + beta**-0.5 + beta**-1.0),
        bias_order=order,
        bias_step=step,
    )
    schedule = Schedule(betas=tuple(4.0**k for k in range(2, 11)))
    assert overall(bias_check(claim, schedule)) == expected
