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
from convergence.running import (
    code_version,
    load_study,
    locked,
    read_run,
    results,
    run_study,
    study,
)
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
        ("claim = replace(claim, id='../x')", "printable text"),
        ("claim = replace(claim, id='_x')", "printable text"),
        ("claim = replace(claim, id='a/b')", "holds no /"),
        ("claim = replace(claim, id='$x$')", "printable text"),
        ("claim = replace(claim, id='x$')", "holds no /"),
        ("claim = replace(claim, id=7)", "printable text"),
        ("claim = replace(claim, id='a\\nb')", "printable text"),
        ("raise SystemExit(0)", "SystemExit"),
        ("claim = replace(claim, functions='fg')", "tuple of labels"),
        ("claim = replace(claim, checks=('bais',))", "unknown checks: 'bais'"),
        ("Setting(0, 1.0, 8)", "n of a setting"),
        ("Setting(10, float('inf'), 8)", "beta of a setting"),
        ("Setting(10, 1.0, 0)", "replicates of a setting"),
        ("Setting(10, 1.0, 2.5)", "replicates of a setting"),
        ("Schedule(betas=(1.0, 2.0, 3.0))", "common factor"),
        ("Schedule(betas=5.0)", "betas of a schedule must be a tuple"),
        ("Schedule(sampling=Setting(10, 1.0, 2))", "sampling settings must be a tuple"),
        (
            "claim = replace(claim, faults=claim.faults[0])",
            "faults of claim 'tiny' must be a tuple",
        ),
        ("claim = replace(claim, checks='bias')", "checks of claim 'tiny' must be a tuple"),
        (
            "generator_claim('f', circle, Distance(), circle.fourier(1), statement='', source='')",
            "functions must be a tuple",
        ),
        ("claim = replace(claim, limit=claim.limit + float('nan'))", "limit of claim"),
        (
            "from math import nan\nlimit = claim.limit\n"
            "claim = replace(claim, expectation=lambda beta: limit * nan)",
            "the expectation is not finite",
        ),
        (
            "from math import nan\ndegree = claim.effective_degree\n"
            "claim = replace(claim, effective_degree=lambda n, beta: degree(n, beta) * nan)",
            "the effective degree is not finite",
        ),
        ("claim = replace(claim, sampling_error=lambda n, beta: exit(0))", "SystemExit"),
        ("claim = replace(claim, expectation=lambda beta: 1 / 0)", "ZeroDivisionError"),
        ("claim = replace(claim, sampling_error=lambda n, beta: (0, 1))", "shape"),
        ("claim = replace(claim, effective_degree=lambda n, beta: None)", "effective degree"),
        ("claim = replace(claim, estimate=lambda points, beta: exit(0))", "SystemExit"),
        ("Study('t', (claim,), figures={'../../x': print})", "file name"),
        ("Study('t', (claim,), figures={'figure': print})", "the suite's own"),
        ("Study('t', (claim,), figures={3: print})", "file name"),
        ("Study('t', (claim,), figures=print)", "are a dict"),
        ("Study('t', (claim,), figures={'x': 3})", "no function of a run"),
        ("Study('t', (claim,), figures={'x': lambda: 3})", "no function of a run"),
        ("Study('t', claim)", "claims must be a tuple"),
        ("Study(3, (claim,))", "title is text"),
    ],
)
def test_bad_studies_are_named(tiny, tmp_path, text, message):
    result = run(changed(tiny, tmp_path, text), tmp_path, "--jobs", "1")
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert not list(tmp_path.rglob("*.csv*"))


