"""Every study at its smoke preset: nothing fails, and what can be decided is."""

import csv
from pathlib import Path

import numpy as np
import pytest

from convergence.reporting import audit, publish, summarise
from convergence.running import load_study, read_run, run_study, study_files
from convergence.verification import Outcome, study_level
from convergence.verification.factor import FACTOR
from convergence.verification.statistics import normal_test

RESULTS = Path(__file__).parents[2] / "results"

# the N that gives enough neighbours takes minutes
WITHOUT_NEIGHBOURS = {("stationary_currents", "torus-harmonic")}
GROSS = (
    "2/ε for 4/ε", "2ħβ for 4ħβ", "4ħβ for 2ħβ", "β off by 2", "β/2π for β/π", "sign of 𝒞",
    "p for 4ħβp", "-2ħt log p",
    "Dirichlet vertex", "a diffusion's exponent", "other strata omitted",
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(study_files()))
def test_smoke(name, tmp_path):
    path = study_files()[name]
    run = run_study(path, "smoke", tmp_path / "checkpoint.sqlite", jobs=1)
    verdicts = run.verdicts()
    summaries = publish(run, path, tmp_path)
    assert [s.outcome for s in summarise(run, verdicts)] == [s.outcome for s in summaries]
    assert audit(read_run(path, tmp_path), tmp_path) == []
    assert b"/Type3" not in (tmp_path / "figure.pdf").read_bytes()  # journals want real fonts
    for summary in summaries:
        assert summary.outcome != Outcome.FAIL, summary
        claim = run.study.claim(summary.id)
        if (name, claim.id) in WITHOUT_NEIGHBOURS:
            assert summary.outcome == Outcome.INCONCLUSIVE
            assert any("effective degree" in reason for reason in summary.reasons)
            continue
        required = set(claim.checks) - {"faults"}
        assert required, summary
        for check in required:
            assert summary.checks[check] == Outcome.PASS, summary
        # gross faults are rejected even by a few small samples
        gross = [v for v in verdicts[claim.id] if v.quantity in GROSS]
        assert gross or claim.wrong, summary
        assert {v.outcome for v in gross} <= {Outcome.PASS}, gross


@pytest.mark.parametrize("name", sorted(study_files()))
def test_the_standard_preset_sees_five_percent(name):
    """By theory alone: every claim has at least four faults, and data that show a 5 % error.

    Of errors of replicates, and of parts, nothing is known beforehand.
    """
    study = load_study(study_files()[name])
    level = study_level(study.claims, "standard")
    for claim in study.claims:
        if "identity" in claim.checks:
            assert len(claim.wrong) >= 4, claim.id
            continue
        assert len(claim.faults) >= 4, claim.id
        if claim.sampling_error is None:
            continue
        for j in claim.sized:
            pairs = [
                (np.zeros((s.replicates, len(claim.limit))), _standardised(claim, s)[:, j])
                for s in claim.schedules["standard"].sampling
            ]
            assert normal_test(pairs, level)[3] <= 0.05, (claim.id, claim.functions[j])


def _standardised(claim, setting):
    """The expectation in predicted standard deviations."""
    return claim.expectation(setting.beta) / claim.sampling_error(setting.n, setting.beta)[1]


PUBLISHED = sorted(path.parent.name for path in RESULTS.glob("*/cells.csv.gz"))


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_claim_sees_five_percent(name):
    """In every function's operator, in its drift and in what curvature brings, as published."""
    with (RESULTS / name / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for claim in load_study(study_files()[name]).claims:
        of_claim = [row for row in rows if row["claim"] == claim.id]
        assert of_claim, claim.id
        seen = {
            (row["quantity"], row["function"]): float(row["sees"])
            for row in of_claim
            if row["quantity"] == FACTOR or row["quantity"].startswith(f"{FACTOR} of the ")
        }
        if "sampling" in claim.checks:
            wanted = {(FACTOR, claim.functions[j]) for j in claim.sized}
            assert set(seen) == wanted | {(f"{FACTOR} of the {part}", "") for part in claim.parts}
        assert all(size <= 0.05 for size in seen.values()), (claim.id, seen)
