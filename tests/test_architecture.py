"""The plan of the house: a room imports only from rooms above it, and stays small."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import convergence

PACKAGE = Path(convergence.__file__).parent
# a room may import from those before it
ROOMS = [
    "errors", "arrays", "backend", "spaces", "scores", "limits", "kernels", "operators",
    "verification", "claims", "running", "reporting", "testing", "terminal", "__main__",
]  # fmt: skip
FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_rooms(path):
    """Rooms of the package that a file imports from, anywhere in it."""
    parents = path.relative_to(PACKAGE).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = list(parents[: len(parents) - node.level + 1]) if node.level else []
            if not node.level:
                if (node.module or "").split(".")[0] != "convergence":
                    continue
                names = node.module.split(".")[1:]
            else:
                names = base + (node.module.split(".") if node.module else [])
            yield from [names[0]] if names else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("convergence."):
                    yield alias.name.split(".")[1]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    room = room_of(path)
    if room == "__init__":
        return
    for other in set(imported_rooms(path)) - {room}:
        assert ROOMS.index(other) < ROOMS.index(room), f"{room} must not import {other}"


def test_the_reference_and_what_it_judges_share_nothing():
    for path in FILES:
        if room_of(path) == "limits":
            assert not set(imported_rooms(path)) & {"kernels", "operators"}
        if room_of(path) in ("kernels", "operators"):
            assert "limits" not in set(imported_rooms(path))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_are_small_and_say_what_they_are(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    assert ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_public_names_have_docstrings(path):
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} in {path.name}"


def test_importing_the_package_compiles_nothing():
    code = (
        "import convergence, convergence.kernels, convergence.operators, sys; "
        "assert 'numba' not in sys.modules and 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


READS_TEXT = {"read_text", "write_text", "open"}
ROOT = PACKAGE.parent


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_text_file_is_utf8_by_name(path):
    """Not what a terminal's locale says."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            names = {keyword.arg for keyword in node.keywords}
            text = called in READS_TEXT or "text" in names
            own = called == "write_text" and isinstance(node.func, ast.Name)  # of running.results
            assert not text or own or "encoding" in names, f"{path.name}:{node.lineno}"


def test_the_lowest_versions_are_those_that_are_tested():
    """tox's environment `lowest` pins what pyproject.toml asks for at least, no more, no less."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["test"]
    least = {re.split(">=|;", line)[0]: re.split(">=|;", line)[1] for line in wanted}
    section = (ROOT / "tox.ini").read_text(encoding="utf-8").split("[testenv:lowest]")[1]
    pins = dict(re.findall(r"^    ([\w-]+)==([\d.]+)", section.split("[testenv")[0], re.MULTILINE))
    assert pins == least
