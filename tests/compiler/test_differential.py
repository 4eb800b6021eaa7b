"""Kernels made at random give the same answer compiled and interpreted."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import HealthCheck, given, note, settings

from gpukit import cuda
from gpukit.compiler.emit import kernel_memory, unroll_and_jam
from tests.compiler import agreement
from tests.compiler.strategies import Program, make_program, plain_cuda, programs, walking_programs

pytestmark = pytest.mark.random

# Each example compiles a kernel, one to three seconds: more of them where there is time.
EXAMPLES = int(os.environ.get("GPUKIT_EXAMPLES", "20"))
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


MANY = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=SLOW,
)


def agree(program: Program) -> None:
    """Run a kernel compiled and interpreted, and demand the same of both."""
    arguments = program.arguments()
    launch = (program.grid, program.block)
    wanted = agreement.expected(program.load(plain_cuda()), *launch, tuple(arguments.values()))
    found = agreement.copies(tuple(arguments.values()))
    program.load(cuda)[launch](*found)
    agreement.assert_same(list(arguments), found, wanted)


@MANY
@given(programs(budget=6))
def test_made_kernels_give_the_same_answer_compiled_and_interpreted(program: Program) -> None:
    note(str(program))
    agree(program)


@MANY
@given(walking_programs(budget=3))
def test_so_do_kernels_that_begin_with_a_walk_of_the_whole_grid(program: Program) -> None:
    note(str(program))
    agree(program)


def test_some_of_them_are_coarsened_and_some_do_rounds_together(monkeypatch, tmp_path):
    monkeypatch.setenv("GPUKIT_CACHE_DIR", str(tmp_path))  # what is on the disk is not compiled
    found: dict[str, set[int]] = {"coarsened": set(), "together": set()}
    makers = (
        (kernel_memory.Memory, "_coarsened_blocks", "coarsened"),
        (unroll_and_jam, "pays", "together"),
    )
    for owner, name, kind in makers:
        original = getattr(owner, name)

        def noted(*given, original=original, kind=kind):
            made = original(*given)
            found[kind].add(made)
            return made

        monkeypatch.setattr(owner, name, noted)
    for seed in range(8):
        agree(make_program(random.Random(seed).randint, 3, walks=True))
    assert max(found["coarsened"]) > 1
    assert found["together"] == {False, True}
