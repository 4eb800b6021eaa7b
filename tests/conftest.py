"""Fixtures and marks of the whole suite.

The suite runs on the cpu target unless GPUKIT_TARGET says otherwise: `GPUKIT_TARGET=cuda make test`
runs the same test bodies on a GPU.
"""

import dataclasses
import gc
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import often

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# Set before any test module imports gpukit.cuda or matplotlib.
os.environ.setdefault("GPUKIT_TARGET", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")
# On a GPU numba-cuda warns of small grids and of arrays from the host, which tests are made of.
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
os.environ.setdefault("NUMBA_CUDA_WARN_ON_IMPLICIT_COPY", "0")

# The first launch of a kernel compiles it, so the time of one example means nothing.
settings.register_profile("gpukit", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("gpukit")


def pytest_configure(config: pytest.Config) -> None:
    """On a GPU warnings of packages whose versions we do not choose are no errors."""
    if os.environ["GPUKIT_TARGET"] == "cuda":
        config.addinivalue_line("filterwarnings", "default")


@pytest.hookimpl(tryfirst=True)  # before marks choose what is left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ["GPUKIT_TARGET"].strip().lower() == "cuda":
        mark, reason = "cpu", "says what only the CPU targets promise"
    else:
        mark, reason = "gpu", "needs a GPU and GPUKIT_TARGET=cuda"
    left_out = {mark: reason}
    if importlib.util.find_spec("numba_cuda") is None:
        left_out["compilers"] = "needs the GPU compiler: gpukit[cuda13] (no GPU is needed)"
    for item in items:
        for mark, reason in left_out.items():
            if item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
    often.mark_exhaustive(items)


def pytest_collection_finish() -> None:
    """Let Python look for cycles seldom, and not among modules and tests, which stay anyway."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Break no line for the width of the terminal that the tests are started from."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def fresh_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Python with these arguments in a new process, warnings being errors there too."""

    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))

    def run(
        *arguments: str, folder: Path = ROOT, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise, as it does unless a shell started the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run blocks one after another, which adds atomics of floats up in the same order."""
    monkeypatch.setenv("GPUKIT_THREADS", "1")


@dataclasses.dataclass
class Device:
    """What a grid-stride launch asks of a device."""

    MULTIPROCESSOR_COUNT: int
    MAX_THREADS_PER_MULTIPROCESSOR: int
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: int = 65536


@pytest.fixture
def use_device(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let grids that the device sizes be those of a device with other limits.

    As numba-cuda's, the device is known by a weak proxy: nothing can hash it.
    """
    from gpukit import launch

    def use(*limits: int) -> None:
        device = Device(*limits)
        monkeypatch.setattr(launch.cuda, "get_current_device", lambda: weakref.proxy(device))

    return use


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser; the test skips where it is not installed.

    Not for the whole session: while it is open an event loop runs in this thread, and other
    files' tests call asyncio.run.
    """
    library = pytest.importorskip(
        "playwright.sync_api", reason="playwright is missing: pip install playwright"
    )
    path = os.environ.get("GPUKIT_CHROMIUM") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    if path is None:
        pytest.skip("Chromium is missing: on Debian, apt-get install chromium")
    with library.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
