"""Charts with ends near their targets: the bias check leaves out what is no power of 1/β."""

from dataclasses import replace

import pytest

from convergence.claims import metric_claim
from convergence.spaces import Chart, Coordinate
from convergence.verification import Outcome, overall
from convergence.verification.bias import bias_check


@pytest.mark.parametrize(("u", "r"), [(3, 0.5), (3, 0.3), (2, 0.5)])
def test_a_helicoid(u, r):
    helicoid = Chart(
        (Coordinate("u", -u, u), Coordinate("r", r, 2)),
        ("r*cos(u)", "r*sin(u)", "0.6*u"),
        "cos(u)/2 + r/3",
    )
    claim = metric_claim("helicoid", helicoid, statement="", source="")
    schedule = claim.schedules["smoke"]
    assert overall(bias_check(claim, schedule)) == Outcome.PASS
    wrong = replace(claim, limit=1.001 * claim.limit)
    assert overall(bias_check(wrong, schedule)) == Outcome.FAIL
