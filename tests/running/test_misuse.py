"""What goes wrong around a run is named, exits with 2, and leaves what was finished."""

import gzip
import json
import os
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from convergence.__main__ import app
from convergence.errors import CheckpointError, InvalidInputError, StudyError, WorkerError
from convergence.running import load_study, locked, read_run, run_study, study
from convergence.running.checkpoint import Checkpoint
from convergence.verification import Schedule, Setting

runner = CliRunner()


def changed(tiny, tmp_path, text, name="changed"):
    """The tiny study with some lines before its STUDY."""
    path = tmp_path / f"{name}.py"
    path.write_text(tiny.read_text().replace("STUDY = Study(", f"{text}\nSTUDY = Study("))
    return path


def run(path, tmp_path, *options):
    return runner.invoke(
        app, ["run", str(path), "--preset", "smoke", "--output", str(tmp_path), *options]
    )


def test_the_same_command_gives_the_same_bytes(tiny, tmp_path):
    """In all but the record of versions and seconds."""
    for name in ("one", "two"):
        assert run(tiny, tmp_path / name, "--jobs", "1").exit_code == 0
    one, two = (tmp_path / name / "smoke" / "tiny" for name in ("one", "two"))
    names = {path.name for path in one.iterdir()} - {"checkpoint.sqlite", ".lock"}
    assert names == {
        "cells.csv.gz", "references.csv", "verdicts.csv", "figure.pdf", "figure.png", "table.tex",
        "table.md", "provenance.json",
    }  # fmt: skip
    for name in names - {"provenance.json"}:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


@pytest.mark.parametrize(("old", "new"), [('"seed": 0', '"seed": 1'), ('"code": "', '"code": "0')])
def test_an_edited_record_is_noticed(tiny, tmp_path, old, new):
    assert run(tiny, tmp_path, "--jobs", "1").exit_code == 0
    record = tmp_path / "smoke" / "tiny" / "provenance.json"
    text = record.read_text(encoding="utf-8")
    assert old in text
    record.write_text(text.replace(old, new, 1), encoding="utf-8")
    result = runner.invoke(
        app, ["check", str(tiny), "--preset", "smoke", "--output", str(tmp_path)]
    )
    assert result.exit_code == 1
    assert "not what the run wrote" in result.output


def test_an_edited_status_or_value_is_noticed(tiny, tmp_path):
    assert run(tiny, tmp_path, "--jobs", "1").exit_code == 0
    cells = tmp_path / "smoke" / "tiny" / "cells.csv.gz"
    text = gzip.decompress(cells.read_bytes()).decode()
    cells.write_bytes(gzip.compress(text.replace(",ok", ",fine", 1).encode(), mtime=0))
    result = runner.invoke(
        app, ["check", str(tiny), "--preset", "smoke", "--output", str(tmp_path)]
    )
    assert result.exit_code == 1
    cells.write_bytes(cells.read_bytes()[:-20])
    with pytest.raises(CheckpointError, match="holds no results"):
        read_run(tiny, cells.parent)


@pytest.mark.parametrize("id", ["NA", "007", "nan", "None", "1e5"])
def test_ids_are_text(tiny, tmp_path, id):
    path = changed(tiny, tmp_path, f"claim = replace(claim, id={id!r})")
    assert run(path, tmp_path, "--jobs", "1").exit_code == 0
    check = ["check", str(path), "--preset", "smoke", "--output", str(tmp_path)]
    assert runner.invoke(app, check).exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("claim = replace(claim, id='')", "printable text"),
        ("claim = replace(claim, id='a\\nb')", "printable text"),
        ("raise SystemExit(0)", "SystemExit"),
        ("claim = replace(claim, functions='fg')", "tuple of labels"),
        ("claim = replace(claim, checks=('bais',))", "unknown checks: 'bais'"),
        ("Setting(0, 1.0, 8)", "n of a setting"),
        ("Setting(10, float('inf'), 8)", "beta of a setting"),
        ("Setting(10, 1.0, 0)", "replicates of a setting"),
        ("Setting(10, 1.0, 2.5)", "replicates of a setting"),
        ("Schedule(betas=(1.0, 2.0, 3.0))", "common factor"),
        ("claim = replace(claim, expectation=lambda beta: 1 / 0)", "ZeroDivisionError"),
        ("claim = replace(claim, sampling_error=lambda n, beta: (0, 1))", "shape"),
        ("claim = replace(claim, effective_degree=lambda n, beta: None)", "effective degree"),
        ("claim = replace(claim, estimate=lambda points, beta: exit(0))", "SystemExit"),
        ("Study('t', (claim,), figures={'../../x': print})", "file name"),
        ("Study('t', (claim,), figures={'x': 3})", "no function of a run"),
        ("Study('t', claim)", "tuple of claims"),
    ],
)
def test_bad_studies_are_named(tiny, tmp_path, text, message):
    result = run(changed(tiny, tmp_path, text), tmp_path, "--jobs", "1")
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert not list(tmp_path.rglob("*.csv*"))


