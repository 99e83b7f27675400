"""The CUDA source compiles for every generation of GPUs that is supported; no driver is needed."""

import ctypes
import importlib.util
from pathlib import Path

import pytest

from convergence.kernels.cuda import OPTIONS, SOURCE

TARGETS = [75, 80, 90, 100, 120]
NAMES = [
    "gaussian_sums<float, 1, 0, 2>",
    "gaussian_sums<float, 8, 4, 2>",
    "gaussian_sums<float, 16, 4, 1>",
    "gaussian_sums<double, 1, 0, 1>",
    "gaussian_sums<double, 16, 4, 1>",
]


def nvrtc_library():
    """NVRTC from its wheel: CUDA 12 has a folder for it, CUDA 13 one for everything."""
    for package, folder in (("nvidia.cuda_nvrtc", "lib"), ("nvidia.cu13", "lib")):
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for place in found.submodule_search_locations or [] if found else []:
            for library in sorted((Path(place) / folder).glob("libnvrtc.so.*")):
                return ctypes.CDLL(str(library))
    return None


@pytest.fixture(scope="module")
def nvrtc():
    library = nvrtc_library()
    if library is None:
        pytest.skip("the NVRTC wheel (nvidia-cuda-nvrtc-cu12) is not installed")
    return library


def text_of(nvrtc, what, program):
    size = ctypes.c_size_t()
    assert getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) == 0
    text = ctypes.create_string_buffer(size.value)
    assert getattr(nvrtc, f"nvrtcGet{what}")(program, text) == 0
    return text.raw


@pytest.mark.parametrize("target", TARGETS)
def test_source_compiles(nvrtc, target):
    n = ctypes.c_int()
    nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(n))
    supported = (ctypes.c_int * n.value)()
    nvrtc.nvrtcGetSupportedArchs(supported)
    if target not in supported:
        pytest.skip(f"this NVRTC does not know sm_{target}")
    program = ctypes.c_void_p()
    source = SOURCE.read_text().encode()
    assert (
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"gaussian_sums.cu", 0, None, None)
        == 0
    )
    for name in NAMES:
        assert nvrtc.nvrtcAddNameExpression(program, name.encode()) == 0
    flags = [option.encode() for option in (*OPTIONS, f"-arch=sm_{target}")]
    failed = nvrtc.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*flags))
    log = text_of(nvrtc, "ProgramLog", program).rstrip(b"\0").decode()
    assert not failed, log
    assert not log
    machine_code = text_of(nvrtc, "CUBIN", program)
    for name in NAMES:
        lowered = ctypes.c_char_p()
        assert nvrtc.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(lowered)) == 0
        assert lowered.value in machine_code
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
