"""Collects the programs of tests/data/programs, a file for each field, and runs one."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gpukit import standin
from tests.conftest import ROOT
from tests.programs.registry import PROGRAMS, Program, compare

__all__ = ["PROGRAMS", "Program", "run"]


@contextmanager
def stood_in() -> Iterator[None]:
    """Let `numba.cuda` mean gpukit for a while."""
    standin.install()
    try:
        yield
    finally:
        standin.uninstall()


with stood_in():
    for file in sorted((ROOT / "tests" / "data" / "programs").glob("*.py")):
        importlib.import_module(f"tests.data.programs.{file.stem}")


def run(program: Program) -> int:
    """Run a program and compare; return how many results it gave."""
    count = 0
    with stood_in(), np.errstate(all="ignore"):
        for got, wanted in program.run():
            compare(got, wanted, program.tolerance)
            count += 1
    return count
