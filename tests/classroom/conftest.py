"""Fixtures for grading: a sandbox of this machine, and one at a time who watches the port."""

import fcntl
import tempfile
from pathlib import Path

import pytest

from gpukit.classroom.sandbox import modes
from gpukit.course import warm as warming


@pytest.fixture(scope="package")
def warm():
    """Start the processes of answers from one warm process."""
    with warming.warm():
        yield


@pytest.fixture(scope="session")
def isolation():
    """Return the strongest mode of isolation of this machine."""
    usable = [mode for mode in modes.every() if mode.is_available]
    if not usable:
        pytest.skip("; ".join(f"{mode.name}: {mode.why}. {mode.fix}" for mode in modes.every()))
    return usable[0].name


@pytest.fixture
def port():
    """Hold the port that attacks try to reach: other processes of the test run wait for it."""
    with (Path(tempfile.gettempdir()) / "gpukit-tests-port").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
