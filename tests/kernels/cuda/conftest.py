"""The kernel source built for the CPU, and a stand-in for CuPy that launches it.

Everything around the kernel runs as it does on a GPU: `convergence.kernels.cuda` asks the stand-in
for a module, for a function by its name expression, and launches it with a grid, a block and typed
arguments. Arrays go to the kernel with a margin of NaN behind their last element; reading it spoils
the result and writing it is noticed.
"""

import ctypes
import itertools
import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import linalg

from convergence import backend
from convergence.kernels.cuda import SOURCE, _kernel

HERE = Path(__file__).parent
FLAGS = ["-std=c++17", "-O2", "-fno-gnu-unique", "-Wl,-Bsymbolic", "-shared", "-fPIC"]
FLAGS += ["-Wno-unknown-pragmas"]
MARGIN = 256
FAULTS = {1: "a thread left before a barrier", 2: "an argument has another size"}
PROGRAM = """
#include "cuda_on_cpu.h"
#include "{source}"
#define KERNEL(name, ...) \\
    extern "C" int name(const unsigned* grid, unsigned block, int reverse, void** arguments, \\
                        const int* sizes) {{ \\
        return launch(gaussian_sums<__VA_ARGS__>, grid, block, reverse, arguments, sizes); \\
    }}
"""


def name_expression(real, dimension, columns):
    rows = 2 if real == "float" and dimension <= 8 else 1
    return f"gaussian_sums<{real}, {dimension}, {columns}, {rows}>"


def symbol(name):
    return "".join(c if c.isalnum() else "_" for c in name)


def build(folder, source, names):
    """A shared library with one entry a name expression, from the text of a kernel."""
    (folder / "kernel.cu").write_text(source)
    kernels = (f"KERNEL({symbol(n)}, {n.partition('<')[2].rstrip('>')})" for n in names)
    program = PROGRAM.format(source=folder / "kernel.cu") + "\n".join(kernels) + "\n"
    (folder / "kernels.cpp").write_text(program)
    library = folder / "kernels.so"
    command = ["g++", *FLAGS, f"-I{HERE}", str(folder / "kernels.cpp"), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


class Function:
    """A kernel that runs on the CPU, called as CuPy calls one."""

    def __init__(self, entry, reverse):
        self.entry, self.reverse = entry, reverse

    def __call__(self, grid, block, arguments):
        padded = [np.append(a, np.full(MARGIN, _filler(a), a.dtype)) for a in arguments if a.ndim]
        arrays = iter(padded)
        cells = [np.array(next(arrays).ctypes.data) if a.ndim else np.array(a) for a in arguments]
        addresses = (ctypes.c_void_p * len(cells))(*(cell.ctypes.data for cell in cells))
        sizes = (ctypes.c_int * len(cells))(*(cell.itemsize for cell in cells))
        problem = self.entry(
            (ctypes.c_uint * 2)(*grid), block[0], int(self.reverse), addresses, sizes
        )
        assert problem == 0, FAULTS[problem]
        for array, copy in zip((a for a in arguments if a.ndim), padded, strict=True):
            np.testing.assert_array_equal(copy[array.size :], _filler(array))
            array[...] = copy[: array.size].reshape(array.shape)


def _filler(array):
    return np.nan if array.dtype.kind == "f" else 1 << 30


class Device:
    """A CuPy in which modules come from a library built for the CPU."""

    def __init__(self, library):
        self.library, self.reverse = library, False
        self.cupy = types.ModuleType("cupy")
        for name in dir(np):
            if not name.startswith("__"):
                setattr(self.cupy, name, getattr(np, name))
        self.cupy.cuda = types.SimpleNamespace(
            runtime=types.SimpleNamespace(getDeviceCount=lambda: 1),
            Device=lambda: types.SimpleNamespace(
                synchronize=lambda: None,
                compute_capability="90",
                attributes={"ClockRate": 1_000_000, "MultiProcessorCount": 1},
            ),
        )
        self.cupy.asnumpy = np.array
        self.cupy.RawModule = self.module

    def module(self, code, options, name_expressions):
        assert any(option.startswith("-std=c++") for option in options)
        assert code == SOURCE.read_text()
        return types.SimpleNamespace(get_function=self.function)

    def function(self, name):
        return Function(getattr(self.library, symbol(name)), self.reverse)


@pytest.fixture
def install(monkeypatch):
    """Make a stand-in that launches from a library the CuPy of this process."""

    def put(library):
        device = Device(library)
        monkeypatch.setitem(sys.modules, "cupy", device.cupy)
        backend.gpu_problem.cache_clear()
        _kernel.cache_clear()
        return device

    yield put
    backend.gpu_problem.cache_clear()
    _kernel.cache_clear()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Build the text of a kernel for the CPU, for some number types, dimensions and columns."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed: the CUDA source cannot be run on the CPU")

    def compile_for(source, reals, dimensions, columns):
        every = itertools.product(reals, dimensions, columns)
        names = [name_expression(*one) for one in every]
        return build(tmp_path_factory.mktemp("kernels"), source, names)

    return compile_for


@pytest.fixture(scope="session")
def library(compiled):
    """The source as it is, for all number types, dimensions and column counts that tests use."""
    return compiled(SOURCE.read_text(), ["float", "double"], [1, 2, 3, 8, 16], [0, 1, 2, 3, 4])


@pytest.fixture(params=[False, True], ids=["forward", "reverse"])
def device(request, library, install):
    """The stand-in, with the threads of a block in either order."""
    device = install(library)
    device.reverse = request.param
    return device


@pytest.fixture
def cupyx(monkeypatch):
    """SciPy's operators and solvers where CuPy's would be; counts the solvers' calls."""
    calls = []

    def eigsh(*arguments, **options):
        calls.append(options)
        return linalg.eigsh(*arguments, **options)

    name = "cupyx.scipy.sparse.linalg"
    module = types.ModuleType(name)
    module.LinearOperator, module.eigsh, module.calls = linalg.LinearOperator, eigsh, calls
    for part in ("cupyx", "cupyx.scipy", "cupyx.scipy.sparse"):
        monkeypatch.setitem(sys.modules, part, types.ModuleType(part))
    monkeypatch.setitem(sys.modules, name, module)
    return module
