"""Programs in the style of other people's code give the results of their references."""

from __future__ import annotations

import pytest

from tests.programs.collected import PROGRAMS, Program, run

pytestmark = pytest.mark.programs


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_gives_the_results_of_its_reference(program: Program) -> None:
    assert run(program) > 0
