"""Programs as other people write them give the values of their references, plain and checked.

Each file beside this one holds programs of one field, written for `numba.cuda` and unchanged.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from gpukit import standin, target
from gpukit.checked import process
from tests.programs.registry import PROGRAMS, Program, compare

FOLDER = Path(__file__).resolve().parent
NOT_PROGRAMS = {"registry", "conftest"}


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

EACH = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())


def run(program: Program) -> int:
    """Run a program and compare; return how many results it gave."""
    count = 0
    with stood_in(), np.errstate(all="ignore"):
        for got, wanted in program.run():
            compare(got, wanted, program.tolerance)
            count += 1
    return count


@EACH
def test_program_gives_the_values_of_its_reference(program: Program) -> None:
    assert run(program) > 0


@pytest.mark.skipif(target.wanted() == "cuda", reason="the CPU's launches are watched")
@EACH
def test_program_has_no_finding_when_checked(program: Program) -> None:
    with process.checking() as reports:
        assert run(program) > 0
    found = [f for report in reports for f in report.findings if f.severity != "info"]
    alarms = [f for f in found if f.kind not in (*program.warns, "float64")]
    assert [f"{f.kind}, {Path(f.file).name}:{f.line}: {f.message}" for f in alarms] == []
