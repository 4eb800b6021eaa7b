"""Loads the corpus of bugs and runs its kernels under the checker."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import gpukit
from tests.bugs.kernels import BUGS, CORRECT, Bug, Correct, Launch
from tests.bugs.programs import RACES, Race
from tests.conftest import ROOT

__all__ = ["BUGS", "CORRECT", "RACES", "Bug", "Correct", "Race", "checked", "report_of"]

for _file in sorted((ROOT / "tests" / "data" / "bugs").glob("*.py")):
    importlib.import_module(f"tests.data.bugs.{_file.stem}")


def checked(kernel: Any, launch: Launch, arguments: tuple[Any, ...]) -> Any:
    """Return the report of one checked launch of a kernel."""
    return gpukit.check(kernel)[launch.grid, launch.block, 0, launch.shared](*arguments)


@functools.cache
def report_of(name: str) -> Any:
    """Return the report of a bug; its kernel is launched once."""
    bug = BUGS[name]
    return checked(bug.kernel, bug.launch, bug.arguments())
