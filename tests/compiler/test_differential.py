"""Differential tests: random kernels give the same results compiled and interpreted."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import HealthCheck, given, note, settings

from gpukit import cuda
from gpukit.compiler.emit import kernel_memory, unroll_and_jam
from tests.compiler import agreement
from tests.compiler.strategies import Program, make_program, plain_cuda, programs, striding_programs

pytestmark = pytest.mark.random

# Each example compiles a kernel, which takes one to three seconds.
EXAMPLES = int(os.environ.get("GPUKIT_EXAMPLES", "12"))
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
    """Run a kernel compiled and interpreted and assert that the results are equal."""
    arguments = program.arguments()
    launch = (program.grid, program.block)
    wanted = agreement.expected(program.load(plain_cuda()), *launch, tuple(arguments.values()))
    found = agreement.copies(tuple(arguments.values()))
    program.load(cuda)[launch](*found)
    agreement.assert_same(list(arguments), found, wanted)


@MANY
@given(programs(budget=6))
def test_random_kernels_give_the_same_results_compiled_and_interpreted(program: Program) -> None:
    note(str(program))
    agree(program)


@MANY
@given(striding_programs(budget=3))
def test_random_kernels_that_begin_with_grid_stride_loops_give_the_same_results(
    program: Program,
) -> None:
    note(str(program))
    agree(program)


def test_some_random_kernels_are_coarsened_and_some_loops_are_jammed(monkeypatch, tmp_path):
    monkeypatch.setenv("GPUKIT_CACHE_DIR", str(tmp_path))  # cached kernels would not be compiled
    found: dict[str, set[int]] = {"coarsened": set(), "jammed": set()}
    decisions = (
        (kernel_memory.Memory, "_coarsened_blocks", "coarsened"),
        (unroll_and_jam, "pays", "jammed"),
    )
    for owner, name, kind in decisions:
        original = getattr(owner, name)

        def recorded(*arguments, original=original, kind=kind):
            result = original(*arguments)
            found[kind].add(result)
            return result

        monkeypatch.setattr(owner, name, recorded)
    for seed in range(8):
        agree(make_program(random.Random(seed).randint, 3, strides=True))
    assert max(found["coarsened"]) > 1
    assert found["jammed"] == {False, True}