def test_a_figure_that_breaks_off_leaves_the_rest(tiny, tmp_path):
    figures = (
        """{"a": lambda run: 1 / 0, "b": lambda run: exit(0), "c": lambda run: 3, "d": drawn}"""
    )
    drawn = """
def drawn(run):
    import matplotlib.pyplot as plt
    return plt.figure()
"""
    path = changed(tiny, tmp_path, drawn)
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace('A tiny study",', f'A [/b] study", figures={figures},'), encoding="utf-8"
    )
    result = run(path, tmp_path, "--jobs", "1")
    assert result.exit_code == 2
    shown = " ".join(result.output.split())
    for problem in ("'a' with ZeroDivisionError", "'b' with SystemExit", "'c' with TypeError"):
        assert problem in shown
    folder = tmp_path / "smoke" / "changed"
    for name in ("cells.csv.gz", "verdicts.csv", "table.md", "figure.pdf", "d.png"):
        assert (folder / name).is_file()
    assert not (folder / "a.pdf").exists()


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
    deadline = time.monotonic() + 4  # half a second each to notice and to end, on a busy machine
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
    (folder / ".partial-1-table.md").touch()  # what a killed run leaves
    assert run(tiny, tmp_path, "--jobs", "1").exit_code == 0
    assert not (folder / ".partial-1-table.md").exists()
    assert not (folder / ".lock-owner").exists()


@pytest.mark.parametrize("name", [".lock", ".lock-owner", "checkpoint.sqlite", "cells.csv.gz"])
def test_a_folder_in_place_of_a_file_is_named(tiny, tmp_path, name):
    (tmp_path / "smoke" / "tiny" / name).mkdir(parents=True)
    result = run(tiny, tmp_path, "--jobs", "1")
    assert result.exit_code == 2
    assert "CheckpointError" in result.output
    with locked(tmp_path / "free"):  # the lock of a failed run is gone with it
        pass


def test_a_lock_ends_with_its_process(tiny, tmp_path):
    """A run that was killed holds nothing, whatever file it has left."""
    program = (
        "import os, sys; from pathlib import Path; from convergence.running import locked\n"
        "with locked(Path(sys.argv[1])): os.kill(os.getpid(), 9)"
    )
    folder = tmp_path / "smoke" / "tiny"
    subprocess.run([sys.executable, "-c", program, str(folder)], check=False)
    assert "process" in (folder / ".lock-owner").read_text(encoding="utf-8")
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


def test_results_of_other_code_are_noted(tiny, tmp_path):
    """An edit since is no fault by itself: check says so, and exits as the cells deserve."""
    study = changed(tiny, tmp_path, "")
    assert run(study, tmp_path, "--jobs", "1").exit_code == 0
    check = ["check", str(study), "--preset", "smoke", "--output", str(tmp_path)]
    assert "note: changed was measured by other code" not in runner.invoke(app, check).output
    study.write_text(study.read_text(encoding="utf-8") + "\n# a comment\n", encoding="utf-8")
    load_study.cache_clear()
    code_version.cache_clear()
    result = runner.invoke(app, check)
    assert result.exit_code == 0
    assert "note: changed was measured by other code" in result.output


def test_names_that_look_like_markup_are_shown_as_they_are(tiny, tmp_path):
    """Of a study, its title, claim and folder."""
    path = changed(tiny, tmp_path, "claim = replace(claim, id='x [b]')", name="odd [bold]x[]")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("A tiny study", "A [/b] <b> study"), encoding="utf-8")
    result = run(path, tmp_path, "--jobs", "1")
    assert result.exit_code == 0, result.output
    for shown in ("odd [bold]x[]", "A [/b] <b> study", "x [b]"):
        assert shown in result.output


def test_two_studies_of_one_name_are_refused(tiny, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        changed(tiny, tmp_path / folder, "")
    result = runner.invoke(app, ["run", *(str(p) for p in tmp_path.glob("*/changed.py"))])
    assert result.exit_code == 2
    assert "2 studies named 'changed'" in result.output


def test_a_preset_is_no_path(tiny, tmp_path):
    path = changed(tiny, tmp_path, "")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"standard")', '"../../x")'), encoding="utf-8")
    result = runner.invoke(app, ["run", str(path), "--preset", "../../x"])
    assert result.exit_code == 2
    assert "name of a preset" in result.output


def test_gzipped_cells_are_the_same_bytes_on_every_platform():
    """No time, no name, and the operating system unknown: RFC 1952, section 2.3."""
    head = results._zipped(b"numbers")[:10]
    assert head == bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255])
