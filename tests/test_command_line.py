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
    text = ascii("✓ ħΔf → è² ½ Φ")  # a C locale cannot take more on its command line
    program = f"from convergence.__main__ import console; console.print({text}, markup=False)"
    shown = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    text = shown.stdout.decode(encoding)
    expected = {"ascii": "+ hbar Laplace f -> e^2 1/2 Phi"}.get(
        encoding, "+ hbar Laplace f -> è² ½ Phi"
    )
    assert text.split() == expected.split()


def test_the_whole_command_line_in_a_terminal_of_ascii(tiny, tmp_path):
    """list, run and a named error: text, no traceback, and files in UTF-8 all the same."""
    environment = {
        **os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C",
        "PYTHONCOERCECLOCALE": "0",
    }  # fmt: skip

    def shown(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "convergence", *arguments],
            env=environment, capture_output=True, check=False, cwd=tmp_path,
        )  # fmt: skip

    study = tmp_path / "studies" / "tiny.py"
    study.parent.mkdir()
    text = tiny.read_text(encoding="utf-8").replace("A tiny study", "Une étude de ħ ✓")
    study.write_text(text.replace("von Mises", "è – 𝒞"), encoding="utf-8")
    listed = shown("list")
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.decode("ascii").endswith("tiny: S^1, e - C\n")
    command = ("--preset", "smoke", "--output", str(tmp_path))
    ran = shown("run", str(study), "--jobs", "2", *command)
    assert ran.returncode == 0, ran.stderr
    assert b"Une etude de hbar" in ran.stdout
    table = (tmp_path / "smoke" / "tiny" / "table.md").read_text(encoding="utf-8")
    assert "è – 𝒞" in table
    assert shown("report", str(study), *command).returncode == 0
    assert shown("check", str(study), *command).returncode == 0
    wrong = shown("run", str(tmp_path / "ħ.py"))
    assert wrong.returncode == 2
    assert b"StudyError" in wrong.stderr
    assert b"Traceback" not in wrong.stderr


def false_copy(tiny, folder):
    """The tiny study with a limit 20 % off."""
    wrong = folder / "wrong.py"
    text = tiny.read_text(encoding="utf-8")
    change = "claim = replace(claim, limit=1.2 * claim.limit)\nSTUDY = Study("
    wrong.write_text(text.replace("STUDY = Study(", change), encoding="utf-8")
    return wrong


@pytest.mark.parametrize("first", ["tiny", "wrong"])
def test_one_false_study_of_several_decides_the_exit_code(tiny, tmp_path, first):
    """Of run and of check, in whatever order they are given."""
    wrong = false_copy(tiny, tmp_path)
    studies = (tiny, wrong) if first == "tiny" else (wrong, tiny)
    options = ("--preset", "smoke", "--output", tmp_path)
    assert invoke("run", *studies, "--jobs", 1, *options).exit_code == 1
    assert {path.name for path in (tmp_path / "smoke").iterdir()} == {"tiny", "wrong"}
    assert invoke("check", *studies, *options).exit_code == 1
    assert invoke("check", tiny, *options).exit_code == 0
    assert invoke("run", *studies, tmp_path / "missing.py", *options).exit_code == 2


def test_an_edited_study_among_several_decides_the_exit_code(tiny, tmp_path):
    """A change that check finds in one study is not forgotten at the next."""
    other = tmp_path / "other.py"
    other.write_text(tiny.read_text(encoding="utf-8"), encoding="utf-8")
    options = ("--preset", "smoke", "--output", tmp_path)
    assert invoke("run", other, tiny, "--jobs", 1, *options).exit_code == 0
    (tmp_path / "smoke" / "other" / "table.md").write_text("x", encoding="utf-8")
    assert invoke("check", other, tiny, *options).exit_code == 1
    assert invoke("check", tiny, other, *options).exit_code == 1
    assert invoke("check", tiny, *options).exit_code == 0


def test_report_and_check_at_another_preset(tiny, tmp_path, monkeypatch):
    """They look where run has written, and leave the README to the published preset."""
    monkeypatch.chdir(tmp_path)
    marked = "<!-- claims: begin -->\nold\n<!-- claims: end -->\n"
    (tmp_path / "README.md").write_text(marked, encoding="utf-8")
    assert invoke("run", tiny, "--jobs", 1, "--preset", "smoke").exit_code == 0
    folder = tmp_path / "results" / "smoke" / "tiny"
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in ("table.md", "table.tex", "verdicts.csv", "figure.pdf", "figure.png"):
        (folder / name).unlink()
    assert invoke("report", tiny).exit_code == 2  # there is nothing at standard
    result = invoke("report", tiny, "--preset", "smoke")
    assert result.exit_code == 0, result.output
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == marked
    assert invoke("check", tiny, "--preset", "smoke").exit_code == 0
    assert invoke("check", tiny).exit_code == 2
