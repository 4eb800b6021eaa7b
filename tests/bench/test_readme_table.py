"""The README's table of variants: adding, replacing and rejecting results."""

import datetime

import pytest

from gpukit.bench import readme_table, register, timing
from gpukit.launch import Cost

DAY = datetime.date(2026, 11, 22)
FILE = f"Before.\n{readme_table.BEGIN}\n{readme_table.END}\nAfter.\n"


def result(variant, milliseconds):
    """Return the result of a matrix product of 2 Gflop that took this long."""
    found = timing.Timing(milliseconds / 1e3, 1.0, 5) if milliseconds else None
    return timing.Result(
        f"matmul_{variant}", "matmul", "1000", bool(found), "", 0.1, found, Cost(1, 2 * 10**9), 1
    )


def lines(text):
    return text.splitlines()


def test_a_first_run_writes_a_table_between_the_markers():
    text = readme_table.merged(
        FILE, [result("naive", 500), result("tiled", 20)], "cpu, 2 cores", DAY
    )
    assert lines(text) == [
        "Before.",
        readme_table.BEGIN,
        "| Gflop/s | cpu, 2 cores, 1000, 2026-11-22 |",
        "| --- | ---: |",
        "| naive | 4.00 |",
        "| tiled | 100 |",
        readme_table.END,
        "After.",
    ]


def test_a_second_run_replaces_only_the_column_of_its_own_machine():
    first = readme_table.merged(FILE, [result("naive", 500)], "cpu, 2 cores", DAY)
    both = readme_table.merged(first, [result("naive", 1)], "cuda, H200", DAY)
    again = readme_table.merged(both, [result("naive", 250)], "cpu, 2 cores", DAY)
    assert lines(again)[2:5] == [
        "| Gflop/s | cpu, 2 cores, 1000, 2026-11-22 | cuda, H200, 1000, 2026-11-22 |",
        "| --- | ---: | ---: |",
        "| naive | 8.00 | 2000 |",
    ]


def test_figures_of_another_machine_keep_their_rows_when_variants_are_added():
    first = readme_table.merged(FILE, [result("tiled", 20)], "cuda, H200", DAY)
    both = readme_table.merged(
        first, [result("naive", 500), result("tiled", 40)], "cpu, 2 cores", DAY
    )
    assert lines(both)[4:6] == ["| naive | 4.00 | - |", "| tiled | 50.0 | 100 |"]


def test_other_kernels_are_left_out():
    results = [result("naive", 500), result("batched", 1)]
    assert "batched" not in readme_table.merged(FILE, results, "cpu", DAY)


def test_a_wrong_result_is_not_written():
    with pytest.raises(register.BenchError, match="wrong ones of matmul_tiled"):
        readme_table.merged(FILE, [result("naive", 500), result("tiled", 0)], "cpu", DAY)


def test_a_file_without_markers_is_rejected():
    with pytest.raises(register.BenchError, match="variants begin"):
        readme_table.merged("Nothing.\n", [result("naive", 500)], "cpu", DAY)
