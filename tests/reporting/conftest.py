import importlib.util
from pathlib import Path

import pytest


def _beside(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def handmade():
    """The module of the study made by hand."""
    return _beside("handmade")


@pytest.fixture(scope="session")
def expected(handmade):
    """Its verdicts by (claim, check, quantity, function), worked out in plain NumPy and scipy."""
    return _beside("expected").rows(handmade)


@pytest.fixture(scope="session")
def axes():
    """Functions that read a figure back."""
    return _beside("axes")
