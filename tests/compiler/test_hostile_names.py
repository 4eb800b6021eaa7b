"""A kernel's names change neither its code nor its results.

Every variable, parameter, function and module of the book's kernels, of the programs and of
random kernels gets a name that the compiler could confuse with its own (`hostile.py`).
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from gpukit import cuda
from gpukit.bench.cases import CASES
from gpukit.bench.launches import first_launch
from gpukit.cpu.launch import launcher
from tests import often
from tests.compiler import hostile
from tests.compiler.hostile import MODES, Exchange
from tests.compiler.hostile_runs import outcome, recording
from tests.compiler.strategies import Program, make_program
from tests.programs.collected import PROGRAMS, run

pytestmark = pytest.mark.usefixtures("one_thread")
COUNT = int(os.environ.get("GPUKIT_EXAMPLES", "500"))
PER_TEST = 25  # kernels of one test
# One case for each kernel of the book.
BOOK = list({id(case.kernel): name for name, case in CASES.items()}.values())


def assert_same_code(kernel: Any, arguments: Any, block: Any, mode: str, seed: int) -> None:
    """Assert that hostile names change nothing in a kernel's code but the names."""
    wanted, generated = hostile.form(Exchange(hostile.same), kernel, arguments, block, mode)
    exchange = Exchange(hostile.hostile(seed, generated))
    found, _ = hostile.form(exchange, kernel, arguments, block, mode)
    assert found == wanted


def random_kernel(seed: int) -> tuple[Program, Any, tuple[Any, ...]]:
    program = make_program(random.Random(seed).randint, 6, strides=seed % 5 == 4)
    return program, program.load(cuda), tuple(program.arguments().values())


@pytest.mark.parametrize("name", often.each(BOOK, 6))
@pytest.mark.costly
def test_code_of_the_book_is_the_same_under_hostile_names(name):
    kernel, shape, arguments = first_launch(name)
    assert_same_code(kernel, arguments, shape.block, "", BOOK.index(name))


@pytest.mark.watched
@pytest.mark.parametrize("name", often.each(BOOK, 12))
def test_instrumented_code_of_the_book_is_the_same_under_hostile_names(name):
    kernel, shape, arguments = first_launch(name)
    for mode in MODES[1:]:
        assert_same_code(kernel, arguments, shape.block, mode, BOOK.index(name))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.costly
def test_code_of_a_random_kernel_is_the_same_under_hostile_names(seed):
    program, kernel, arguments = random_kernel(seed)
    for mode in MODES:
        assert_same_code(kernel, arguments, (*program.block, 1, 1)[:3], mode, seed)


@pytest.mark.random
@pytest.mark.parametrize("first", often.each(range(0, COUNT, PER_TEST), 10))
def test_code_of_many_random_kernels_is_the_same_under_hostile_names(first):
    for seed in range(first, first + PER_TEST):
        program, kernel, arguments = random_kernel(seed)
        block = (*program.block, 1, 1)[:3]
        assert_same_code(kernel, arguments, block, MODES[seed % len(MODES)], seed)


@pytest.mark.random
@pytest.mark.parametrize("seed", often.each(range(1000, 1006), 6))
def test_a_random_kernel_gives_the_same_results_under_hostile_names(seed):
    program, kernel, arguments = random_kernel(seed)
    launch = kernel, (program.grid, program.block), arguments
    wanted = outcome(Exchange(hostile.same), *launch)
    _, generated = hostile.form(
        Exchange(hostile.same), kernel, arguments, (*program.block, 1, 1)[:3]
    )
    exchange = Exchange(hostile.hostile(seed, generated))
    assert outcome(exchange, *launch) == wanted
    assert recording(exchange, *launch) == recording(Exchange(hostile.same), *launch)


@pytest.mark.watched
@pytest.mark.parametrize("name", often.each(BOOK[::12], 4))
def test_a_kernel_of_the_book_gives_the_same_results_under_hostile_names(name):
    kernel, shape, arguments = first_launch(name)
    launch = kernel, (shape.grid, shape.block, 0, shape.shared), arguments
    exchange = Exchange(hostile.hostile(BOOK.index(name)))
    assert outcome(exchange, *launch) == outcome(Exchange(hostile.same), *launch)


@pytest.mark.programs
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_program_gives_the_same_values_under_hostile_names(program, monkeypatch):
    exchange = Exchange(hostile.hostile(0))

    def observer(kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> None:
        launcher.observe_launches(None)
        try:
            exchange(kernel)[shape.grid, shape.block, shape.stream, shape.shared](*arguments)
        finally:
            launcher.observe_launches(observer)

    before = launcher.observe_launches(observer)
    try:
        assert run(program) > 0
    finally:
        launcher.observe_launches(before)
