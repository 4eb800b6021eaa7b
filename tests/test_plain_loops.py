"""Plain loops generated from kernels, and the benchmark that compares kernels with them."""

import doctest
import json
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.plain_loops import book, plain, run
from benchmarks.plain_loops import case as cases
from benchmarks.plain_loops.case import Case, case, mistake, theirs
from benchmarks.plain_loops.reasons import REASONS
from gpukit import cuda
from gpukit.bench import register

pytestmark = pytest.mark.usefixtures("one_thread")
GRID, BLOCK = (3, 2, 2), (5, 3, 2)
SIZE = 7


def indices_kernel(out):
    x, y, z = cuda.grid(3)
    out[z, y, x] = cuda.threadIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockDim.z + cuda.gridDim.x


def strides_kernel(out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = 2 * i


def returns_kernel(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    for row in range(3):
        for k in range(x.size):
            if x[k] == i:
                out[i] = 10 * row + k
                return
    out[i] = -1


def halves_kernel(n, out):
    i = cuda.grid(1)
    while n > 1:
        n //= 2
        out[i] += n


@cuda.jit(device=True)
def twice(x):
    return 2 * x


@cuda.jit(device=True)
def twice_and_one(x):
    return twice(x) + 1


def local_kernel(out, sums):
    i = cuda.grid(1)
    own = cuda.local.array(3, out.dtype)
    for k in range(3):
        own[k] = twice_and_one(i) + k
    for k in range(3):
        out[i] += own[k]
    if cuda.atomic.add(sums, 0, i) == 0:
        cuda.atomic.max(sums, 1, 5)


def barrier_kernel(out):
    cuda.syncthreads()
    out[cuda.grid(1)] = 1


def ones_kernel(out):
    out[cuda.grid(1)] = 1


def _run(kernel, grid, block, *arguments):
    plain.loops(kernel)(grid, block, *arguments)
    return arguments[-1]


# ---- generated loops ------------------------------------------------------------------------


def test_loops_visit_every_thread_with_its_indices() -> None:
    shape = tuple(g * b for g, b in zip(GRID[::-1], BLOCK[::-1], strict=True))
    z, y, x = np.indices(shape)
    expected = x % BLOCK[0] + 10 * (y // BLOCK[1]) + 100 * BLOCK[2] + GRID[0]
    out = _run(indices_kernel, GRID, BLOCK, np.full(shape, -1))
    np.testing.assert_array_equal(out, expected)


def test_a_grid_stride_loop_covers_more_elements_than_threads() -> None:
    out = _run(strides_kernel, (2, 1, 1), (3, 1, 1), np.full(20, -1))
    np.testing.assert_array_equal(out, 2 * np.arange(20))


def test_a_return_from_nested_loops_continues_with_the_next_thread() -> None:
    x = np.array([5, 0, 3])
    out = _run(returns_kernel, (4, 1, 1), (2, 1, 1), x, np.full(SIZE, 77))
    np.testing.assert_array_equal(out, [1, -1, -1, 2, -1, 0, -1])


def test_a_parameter_reassigned_by_a_thread_is_unchanged_for_others() -> None:
    out = _run(halves_kernel, (3, 1, 1), (1, 1, 1), 8, np.zeros(3))
    np.testing.assert_array_equal(out, [7, 7, 7])


@pytest.mark.slow
def test_local_arrays_atomics_and_nested_device_functions_are_supported() -> None:
    out, sums = np.zeros(6), np.zeros(2)
    plain.loops(local_kernel)((3, 1, 1), (2, 1, 1), out, sums)
    np.testing.assert_array_equal(out, 3 * (2 * np.arange(6) + 1) + 3)
    np.testing.assert_array_equal(sums, [15, 5])


def test_a_kernel_that_synchronizes_is_refused() -> None:
    with pytest.raises(plain.Synchronizes, match=r"barrier_kernel uses cuda\.syncthreads"):
        plain.loops(barrier_kernel)


def test_every_kernel_of_the_book_that_is_refused_uses_a_collective_operation() -> None:
    reasons = []
    for name, entry in register.CASES.items():
        try:
            name in book.BY_HAND or plain.loops(entry.kernel)
        except plain.Synchronizes as error:
            reasons.append(str(error))
    collective = re.compile(r"uses cuda\.(shared\.array|sync\w+|shfl\w+|cg\.\w+|threadfence)$")
    assert [reason for reason in reasons if not collective.search(reason)] == []


@pytest.mark.parametrize("name", book.BY_HAND)
@pytest.mark.costly
def test_handwritten_loops_compute_the_results_of_their_kernel(name: str) -> None:
    comparison = book.make(name, quick=True)
    theirs(comparison)()
    assert not mistake(comparison)


def test_handwritten_loops_belong_to_kernels_of_the_book() -> None:
    assert set(book.BY_HAND) <= set(register.CASES)


@pytest.mark.slow
def test_a_case_restores_arrays_that_its_launches_accumulate_in() -> None:
    comparison = book.make("add_offsets")
    row = run.measure("add_offsets", "book", comparison, rounds=1, seconds=0)
    assert not row.wrong
    assert not mistake(comparison)


def test_examples_in_the_docstrings_are_right() -> None:
    for module in (plain, cases):
        assert doctest.testmod(module).failed == 0


# ---- the benchmark --------------------------------------------------------------------------


def _case(by: int = 0, **options) -> Case:
    return case(ones_kernel, 2, 3, (np.full(6, np.nan),), np.ones(6) + by, **options)


def test_both_sides_of_a_case_are_timed_equally_often() -> None:
    row = run.measure("ones", "tests", _case(), rounds=3, seconds=9)
    assert [len(times) for times in row.seconds.values()] == [3, 3]


def test_a_side_with_wrong_results_is_named_and_not_timed() -> None:
    row = run.measure("ones", "tests", _case(1), rounds=1, seconds=9)
    assert row.wrong.startswith("plain: 6 of 6 values are wrong")
    assert not row.seconds


def test_an_element_that_the_loops_do_not_write_is_a_wrong_result() -> None:
    row = run.measure("ones", "tests", _case(by_hand=lambda *_: None), rounds=1, seconds=9)
    assert "expected 1, got nan" in row.wrong


def test_a_wrong_result_fails_the_run_and_hides_no_other_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = {"right": ("tests", _case), "wrong": ("tests", lambda: _case(1))}
    monkeypatch.setattr(run, "makers", lambda: cases)
    assert run.main(["--rounds", "1"]) == 1
    table = capsys.readouterr().out
    assert "| right | tests | generated |" in table
    assert "**WRONG: wrong (plain: 6 of 6 values are wrong" in table


def test_a_few_elements_may_differ_where_a_case_allows_it() -> None:
    tolerant = _case(few=2)
    tolerant.answers[0][0][:] = [1, 1, 1, 1, 0, 0]
    assert not mistake(tolerant)
    tolerant.answers[0][0][0] = 0
    assert mistake(tolerant).startswith("3 of 6 values are wrong")


def test_fields_and_parts_of_complex_numbers_are_compared_separately() -> None:
    records = np.zeros(2, [("a", "f4"), ("b", "c8")])
    expected = records.copy()
    expected["b"][1] = 1j
    assert mistake(Case([], [(records, expected)])).startswith("1 of 2 values are wrong")


def test_a_slow_kernel_without_a_reason_has_a_question_mark() -> None:
    rows = [
        run.Row(name, "tests", seconds={"ours": [ours], "plain": [1.0]})
        for name, ours in (("fast", 1.25), ("slow", 1.26))
    ]
    lines = run.table(rows).splitlines()
    assert lines[-2].endswith("| 1.26 | ? |")
    assert lines[-1].endswith("| 1.25 |  |")


@pytest.mark.parametrize("name", ["window_sum_padded", "particles_records", "csr_spmv"])
@pytest.mark.costly
def test_a_case_outside_the_book_is_right_on_both_sides(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "loops.json"
    arguments = ["--only", name, "--rounds", "1", "--seconds", "0", "--json", str(out)]
    assert run.main(arguments) == 0
    assert f"| {name} |" in capsys.readouterr().out
    (row,) = json.loads(out.read_text())["rows"]
    assert set(row["median"]) == {"ours", "plain"}


def test_names_of_cases_are_unique_and_reasons_belong_to_cases() -> None:
    others = [maker.__name__ for topic in run.TOPICS.values() for maker in topic.CASES]
    names = [*register.CASES, *others]
    assert len(names) == len(set(names))
    assert set(REASONS) <= set(names)
