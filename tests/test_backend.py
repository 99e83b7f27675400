"""Devices: detected in one place, refused by name."""

import sys
import types

import numpy as np
import pytest

from convergence import backend
from convergence.errors import DeviceError, InvalidInputError
from convergence.kernels import gaussian_sums


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


def test_sums_go_to_the_device_and_come_back(fake_cupy):
    """Above 16 dimensions a GPU runs the block engine; here its array library is a stand-in."""
    fake_cupy(1)
    used = []

    def asnumpy(array):
        used.append(array.shape)
        return array

    cupy = sys.modules["cupy"]
    for name in dir(np):
        if not name.startswith("__"):
            setattr(cupy, name, getattr(np, name))
    cupy.asnumpy = asnumpy
    x = np.random.default_rng(0).standard_normal((20, 17))
    on_cpu = gaussian_sums(x[:5], x, 3.0, values=x)
    with backend.use_device("cuda"):
        on_device = gaussian_sums(x[:5], x, 3.0, values=x)
    assert used == [(5,), (5, 17)]
    for one, other in zip(on_cpu, on_device, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_unknown_device():
    with pytest.raises(InvalidInputError, match="choose one of"):
        backend.resolve_device("tpu")
