"""Collects and runs the programs of tests/data/programs, one file per field."""

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
def numba_cuda_replaced() -> Iterator[None]:
    """Replace `numba.cuda` by gpukit inside a `with` block."""
    standin.install()
    try:
        yield
    finally:
        standin.uninstall()


with numba_cuda_replaced():
    for file in sorted((ROOT / "tests" / "data" / "programs").glob("*.py")):
        importlib.import_module(f"tests.data.programs.{file.stem}")


def run(program: Program) -> int:
    """Run a program and compare its results with their references; return their number."""
    count = 0
    with numba_cuda_replaced(), np.errstate(all="ignore"):
        for got, wanted in program.run():
            compare(got, wanted, program.tolerance)
            count += 1
    return count
