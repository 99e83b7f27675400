"""Same numbers serial, parallel, resumed and in any order; nothing stale, nothing half-written."""

import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import convergence
from convergence.errors import CheckpointError, DeviceError, InvalidInputError, StudyError
from convergence.running import Cell, cells, load_study, plan, read_run, run_study, write_cells
from convergence.running.cells import compute
from convergence.running.checkpoint import Checkpoint
from convergence.running.provenance import code_version
from convergence.running.results import cells_table, write_whole


def values(run):
    return {cell: result.values for cell, result in run.results.items()}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for cell in one:
        np.testing.assert_array_equal(one[cell], other[cell])


def test_serial_parallel_and_reordered_runs_agree(tiny, tmp_path):
    serial = run_study(tiny, "smoke", tmp_path / "a.sqlite", jobs=1)
    parallel = run_study(tiny, "smoke", tmp_path / "b.sqlite", jobs=2)
    assert_same(values(serial), values(parallel))
    claim = load_study(tiny).claims[0]
    backwards = {cell: compute(claim, cell, 0).values for cell in plan(tiny, "smoke")[::-1]}
    assert_same(values(serial), backwards)


def test_streamed_and_whole_samples_agree(tiny, monkeypatch):
    """The same points, in chunks or at once."""
    claim = load_study(tiny).claims[0]
    cell = plan(tiny, "smoke")[0]
    monkeypatch.setattr(cells, "CHUNK", 700)
    chunks = list(cells.sample_chunks(claim.space, 2000, np.random.default_rng(0)))
    assert [len(chunk) for chunk in chunks] == [700, 700, 600]
    streamed = compute(claim, cell, 0).values
    whole = compute(replace(claim, streamed=False), cell, 0).values
    np.testing.assert_allclose(streamed, whole, rtol=1e-11)


def test_seeds_follow_identity(tiny):
    cells = plan(tiny, "smoke")
    states = {tuple(cell.seed(0).generate_state(4)) for cell in cells}
    assert len(states) == len(cells)
    assert tuple(cells[0].seed(1).generate_state(4)) not in states
    # the seed is part of what is published: it must never change
    state = Cell("study", "claim", "joint", 1000, 12.5, 3).seed(0).generate_state(2)
    np.testing.assert_array_equal(state, [204509124, 1510201321])


def test_keys_depend_on_everything_that_decides_a_number():
    cell = Cell("study", "claim", "joint", 1000, 12.5, 3)
    keys = {
        cell.key("configuration", "code", 0),
        cell.key("another", "code", 0),
        cell.key("configuration", "another", 0),
        cell.key("configuration", "code", 1),
        replace(cell, replicate=4).key("configuration", "code", 0),
        replace(cell, beta=12.6).key("configuration", "code", 0),
    }
    assert len(keys) == 6


def test_a_run_goes_on_from_its_checkpoint(tiny, tmp_path):
    seen = []
    first = run_study(
        tiny, "smoke", tmp_path / "c.sqlite", progress=lambda cell, kept: seen.append(kept)
    )
    assert seen == [False] * len(first.results)
    seen.clear()
    again = run_study(
        tiny, "smoke", tmp_path / "c.sqlite", progress=lambda cell, kept: seen.append(kept)
    )
    assert seen == [True] * len(first.results)
    assert_same(values(first), values(again))


def test_another_seed_or_an_edited_study_is_computed_anew(tiny, tmp_path):
    copy = tmp_path / "tiny.py"
    copy.write_text(tiny.read_text())
    checkpoint = tmp_path / "c.sqlite"
    before = values(run_study(copy, "smoke", checkpoint))
    kept = []
    other = run_study(copy, "smoke", checkpoint, seed=1, progress=lambda c, k: kept.append(k))
    assert not any(kept)
    assert not np.array_equal(next(iter(before.values())), next(iter(values(other).values())))

    copy.write_text(tiny.read_text().replace("kappa=1.0", "kappa=1.1"))
    # a new process reads the file anew; this one must be told
    load_study.cache_clear()
    code_version.cache_clear()
    kept.clear()
    edited = run_study(copy, "smoke", checkpoint, progress=lambda c, k: kept.append(k))
    load_study.cache_clear()
    code_version.cache_clear()
    assert not any(kept)
    assert not np.array_equal(next(iter(before.values())), next(iter(values(edited).values())))


SLOW = """import time
def estimate(points, beta, right=claim.estimate):
    time.sleep(0.1)
    return right(points, beta)
claim = replace(claim, estimate=estimate)
STUDY = Study("""


