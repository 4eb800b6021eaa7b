"""Fixtures and marks of the whole test suite.

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
# On a GPU numba-cuda warns of small grids and of host arrays, which most tests use.
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
os.environ.setdefault("NUMBA_CUDA_WARN_ON_IMPLICIT_COPY", "0")

# No deadlines: the first launch of a kernel compiles it.
settings.register_profile("gpukit", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("gpukit")


def pytest_configure(config: pytest.Config) -> None:
    """On a GPU, do not turn warnings into errors: the versions of its packages are not pinned."""
    if os.environ["GPUKIT_TARGET"] == "cuda":
        config.addinivalue_line("filterwarnings", "default")


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects by mark
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ["GPUKIT_TARGET"].strip().lower() == "cuda":
        mark, reason = "cpu", "tests what only the CPU targets promise"
    else:
        mark, reason = "gpu", "needs a GPU and GPUKIT_TARGET=cuda"
    skipped = {mark: reason}
    if importlib.util.find_spec("numba_cuda") is None:
        skipped["compilers"] = "needs the GPU compiler: gpukit[cuda13] (no GPU is needed)"
    for item in items:
        for mark, reason in skipped.items():
            if item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
    often.mark_exhaustive(items)


def pytest_collection_finish() -> None:
    """Run the garbage collector seldom, and not on modules and tests, which are never freed."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wrap output to the width of the terminal in which the tests run."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def fresh_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Python with these arguments in a new process, with warnings as errors."""

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
    """Let SIGINT raise KeyboardInterrupt, even if a shell runs the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run blocks sequentially, so that atomic sums of floats are reproducible."""
    monkeypatch.setenv("GPUKIT_THREADS", "1")


@dataclasses.dataclass
class Device:
    """The device attributes that size a grid-stride launch."""

    MULTIPROCESSOR_COUNT: int
    MAX_THREADS_PER_MULTIPROCESSOR: int
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: int = 65536


@pytest.fixture
def use_device(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replace the device that sizes grid-stride launches by one with other limits.

    The device is a weak proxy, which is unhashable, as in numba-cuda.
    """
    from gpukit import launch

    def use(*limits: int) -> None:
        device = Device(*limits)
        monkeypatch.setattr(launch.cuda, "get_current_device", lambda: weakref.proxy(device))

    return use


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser; the test skips where it is not installed.

    Per module and not per session: while it is open an event loop runs in this thread, and tests of
    other files call asyncio.run.
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
