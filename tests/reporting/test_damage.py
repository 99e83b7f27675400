"""`check` notices every single number that was changed in what is published of a run."""

import csv
import gzip
import io
import json
import re
import shutil
from pathlib import Path

import pytest

from convergence.errors import CheckpointError
from convergence.reporting import audit, publish
from convergence.running import read_run
from convergence.running.results import CELLS, RECORD, REFERENCES, _digest

COUNTS = ("n", "replicate", "target", "function")
NUMBERS = {
    CELLS: ("value", "beta", *COUNTS),
    REFERENCES: ("expectation", "limit", "shift", "sd", "effective_degree", "beta", "n", "target"),
    "verdicts.csv": ("measured", "predicted", "low", "high", "p_value", "level", "sees"),
}
WORDS = {
    CELLS: ("claim", "check", "status"),
    REFERENCES: ("claim", "check"),
    "verdicts.csv": ("claim", "check", "quantity", "function", "outcome", "reason"),
}


@pytest.fixture(scope="module")
def published(handmade, tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    publish(handmade.run(), Path(handmade.__file__), folder)
    return folder


@pytest.fixture
def folder(published, tmp_path):
    """A copy that may be damaged."""
    shutil.copytree(published, tmp_path, dirs_exist_ok=True)
    return tmp_path


def noticed(handmade, folder):
    """What `check` says, or the error it ends with."""
    try:
        return audit(read_run(Path(handmade.__file__), folder), folder)
    except CheckpointError as error:
        return [str(error)]


def read(path):
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return list(csv.reader(io.StringIO(text)))


def write(path, rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    data = out.getvalue().encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def forged(folder):
    """With the digest that belongs to the files as they are now."""
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    tables = [(folder / name).read_bytes() for name in (CELLS, REFERENCES)]
    record["digest"] = _digest(record, *tables)
    (folder / RECORD).write_text(json.dumps(record, indent=2), encoding="utf-8")


def moved(text):
    """A number 10 % off, or the next one."""
    return f"{int(text) + 1}" if re.fullmatch(r"\d+", text) else f"{1.1 * float(text) + 0.0:.12g}"


def judged_by_rounding(row, name):
    """Differences that are nothing but rounding: their size says nothing."""
    return name == "measured" and row["check"] == "bias" and abs(float(row["measured"])) < 1e-10


def damages(path, columns):
    """(row, column, what) of entries that are numbers other than zero."""
    head, *rows = read(path)
    for name in columns:
        column = head.index(name)
        for i, row in enumerate(rows):
            entry = row[column]
            number = re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", entry)
            if number and (float(entry) != 0 or name in COUNTS):
                yield i + 1, column, dict(zip(head, row, strict=True)), name


def test_nothing_is_noticed_where_nothing_changed(handmade, folder):
    assert noticed(handmade, folder) == []
    write(folder / "verdicts.csv", read(folder / "verdicts.csv"))
    forged(folder)
    assert noticed(handmade, folder) == []


@pytest.mark.parametrize("digest", ["old", "forged"])
@pytest.mark.parametrize(
    ("name", "column"), [(name, c) for name, columns in NUMBERS.items() for c in columns]
)
def test_a_number_that_changed(handmade, folder, name, column, digest):
    """Ten percent off, anywhere in a column.

    Decisions have no digest; a value that is forged with its digest tells by decisions only.
    """
    if digest == "forged" and (name == "verdicts.csv" or column == "value"):
        return
    found = list(damages(folder / name, [column]))
    assert found
    whole, record = read(folder / name), (folder / RECORD).read_bytes()
    for i, j, row, _ in found[:: max(1, len(found) // (6 if name == CELLS else 20))]:
        if judged_by_rounding(row, column):
            continue
        rows = [list(r) for r in whole]
        rows[i][j] = moved(rows[i][j])
        write(folder / name, rows)
        if digest == "forged":
            forged(folder)
        seen = noticed(handmade, folder)
        (folder / RECORD).write_bytes(record)
        assert seen, (name, column, row)


@pytest.mark.parametrize(
    ("name", "column"), [(name, c) for name, columns in WORDS.items() for c in columns]
)
def test_a_word_that_changed(handmade, folder, name, column):
    """In any row but reasons that tell of rounding."""
    head, *rows = whole = read(folder / name)
    j = head.index(column)
    for i in range(1, len(rows), max(1, len(rows) // 8)):
        of_rounding = "bias" in whole[i] or "exponent" in whole[i]
        if column == "reason" and of_rounding:
            continue
        changed = [list(r) for r in whole]
        changed[i][j] += "x"
        write(folder / name, changed)
        assert noticed(handmade, folder), (name, column, whole[i])


@pytest.mark.parametrize("name", ["verdicts.csv", REFERENCES, CELLS])
@pytest.mark.parametrize("how", ["left out", "repeated"])
def test_a_row_that_is_gone_or_twice_there(handmade, folder, name, how):
    rows = read(folder / name)
    for i in (1, len(rows) // 2, len(rows) - 1):
        changed = rows[:i] + rows[i + 1 :] if how == "left out" else rows[: i + 1] + rows[i:]
        write(folder / name, changed)
        assert noticed(handmade, folder)
        forged(folder)
        assert noticed(handmade, folder)


@pytest.mark.parametrize("name", ["table.md", "table.tex"])
def test_a_digit_of_a_table(handmade, folder, name):
    text = (folder / name).read_text(encoding="utf-8")
    digits = [m.start() for m in re.finditer(r"\d", text)]
    for i in digits[:: max(1, len(digits) // 10)]:
        changed = text[:i] + str((int(text[i]) + 1) % 10) + text[i + 1 :]
        (folder / name).write_text(changed, encoding="utf-8")
        (line,) = noticed(handmade, folder)
        assert name in line
    (folder / name).unlink()
    assert name in noticed(handmade, folder)[0]


@pytest.mark.parametrize("what", ["study", "seconds", "digest", "preset"])
def test_an_entry_of_the_record(handmade, folder, what):
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    if what in ("study", "preset"):
        record["configuration"][what] += "x"
    elif what == "seconds":
        record["seconds"]["known"] += 0.001
    else:
        record["digest"] = "0" * 64
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")
    assert noticed(handmade, folder)


@pytest.mark.parametrize("name", [CELLS, REFERENCES, "verdicts.csv", RECORD])
def test_a_file_cut_off_or_missing(handmade, folder, name):
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: len(data) // 2])
    assert noticed(handmade, folder)
    (folder / name).unlink()
    assert noticed(handmade, folder)
