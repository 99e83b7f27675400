"""A table's row says that a claim refutes another only where its verdicts hold."""

from dataclasses import replace

import pytest

from convergence.claims import identity_claim
from convergence.reporting.summary import summarise
from convergence.running import Run, Study
from convergence.spaces import Gaussian
from convergence.verification import Outcome, Verdict


@pytest.mark.parametrize("outcome", Outcome)
def test_refuted_only_where_the_claim_passes(outcome):
    claim = identity_claim(
        "sums", Gaussian(((1.0,),)), lambda x, factor: {"sum": 0.0}, ("sum",), (),
        statement="rows sum to one", source="", condition=10.0, factors=(1.0,),
    )  # fmt: skip
    study = Study("Sums", (replace(claim, refutes="rows sum to two"),))
    verdicts = [Verdict("identity", "residual", "", outcome, 0.0, 0.0)]
    (row,) = summarise(Run("sums", study, "smoke", 1e-4, {}, {}), {"sums": verdicts})
    assert row.outcome == outcome
    assert ("refuted: rows sum to two" in row.statement) == (outcome == Outcome.PASS)
