"""Exact identities: rounding passes, anything else fails, and wrong identities must show."""

from dataclasses import replace

import numpy as np
import pytest

from convergence.verification import Batch, Outcome, Schedule, Setting, overall, verify

SETTING = Setting(10, 1.0, 3)
SCHEDULE = Schedule(identity=(SETTING,))


def identity(synthetic, **changes):
    return synthetic.claim(
        functions=("right", "wrong"), limit=np.zeros((1, 2)), tolerance=1e-12, wrong=("wrong",),
        checks=("identity", "faults"), faults=(), schedules={"standard": SCHEDULE}, **changes,
    )  # fmt: skip


def judged(claim, right, wrong):
    values = np.array([[[0.0, 1.0]], [[right, 1.0]], [[0.0, wrong]]])
    return verify(claim, SCHEDULE, {"sampling": [], "identity": [Batch(SETTING, values)]}, 1e-6)


@pytest.mark.parametrize(
    ("right", "wrong", "outcomes"),
    [
        (9e-13, 0.5, ["PASS", "PASS"]),
        (-9e-13, -0.5, ["PASS", "PASS"]),
        (-1.1e-12, 0.5, ["FAIL", "PASS"]),
        (np.nan, 0.5, ["FAIL", "PASS"]),
        (0.0, 9e-10, ["PASS", "FAIL"]),
        (0.0, np.nan, ["PASS", "FAIL"]),
    ],
)
def test_identity(synthetic, right, wrong, outcomes):
    verdicts = judged(identity(synthetic), right, wrong)
    assert [v.outcome for v in verdicts] == outcomes
    assert [v.check for v in verdicts] == ["identity", "faults"]


def test_no_samples_no_pass(synthetic):
    claim = identity(synthetic)
    found = verify(claim, SCHEDULE, {"sampling": [], "identity": []}, 1e-6)
    assert overall(found) == Outcome.INCONCLUSIVE


def test_the_limit_is_subtracted(synthetic):
    claim = replace(identity(synthetic), limit=np.array([[2.0, 0.0]]))
    assert judged(claim, 0.0, 0.5)[0].outcome == Outcome.FAIL
