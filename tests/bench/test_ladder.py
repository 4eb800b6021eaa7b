"""The README's ladder: what is written, what is kept, what is refused."""

import datetime

import pytest

from gpukit.bench import ladder, register, timing
from gpukit.launch import Cost

DAY = datetime.date(2026, 11, 22)
FILE = f"Before.\n{ladder.BEGIN}\n{ladder.END}\nAfter.\n"


def result(rung, milliseconds):
    """Return a product of 2 Gflop measured in so many milliseconds."""
    found = timing.Timing(milliseconds / 1e3, 1.0, 5) if milliseconds else None
    return timing.Result(
        f"matmul_{rung}", "matmul", "1000", bool(found), "", 0.1, found, Cost(1, 2 * 10**9), 1
    )


def lines(text):
    return text.splitlines()


def test_a_first_run_writes_a_table_between_the_marks():
    text = ladder.merged(FILE, [result("naive", 500), result("tiled", 20)], "cpu, 2 cores", DAY)
    assert lines(text) == [
        "Before.",
        ladder.BEGIN,
        "| Gflop/s | naive | tiled |",
        "| --- | ---: | ---: |",
        "| cpu, 2 cores, 1000, 2026-11-22 | 4.00 | 100 |",
        ladder.END,
        "After.",
    ]


def test_a_second_run_replaces_the_line_of_its_own_machine_only():
    first = ladder.merged(FILE, [result("naive", 500)], "cpu, 2 cores", DAY)
    both = ladder.merged(first, [result("naive", 1)], "cuda, H200", DAY)
    again = ladder.merged(both, [result("naive", 250)], "cpu, 2 cores", DAY)
    assert lines(again)[4:6] == [
        "| cpu, 2 cores, 1000, 2026-11-22 | 8.00 |",
        "| cuda, H200, 1000, 2026-11-22 | 2000 |",
    ]


def test_figures_of_another_machine_stay_in_their_columns_when_rungs_join():
    first = ladder.merged(FILE, [result("tiled", 20)], "cuda, H200", DAY)
    both = ladder.merged(first, [result("naive", 500), result("tiled", 40)], "cpu, 2 cores", DAY)
    assert lines(both)[5] == "| cuda, H200, 1000, 2026-11-22 | - | 100 |"


def test_other_kernels_are_left_out():
    results = [result("naive", 500), result("batched", 1)]
    assert "batched" not in ladder.merged(FILE, results, "cpu", DAY)


def test_a_wrong_answer_is_not_written():
    with pytest.raises(register.BenchError, match="wrong ones of matmul_tiled"):
        ladder.merged(FILE, [result("naive", 500), result("tiled", 0)], "cpu", DAY)


def test_a_file_without_marks_is_refused():
    with pytest.raises(register.BenchError, match="ladder begin"):
        ladder.merged("Nothing.\n", [result("naive", 500)], "cpu", DAY)
