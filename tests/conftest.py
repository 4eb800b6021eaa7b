"""Fixtures and marks of the whole suite.

The suite runs on the cpu target unless GPUKIT_TARGET says otherwise: `GPUKIT_TARGET=cuda make test`
runs the same test bodies on a GPU.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# Set before any test module imports gpukit.cuda or matplotlib.
os.environ.setdefault("GPUKIT_TARGET", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")

# The first launch of a kernel compiles it, so the time of one example means nothing.
settings.register_profile("gpukit", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("gpukit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    from gpukit import target

    reason = "needs a GPU and GPUKIT_TARGET=cuda"
    if target.wanted() != "cuda":
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


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
