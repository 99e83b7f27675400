"""The command line: what it prints, writes, and its exit codes."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from convergence.__main__ import app

runner = CliRunner()


def invoke(*arguments):
    return runner.invoke(app, [str(a) for a in arguments])


def test_list_shows_studies_and_claims():
    result = invoke("list")
    assert result.exit_code == 0
    assert "witten_drift" in result.stdout
    assert "sphere-fisher-doob" in result.stdout
    assert "von Mises: Φ = -ħ log ρ" in result.stdout
    assert not {"$", "\\"} & set(result.stdout)


def test_run_writes_everything_and_check_agrees(tiny, tmp_path):
    result = invoke("run", tiny, "--jobs", 1, "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert "tiny" in result.stdout
    folder = tmp_path / "tiny"
    names = {path.name for path in folder.iterdir()}
    assert names >= {
        "cells.csv.gz", "references.csv", "verdicts.csv", "figure.pdf", "figure.png", "table.tex",
        "table.md", "provenance.json", "checkpoint.sqlite",
    }  # fmt: skip
    assert invoke("check", tiny, "--output", tmp_path).exit_code == 0

    verdicts = folder / "verdicts.csv"
    verdicts.write_text(verdicts.read_text().replace("PASS", "FAIL", 1))
    changed = invoke("check", tiny, "--output", tmp_path)
    assert changed.exit_code == 1
    assert "published FAIL" in changed.stdout

    references = folder / "references.csv"
    good = references.read_text()
    header, first, *rest = good.splitlines()
    fields = first.split(",")
    fields[7] = "7.0"  # the limit
    for damaged in ([",".join(fields), *rest], rest, [first, *rest, first]):
        references.write_text("\n".join([header, *damaged]) + "\n")
        assert invoke("check", tiny, "--output", tmp_path).exit_code == 1
    references.write_text(good)

    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- claims: begin -->\nold\n<!-- claims: end -->\nafter\n")
    result = invoke("report", tiny, "--output", tmp_path, "--readme", readme)
    assert result.exit_code == 0, result.output
    assert invoke("check", tiny, "--output", tmp_path).exit_code == 0


def test_a_false_claim_exits_1(tiny, tmp_path):
    """A user whose operator is 20 % off: FAIL, and exit code 1."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        tiny.read_text().replace(
            "STUDY = Study(",
            "claim = replace(claim, limit=1.2 * claim.limit)\nSTUDY = Study(",
        )
    )
    result = invoke("run", wrong, "--jobs", 1, "--preset", "smoke", "--output", tmp_path)
    assert result.exit_code == 1, result.output
    assert "FAIL" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "no_such_study"], "unknown study"),
        (["run", "missing.py"], "no Python file"),
        (["run", "witten_drift", "--preset", "huge"], "preset"),
        (["run", "witten_drift", "--jobs", "0"], "--jobs"),
        (["run", "witten_drift", "--device", "cuda"], "no usable GPU"),
        (["run", "witten_drift", "--device", "abacus"], "unknown device"),
        (["run", "witten_drift", "--executor", "abacus"], "executor"),
        (["run", "witten_drift", "--seed", "-1"], "seed"),
        (["run", "--nonsense"], "nonsense"),
        (["check", "witten_drift", "--output", "nowhere"], "holds no results"),
    ],
)
def test_bad_use_exits_2_and_writes_nothing(arguments, message, tmp_path, monkeypatch):
    monkeypatch.setattr("convergence.backend.gpu_problem", lambda: "there is none")
    if arguments[0] == "run":
        arguments = [*arguments, "--output", str(tmp_path / "results")]
    result = invoke(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert not list(tmp_path.rglob("*.csv"))


def test_a_study_runs_by_itself(tiny, tmp_path):
    command = [sys.executable, str(tiny), "--preset", "smoke", "--jobs", "1"]
    result = subprocess.run(
        [*command, "--output", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "smoke" / "tiny" / "verdicts.csv").is_file()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_every_terminal_gets_text(encoding):
    """✓, ħ and è in ASCII where a terminal has nothing else, never a traceback."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    program = (
        "from convergence.__main__ import console; console.print('✓ ħΔf → è² ½ Φ', markup=False)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    text = shown.stdout.decode(encoding)
    expected = {"ascii": "+ hbar Laplace f -> e^2 1/2 phi"}.get(
        encoding, "+ hbar Laplace f -> è² ½ phi"
    )
    assert text.split() == expected.split()
