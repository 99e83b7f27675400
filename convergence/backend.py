"""Which device computes. The one place that finds out whether a GPU is usable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

import numpy as np

from .errors import DeviceError, InvalidInputError

DEVICES = ("auto", "cpu", "cuda")


@lru_cache(maxsize=1)
def gpu_problem() -> str | None:
    """Why no GPU is usable here, or None where one is.

    CuPy imports on machines without a driver, so a device is counted and a tiny sum computed.
    """
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed (pip install 'continuum-limits[cuda12]' or '[cuda13]')"
    try:
        if cupy.cuda.runtime.getDeviceCount() < 1:
            return "CuPy sees no CUDA device"
        if float(cupy.arange(3.0).sum()) != 3.0:
            return "a sum on the CUDA device came out wrong"
    except Exception as error:  # a missing or broken driver raises many kinds
        return f"CuPy cannot use the CUDA device: {error}"
    return None


def resolve_device(device: str = "auto") -> str:
    """ "cpu" or "cuda"; "auto" takes the GPU where one is usable.

    Raises
    ------
    InvalidInputError
        For an unknown name.
    DeviceError
        When "cuda" is asked for where no GPU is usable.
    """
    if device not in DEVICES:
        raise InvalidInputError(f"unknown device {device!r}; choose one of {', '.join(DEVICES)}")
    if device == "cpu":
        return "cpu"
    problem = gpu_problem()
    if device == "cuda" and problem:
        raise DeviceError(f"no usable GPU: {problem}; use device='cpu' or 'auto'")
    return "cpu" if problem else "cuda"


def array_module(device: str):
    """The array library of a resolved device."""
    if device == "cuda":
        import cupy

        return cupy
    return np


_current: ContextVar[str] = ContextVar("device", default="cpu")


def current_device() -> str:
    """The device that sums are computed on in this thread."""
    return _current.get()


@contextmanager
def use_device(device: str) -> Iterator[None]:
    """Compute on a resolved device inside a with block."""
    token = _current.set(resolve_device(device))
    try:
        yield
    finally:
        _current.reset(token)
