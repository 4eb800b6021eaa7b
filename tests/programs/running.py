"""Collects the programs of this folder, a file for each field, and runs one."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from gpukit import standin
from tests.programs.registry import PROGRAMS, Program, compare

__all__ = ["PROGRAMS", "Program", "run"]

FOLDER = Path(__file__).resolve().parent
NOT_PROGRAMS = {"registry", "conftest", "running"}


@contextmanager
def stood_in() -> Iterator[None]:
    """Let `numba.cuda` mean gpukit for a while."""
    standin.install()
    try:
        yield
    finally:
        standin.uninstall()


with stood_in():
    for file in sorted(FOLDER.glob("*.py")):
        if file.stem not in NOT_PROGRAMS and not file.stem.startswith("test_"):
            importlib.import_module(f"tests.programs.{file.stem}")


def run(program: Program) -> int:
    """Run a program and compare; return how many results it gave."""
    count = 0
    with stood_in(), np.errstate(all="ignore"):
        for got, wanted in program.run():
            compare(got, wanted, program.tolerance)
            count += 1
    return count
