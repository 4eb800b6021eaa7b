"""Programs in the style of other people's code have no finding in checked mode.

A separate file, which xdist can run in parallel with the plain launches.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpukit import target
from gpukit.checked import process
from tests.programs.collected import PROGRAMS, Program, run

pytestmark = pytest.mark.programs


@pytest.mark.skipif(
    target.wanted() == "cuda", reason="checked mode instruments launches of the CPU target"
)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_has_no_finding_in_checked_mode(program: Program) -> None:
    with process.checking() as reports:
        assert run(program) > 0
    found = [f for report in reports for f in report.findings if f.severity != "info"]
    unexpected = [f for f in found if f.kind not in (*program.warns, "float64")]
    assert [f"{f.kind}, {Path(f.file).name}:{f.line}: {f.message}" for f in unexpected] == []
