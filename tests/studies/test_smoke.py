"""Every study at its smoke preset: nothing fails, and what can be decided is."""

import pytest

from convergence.reporting import audit, publish, summarise
from convergence.running import load_study, read_run, run_study, study_files
from convergence.verification import Outcome, detectable_error, study_level

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
    """By theory alone: every claim has at least four faults, and data that show a 5 % error."""
    study = load_study(study_files()[name])
    level = study_level(study.claims, "standard")
    for claim in study.claims:
        if "identity" in claim.checks:
            assert len(claim.wrong) >= 4, claim.id
            continue
        assert len(claim.faults) >= 4, claim.id
        if claim.sampling_error is None:  # replicate errors: nothing is known beforehand
            continue
        schedule = claim.schedules["standard"]
        assert detectable_error(claim, schedule.sampling, level) < 0.05, claim.id
