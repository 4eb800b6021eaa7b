"""Programs as other people write them have no finding in checked mode, and the same values.

A file of its own, so that it runs beside the plain ones.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpukit import target
from gpukit.checked import process
from tests.programs.collected import PROGRAMS, Program, run

pytestmark = pytest.mark.programs


@pytest.mark.skipif(target.wanted() == "cuda", reason="the CPU's launches are watched")
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_program_has_no_finding_when_checked(program: Program) -> None:
    with process.checking() as reports:
        assert run(program) > 0
    found = [f for report in reports for f in report.findings if f.severity != "info"]
    alarms = [f for f in found if f.kind not in (*program.warns, "float64")]
    assert [f"{f.kind}, {Path(f.file).name}:{f.line}: {f.message}" for f in alarms] == []