@pytest.mark.parametrize(
    ("stop", "jobs"), [(signal.SIGKILL, 1), (signal.SIGINT, 2), (signal.SIGTERM, 1)]
)
def test_a_stopped_run_resumes(tiny, tmp_path, stop, jobs):
    """Kill it, or press Ctrl-C, in the middle; the same command goes on from there."""
    slow = tmp_path / "slow.py"
    slow.write_text(tiny.read_text().replace("STUDY = Study(", SLOW))
    command = [
        sys.executable, "-m", "convergence", "run", str(slow),
        "--preset", "smoke", "--jobs", str(jobs), "--output", str(tmp_path),
    ]  # fmt: skip
    folder = tmp_path / "smoke" / "slow"
    # a shell's background job would ignore SIGINT
    obey = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, text=True, preexec_fn=obey) as process:
        deadline = time.monotonic() + 120
        while count_cells(folder / "checkpoint.sqlite") < 5:
            assert time.monotonic() < deadline
            assert process.poll() is None, "the run ended before it could be stopped"
            time.sleep(0.02)
        process.send_signal(stop)
        output, _ = process.communicate(timeout=60)
    if stop != signal.SIGKILL:
        assert process.returncode == 130
        assert "the same command goes on" in output
    kept = count_cells(folder / "checkpoint.sqlite")
    assert 5 <= kept < 32
    assert not (folder / "cells.csv.gz").exists()

    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert f"({kept} cells kept)" in finished.stdout
    assert count_cells(folder / "checkpoint.sqlite") == 32
    resumed = pd.read_csv(folder / "cells.csv.gz")
    straight = cells_table(run_study(slow, "smoke", tmp_path / "straight.sqlite"))
    np.testing.assert_allclose(resumed["value"], straight["value"], rtol=1e-11)


def count_cells(checkpoint):
    if not checkpoint.exists():
        return 0
    connection = sqlite3.connect(f"file:{checkpoint}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT COUNT(*) FROM results").fetchone()[0]
    except sqlite3.OperationalError:  # not created yet
        return 0
    finally:
        connection.close()


def test_results_survive_the_way_to_disk_and_back(tiny, tmp_path):
    run = run_study(tiny, "standard", tmp_path / "c.sqlite")
    write_cells(run, tmp_path)
    table = pd.read_csv(tmp_path / "cells.csv.gz")
    # (8 sampling + 3 · 8 joint) replicates x 3 targets x 2 functions
    assert len(table) == 32 * 3 * 2
    assert list(table.columns) == [
        "claim", "check", "n", "beta", "replicate", "target", "function", "value", "status",
    ]  # fmt: skip
    references = pd.read_csv(tmp_path / "references.csv")
    assert len(references) == 4 * 3 * 2
    assert list(references.columns[6:]) == [
        "expectation",
        "limit",
        "shift",
        "sd",
        "effective_degree",
    ]
    assert not list(tmp_path.glob(".partial*"))
    again = read_run(tiny, tmp_path)
    for cell, array in values(run).items():
        np.testing.assert_allclose(again.results[cell].values, array, rtol=1e-11)
    for key in ("commit", "seed", "device", "dtype", "configuration_hash", "libraries", "threads"):
        assert key in again.provenance


def test_an_edited_helper_module_is_computed_anew(tiny, tmp_path):
    """A study's estimator often lives in a module of its own."""
    (tmp_path / "my_factor.py").write_text("FACTOR = 1.0\n")
    study = tmp_path / "helped.py"
    text = tiny.read_text().replace("from dataclasses", "import my_factor\nfrom dataclasses", 1)
    study.write_text(text)
    program = (
        "import sys; from pathlib import Path; from convergence.running import run_study; "
        "kept = []; "
        "run_study(Path(sys.argv[1]), 'smoke', Path(sys.argv[2]), "
        "progress=lambda cell, was_kept: kept.append(was_kept)); print(sum(kept))"
    )
    command = [sys.executable, "-c", program, str(study), str(tmp_path / "c.sqlite")]
    counts = []
    for text in ("FACTOR = 1.0\n", "FACTOR = 1.0\n", "FACTOR = 2.0\n"):
        (tmp_path / "my_factor.py").write_text(text)
        finished = subprocess.run(command, capture_output=True, text=True, check=True)
        counts.append(int(finished.stdout))
    assert counts == [0, 32, 0]