def test_a_figure_that_breaks_off_leaves_the_rest(tiny, tmp_path):
    path = changed(tiny, tmp_path, "")
    path.write_text(
        path.read_text().replace(
            'A tiny study",', 'A [/b] study", figures={"own": lambda run: 1 / 0},'
        )
    )
    result = run(path, tmp_path, "--jobs", "1")
    assert result.exit_code == 2
    assert "ZeroDivisionError" in result.output
    folder = tmp_path / "smoke" / "changed"
    assert (folder / "cells.csv.gz").is_file()
    assert (folder / "verdicts.csv").is_file()


def test_a_dead_worker_is_named_and_the_run_goes_on(tiny, tmp_path):
    """As when memory runs out: the worker is killed once, and not in the second run."""
    flag = tmp_path / "killed"
    text = f"""
import os, signal
from pathlib import Path
def estimate(points, beta, right=claim.estimate, flag=Path({str(flag)!r})):
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return right(points, beta)
claim = replace(claim, estimate=estimate)"""
    path = changed(tiny, tmp_path, text)
    with pytest.raises(WorkerError, match="the same command goes on"):
        run_study(path, "smoke", tmp_path / "c.sqlite", jobs=2)
    assert len(run_study(path, "smoke", tmp_path / "c.sqlite", jobs=2).results) == 32


def test_workers_end_with_their_run(tiny, tmp_path):
    text = """
import os, time
def estimate(points, beta, right=claim.estimate):
    print(os.getpid(), flush=True)
    time.sleep(1)
    return right(points, beta)
claim = replace(claim, estimate=estimate)"""
    path = changed(tiny, tmp_path, text)
    command = [sys.executable, "-m", "convergence", "run", str(path), "--preset", "smoke"]
    with subprocess.Popen(
        [*command, "--jobs", "2", "--output", str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        workers = set()
        for line in process.stdout:
            if line.strip().isdigit():
                workers.add(int(line))
            if len(workers) == 2:
                break
        process.kill()
    deadline = time.monotonic() + 15
    while any(os.path.exists(f"/proc/{worker}") for worker in workers):
        assert time.monotonic() < deadline, "a worker outlives its run"
        time.sleep(0.1)


def test_one_run_at_a_time_in_a_folder(tiny, tmp_path):
    folder = tmp_path / "smoke" / "tiny"
    with locked(folder):
        result = run(tiny, tmp_path, "--jobs", "1")
        assert result.exit_code == 2
        assert f"process {os.getpid()}" in result.output.replace("\n", " ")
    assert run(tiny, tmp_path, "--jobs", "1").exit_code == 0
    (folder / ".partial-cells.csv.gz").mkdir()  # of another time
    assert run(tiny, tmp_path, "--jobs", "1").exit_code == 0


def test_a_damaged_row_is_computed_anew(tiny, tmp_path):
    file = tmp_path / "c.sqlite"
    before = run_study(tiny, "smoke", file)
    with Checkpoint(file) as kept, kept._connection:
        kept._connection.execute("UPDATE results SET seconds = seconds + 1 WHERE rowid = 3")
    seen = []
    after = run_study(tiny, "smoke", file, progress=lambda cell, was_kept: seen.append(was_kept))
    assert seen.count(False) == 1
    assert {c: r.values.tolist() for c, r in before.results.items()} == {
        c: r.values.tolist() for c, r in after.results.items()
    }


def test_executors_that_do_not_work_are_refused(tiny, tmp_path):
    for executor in ("multiprocessing", "dask"):
        with pytest.raises(InvalidInputError, match="loky, threading, sequential"):
            run_study(tiny, "smoke", tmp_path / "c.sqlite", jobs=2, executor=executor)
    for executor in ("threading", "sequential"):
        run_study(tiny, "smoke", tmp_path / f"{executor}.sqlite", jobs=2, executor=executor)


def test_nothing_to_list_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "study_files", dict)
    monkeypatch.setattr("convergence.running.study_files", dict)
    result = runner.invoke(app, ["list"])
    assert result.exit_code == 2
    assert "installed wheel" in result.output


def test_settings_are_numbers():
    assert isinstance(Setting(10, 3, 2).beta, float)
    with pytest.raises(InvalidInputError, match="repeat"):
        Schedule(sampling=(Setting(10, 1.0, 2), Setting(10, 1.0, 4)))


@pytest.fixture(autouse=True)
def _forget_studies():
    yield
    load_study.cache_clear()


def test_a_record_holds_seconds(tiny, tmp_path):
    assert run(tiny, tmp_path, "--jobs", "1").exit_code == 0
    record = json.loads((tmp_path / "smoke" / "tiny" / "provenance.json").read_text())
    assert record["seconds"]["tiny"] > 0
    with pytest.raises(StudyError):
        study.find_study("tiny")
