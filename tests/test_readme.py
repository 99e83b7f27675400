"""The README's example is run as it stands, and its table is today's."""

import re
from pathlib import Path

import numpy as np
import pytest

from convergence.reporting import ledger, ledger_sections
from convergence.verification import Outcome
from convergence.verification.bias import bias_check

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_example_passes_and_is_short():
    block, chart = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in block.splitlines() if line.strip()]) <= 12
    names = {}
    exec(block, names)
    names["test_my_generator"]()

    wrong = {}
    exec(block.replace("4 * beta", "2 * beta"), wrong)
    with pytest.raises(AssertionError, match="FAIL mean"):
        wrong["test_my_generator"]()
    exec(chart, names)
    assert names["cone"].volume == pytest.approx(3 * np.pi * np.sqrt(5), rel=1e-12)


def claims_and_verdicts(text):
    """First and last column of every table row: what is claimed, and whether it holds."""
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [(row[0].strip("| "), row[-1].strip("| ")) for row in rows]


def test_the_table_of_claims_is_made_from_the_results(monkeypatch):
    """Digits may differ where a newer library has drawn other samples; the ledger may not."""
    monkeypatch.chdir(ROOT)
    today = ledger(README, ledger_sections(Path("results")))
    assert claims_and_verdicts(today) == claims_and_verdicts(README)
    assert len(claims_and_verdicts(README)) > 2


def guide():
    text = (ROOT / "docs" / "extending.md").read_text()
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_study_of_the_extension_guide_loads(tmp_path):
    from convergence.running import load_study

    path = tmp_path / "my_study.py"
    path.write_text(guide()[0])
    assert load_study(path).claims[0].id == "sphere-4"


def test_the_chart_of_the_extension_guide_makes_a_claim():
    names = {}
    exec(guide()[1], names)
    assert names["claim"].limit.shape == (3, 1)
    determinants = [np.linalg.det(names[k].metric(np.zeros(2))) for k in ("catenoid", "flattened")]
    np.testing.assert_allclose(determinants, [1, 0.25])


def test_the_stratified_space_of_the_extension_guide():
    names = {}
    (block,) = (text for text in guide() if "StratifiedSpace(" in text)
    exec(block, names)
    corner = names["corner"]
    points = corner.sample(200, np.random.default_rng(0))
    np.testing.assert_allclose(
        corner.singular_distance(points), np.minimum(points[:, 1], 1 - points[:, 1])
    )
    # √β(P - I)f at the vertex: slopes 1 and -2, densities 1 to 2
    claim = names["claim"]
    np.testing.assert_allclose(claim.limit[0], (1 - 4) / 3 / np.sqrt(np.pi))
    assert {v.outcome for v in bias_check(claim, claim.schedules["smoke"])} == {Outcome.PASS}


def test_the_normalisations_of_the_extension_guide():
    names = {}
    (block,) = (text for text in guide() if "sinkhorn(" in text)
    exec(block, names)
    assert names["scaling"].converged
    assert names["moved"].converged
    ones = names["walk"] @ np.ones(500)
    np.testing.assert_allclose(ones, 1, rtol=1e-13)


def test_the_head_of_the_extension_guide_is_read(capsys):
    (block,) = [block for block in guide() if "read_heads" in block]
    assert len([line for line in block.splitlines() if line.strip()]) <= 10
    names = {}
    exec(block, names)
    assert len(names["table"]) == 4
    assert "indefinite" in capsys.readouterr().out
    assert names["symmetric"].reversible


def test_the_jumps_of_the_extension_guide_make_a_claim():
    (block,) = [block for block in guide() if "quarter_turn" in block]
    names = {}
    exec(block, names)
    assert {"rate halved", "jumps omitted"} <= {fault.name for fault in names["jumping"].faults}
