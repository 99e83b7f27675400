"""Devices: detected in one place, refused by name."""

import sys
import types

import pytest

from convergence import backend
from convergence.errors import DeviceError, InvalidInputError


@pytest.fixture
def fake_cupy(monkeypatch):
    """A CuPy that imports, as it does on machines without a driver."""

    def install(count):
        def device_count():
            if count is None:
                raise RuntimeError("CUDA driver version is insufficient")
            return count

        cupy = types.ModuleType("cupy")
        cupy.cuda = types.SimpleNamespace(
            runtime=types.SimpleNamespace(getDeviceCount=device_count)
        )
        import numpy as np

        cupy.arange = np.arange
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        backend.gpu_problem.cache_clear()

    yield install
    backend.gpu_problem.cache_clear()


@pytest.mark.parametrize(("count", "problem"), [(0, "no CUDA device"), (None, "insufficient")])
def test_an_import_is_not_a_device(fake_cupy, count, problem):
    fake_cupy(count)
    assert backend.resolve_device("auto") == "cpu"
    with pytest.raises(DeviceError, match=problem):
        backend.resolve_device("cuda")


def test_a_usable_device(fake_cupy):
    fake_cupy(1)
    assert backend.resolve_device("auto") == "cuda"
    assert backend.resolve_device("cpu") == "cpu"
    with backend.use_device("auto"):
        assert backend.current_device() == "cuda"
    assert backend.current_device() == "cpu"


def test_unknown_device():
    with pytest.raises(InvalidInputError, match="choose one of"):
        backend.resolve_device("tpu")