@pytest.mark.parametrize(
    ("estimate", "message"),
    [
        ("lambda points, beta: 1 / 0", "ZeroDivisionError"),
        ("lambda points, beta: [1.0, 2.0]", "shape"),
        ("lambda points, beta: limit * float('nan')", "not finite"),
    ],
)
def test_a_wrong_estimator_stops_the_run_by_name(tiny, tmp_path, estimate, message):
    path = tmp_path / f"wrong_{abs(hash(estimate))}.py"
    path.write_text(
        tiny.read_text().replace(
            "STUDY = Study(",
            f"limit = claim.limit\nclaim = replace(claim, estimate={estimate})\nSTUDY = Study(",
        )
    )
    with pytest.raises(StudyError, match=f"claim 'tiny' at N = 4000.*{message}"):
        run_study(path, "smoke", tmp_path / "c.sqlite")


def test_claims_with_fewer_checks_are_run_and_drawn(tiny, tmp_path):
    from convergence.reporting import publish

    for name, changes in [
        ("bias_only", "checks=('bias',)"),
        ("no_joint", "checks=('bias', 'sampling')"),
        ("no_sd", "sampling_error=None, faults=()"),
    ]:
        path = tmp_path / f"{name}.py"
        path.write_text(
            tiny.read_text().replace(
                "STUDY = Study(", f"claim = replace(claim, {changes})\nSTUDY = Study("
            )
        )
        run = run_study(path, "smoke", tmp_path / f"{name}.sqlite")
        publish(run, path, tmp_path / name)
        assert (tmp_path / name / "figure.pdf").is_file()


def test_a_cell_with_a_named_error_is_marked_and_not_kept(tiny, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text(tiny.read_text().replace("Setting(4000, 30.0, 8)", "Setting(3, 1e9, 8)"))
    run = run_study(broken, "smoke", tmp_path / "c.sqlite")
    status = cells_table(run).groupby("check")["status"].unique()
    assert status["joint"].tolist() == ["ok"]
    assert all(text.startswith("NoMassError: ") for text in status["sampling"])
    assert count_cells(tmp_path / "c.sqlite") == 24
    sampling = [v for v in run.verdicts()["tiny"] if v.check == "sampling"]
    assert {str(v.outcome) for v in sampling} == {"INCONCLUSIVE"}


def test_named_errors(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("convergence.backend.gpu_problem", lambda: "there is none")
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"this is no database, but longer than a header" * 100)
    with pytest.raises(CheckpointError, match="delete the file"):
        run_study(tiny, "smoke", damaged)
    with pytest.raises(CheckpointError):
        Checkpoint(tiny / "below" / "a" / "file.sqlite")
    with pytest.raises(StudyError, match="preset"):
        run_study(tiny, "nonsense", tmp_path / "c.sqlite")
    with pytest.raises(DeviceError, match="no usable GPU"):
        run_study(tiny, "smoke", tmp_path / "c.sqlite", device="cuda")
    with pytest.raises(InvalidInputError, match="device"):
        run_study(tiny, "smoke", tmp_path / "c.sqlite", device="tpu")
    with pytest.raises(CheckpointError, match="holds no results"):
        read_run(tiny, tmp_path)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "cells.csv"
    target.write_text("old")

    def full_disk(path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(CheckpointError, match="No space left"):
        write_whole(target, full_disk)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "defines no STUDY"),
        ("1/0", "ZeroDivisionError"),
        ("from convergence.running import Study\nSTUDY = Study('empty', ())", "distinct ids"),
    ],
)
def test_study_files_that_are_none(tmp_path, text, message):
    path = tmp_path / "study.py"
    path.write_text(text)
    with pytest.raises(StudyError, match=message):
        load_study(path)
    load_study.cache_clear()
    with pytest.raises(StudyError, match="no Python file"):
        load_study(tmp_path / "missing.py")


@pytest.mark.parametrize("file", ["pairs.py", "gaussian_sums.cu", "new.py"])
def test_an_edit_of_a_kernel_changes_the_code_digest(tiny, tmp_path, monkeypatch, file):
    package = tmp_path / "convergence"
    shutil.copytree(Path(convergence.__file__).parent, package)
    monkeypatch.setattr(convergence, "__file__", str(package / "__init__.py"))
    digest = code_version.__wrapped__  # without what it remembers
    before = digest(tiny)
    assert digest(tiny) == before
    with open(package / "kernels" / file, "a") as edited:
        edited.write("\n")
    assert digest(tiny) != before
