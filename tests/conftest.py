from pathlib import Path

import pytest


@pytest.fixture
def tiny():
    """Path of a study with one claim and 32 cells."""
    return Path(__file__).parent / "studies" / "tiny.py"
