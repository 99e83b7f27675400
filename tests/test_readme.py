"""The README's example is run as it stands, and its table is today's."""

import re
from pathlib import Path

import pytest

from convergence.reporting import ledger, ledger_sections

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_example_passes_and_is_short():
    (block,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in block.splitlines() if line.strip()]) <= 12
    names = {}
    exec(block, names)
    names["test_my_generator"]()

    wrong = {}
    exec(block.replace("4 * beta", "2 * beta"), wrong)
    with pytest.raises(AssertionError, match="FAIL mean"):
        wrong["test_my_generator"]()


def test_the_table_of_claims_is_made_from_the_results(monkeypatch):
    monkeypatch.chdir(ROOT)
    sections = ledger_sections(Path("results"))
    assert sections
    assert ledger(README, sections) == README


def test_the_study_of_the_extension_guide_loads(tmp_path):
    from convergence.running import load_study

    text = (ROOT / "docs" / "extending.md").read_text()
    path = tmp_path / "my_study.py"
    path.write_text(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0])
    assert load_study(path).claims[0].id == "sphere-4"
