"""Kernels made at random give the same answer compiled and interpreted."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, note, settings

from gpukit import cuda
from tests.compiler import agreement
from tests.compiler.strategies import Program, plain_cuda, programs

# Each example compiles a kernel, one to three seconds: more of them where there is time.
EXAMPLES = int(os.environ.get("GPUKIT_EXAMPLES", "20"))
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=SLOW,
)
@given(programs(budget=6))
def test_made_kernels_give_the_same_answer_compiled_and_interpreted(program: Program) -> None:
    note(str(program))
    arguments = program.arguments()
    launch = (program.grid, program.block)
    wanted = agreement.expected(program.load(plain_cuda()), *launch, tuple(arguments.values()))
    found = agreement.copies(tuple(arguments.values()))
    program.load(cuda)[launch](*found)
    agreement.assert_same(list(arguments), found, wanted)
