"""The script that is run on a machine with a GPU, run here without one."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from convergence import backend

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "gpu_check.py"


def test_no_gpu_is_exit_code_2():
    if backend.gpu_problem() is None:
        pytest.skip("a GPU is usable here")
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("DeviceError: no usable GPU")


@pytest.mark.parametrize("allowed", [1e-5, -1.0])
def test_on_the_stand_in(library, install, cupyx, allowed, monkeypatch, capsys):
    """Every line says right, or wrong where nothing is allowed."""
    specification = importlib.util.spec_from_file_location("gpu_check", SCRIPT)
    script = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(script)
    monkeypatch.setattr(script, "ALLOWED", dict.fromkeys(script.ALLOWED, allowed))
    install(library)
    code = script.main(["--sizes", "1200", "--dimensions", "2", "8", "--pairs", "1e6"])
    lines = capsys.readouterr().out.splitlines()
    assert code == (1 if allowed < 0.0 else 0)
    assert len(lines) == 6 + 1 + 1 + 8
    assert sum("WRONG" in line for line in lines) == (15 if allowed < 0.0 else 0)
