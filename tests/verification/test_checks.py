"""Each check passes a true claim, fails a wrong one, and says when it cannot tell."""

from dataclasses import replace

import numpy as np
import pytest

from convergence.verification import (
    Batch,
    Fault,
    Outcome,
    Schedule,
    Setting,
    overall,
    study_level,
    verify,
)
from convergence.verification.bias import bias_check, richardson
from convergence.verification.verify import count_tests

LEVEL = 1e-5


def run(synthetic, claim, **draw):
    schedule = claim.schedules["standard"]
    batches = synthetic.draw(np.random.default_rng(11), schedule, **draw)
    return verify(claim, schedule, batches, LEVEL)


def outcomes(verdicts, check):
    return {v.outcome for v in verdicts if v.check == check}


def test_a_true_claim_passes_all_four(synthetic):
    verdicts = run(synthetic, synthetic.claim())
    assert {v.check for v in verdicts} == {"bias", "sampling", "joint", "faults"}
    assert overall(verdicts) == Outcome.PASS
    assert len([v for v in verdicts if np.isfinite(v.p_value)]) == count_tests(
        synthetic.claim(), synthetic.claim().schedules["standard"]
    )


def test_no_check_no_pass():
    assert overall([]) == Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "changes",
    [
        {"limit": 1.0001},  # a wrong constant
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


def test_richardson_is_exact_for_a_polynomial():
    h = 0.5 ** np.arange(4)
    value, _ = richardson(3 + 2 * h - h**2 + 5 * h**3, 2.0, 1.0)
    assert value == pytest.approx(3, abs=1e-13)


@pytest.mark.parametrize("factor", [0.95, 1.05, -1.0])
def test_sampling_rejects_a_wrong_mean(synthetic, factor):
    verdicts = run(synthetic, synthetic.claim(), factor=factor)
    assert Outcome.FAIL in outcomes(verdicts, "sampling")


@pytest.mark.parametrize("spread", [0.4, 1.3])
def test_joint_rejects_a_wrong_curve(synthetic, spread):
    """Errors that are too large, and errors that are too small."""
    verdicts = run(synthetic, synthetic.claim(), spread=spread)
    curve = [v for v in verdicts if v.check == "joint" and v.quantity.startswith("RMSE")]
    assert Outcome.FAIL in {v.outcome for v in curve}


def test_joint_rejects_a_wrong_slope(synthetic):
    claim = synthetic.claim(checks=("joint",))
    schedule = claim.schedules["standard"]
    batches = synthetic.draw(np.random.default_rng(3), schedule)["joint"]
    # errors that do not fall at all
    scales = [b.setting.n ** (2 / 7) / 20 for b in batches]
    flat = [
        Batch(b.setting, claim.limit + (b.values - claim.limit) * s)
        for b, s in zip(batches, scales, strict=True)
    ]
    verdicts = verify(claim, schedule, {"joint": flat}, LEVEL)
    slopes = [v for v in verdicts if v.quantity == "slope"]
    assert {v.outcome for v in slopes} == {Outcome.FAIL}
    assert all(abs(v.measured) < 0.1 for v in slopes)


def test_a_bound_is_one_sided(synthetic):
    """At least as fast: slower fails, faster does not."""
    for bound, expected in [(-0.2, Outcome.PASS), (-0.4, Outcome.FAIL)]:
        claim = synthetic.claim(
            checks=("joint",), slope=bound, slope_is_bound=True, sampling_error=None
        )
        assert overall(run(synthetic, claim)) == expected


def test_faults(synthetic):
    for scale, expected in [(1.05, Outcome.PASS), (1.00001, Outcome.INCONCLUSIVE)]:
        fault = Fault("scaled", lambda beta, s=scale: s * synthetic.expectation(beta))
        verdicts = run(synthetic, synthetic.claim(faults=(fault,)))
        assert outcomes(verdicts, "faults") == {expected}


def test_a_fault_that_the_data_support_fails(synthetic):
    """Not rejected though there is all the power: the data side with the fault."""
    fault = Fault("5 % off", lambda beta: 1.05 * synthetic.expectation(beta))
    verdicts = run(synthetic, synthetic.claim(faults=(fault,)), factor=1.05)
    assert outcomes(verdicts, "faults") == {Outcome.FAIL}


def test_replicate_errors_where_theory_gives_none(synthetic):
    claim = synthetic.claim(sampling_error=None, slope=None, faults=())
    good = run(synthetic, claim)
    # replicate errors know no shift; here it is far below them
    assert outcomes(good, "sampling") == {Outcome.PASS}
    assert outcomes(run(synthetic, claim, factor=1.05), "sampling") == {Outcome.FAIL}
    assert outcomes(good, "joint") == {Outcome.INCONCLUSIVE}


@pytest.mark.parametrize("trouble", ["degree", "replicates", "missing", "sizes"])
def test_inconclusive_with_a_reason(synthetic, trouble):
    claim = synthetic.claim(checks=("sampling", "joint", "faults"))
    schedule = claim.schedules["standard"]
    if trouble == "degree":
        claim = replace(claim, effective_degree=lambda n, beta: np.full(4, 50.0))
    if trouble == "replicates":
        few = tuple(Setting(s.n, s.beta, 4) for s in schedule.joint)
        schedule = replace(schedule, joint=few, sampling=few[:1])
    if trouble == "sizes":
        schedule = replace(schedule, joint=schedule.joint[:2])
    batches = synthetic.draw(np.random.default_rng(0), schedule)
    if trouble == "missing":
        for group in batches.values():
            for batch in group:
                batch.values[0, 0, 0] = np.nan
    verdicts = verify(claim, schedule, batches, LEVEL)
    undecided = [v for v in verdicts if v.outcome == Outcome.INCONCLUSIVE]
    assert undecided
    assert all(v.reason for v in undecided)
    assert overall(verdicts) == Outcome.INCONCLUSIVE


def test_level_is_shared_by_all_tests_of_a_study(synthetic):
    claim = synthetic.claim()
    count = count_tests(claim, claim.schedules["standard"])
    # 1 batch x 2 functions x (mean, variance) + 2 functions x (4 sizes + slope) + 1 fault
    assert count == 4 + 10 + 1
    assert study_level([claim, claim], "standard", 1e-4) == pytest.approx(1e-4 / (2 * count))
