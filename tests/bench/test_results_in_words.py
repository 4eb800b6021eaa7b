"""Benchmark results as text, tables and JSON."""

import dataclasses
import json

import pytest

from gpukit import table
from gpukit.bench import report, timing
from gpukit.bench.ceilings import Ceilings
from gpukit.launch import Cost
from gpukit.target import Target

GOOD = timing.Result(
    "saxpy",
    "vector",
    "1,000",
    True,
    "",
    0.5,
    timing.Timing(1e-3, 2e-3, 7),
    Cost(bytes=12_000_000, flops=2_000_000),
    least=12_000_000,
)
WRONG = timing.Result(
    "fill", "vector", "1,000", False, "3 of 9 values are wrong", 0.5, None, Cost(bytes=4, flops=0)
)


CEILINGS = Ceilings(bytes=24e9, flops=1e12, how="fake")


def test_a_row_contains_times_rates_and_a_verdict():
    expected = ["saxpy", "1,000", "1 ms", "2 ms", "12", "2", "2.0", "-", "2.0x faster"]
    assert report.row(GOOD, CEILINGS) == expected


def test_a_row_with_times_that_vary_too_much_has_ranges():
    sides = timing.Spread(1e-3, 1e-3, 2e-3, 7), timing.Spread(2e-3, 2e-3, 2.1e-3, 7)
    varied = timing.Timing(1e-3, 2e-3, 7, 0.31, 0.5, 0.8, 0.6, sides)
    found = dataclasses.replace(GOOD, timing=varied)
    row = report.row(found, CEILINGS)
    assert (row[2], row[3], row[-1]) == ("1 to 2 ms", "2 to 2.1 ms", "busy: 1.25x to 2.0x slower")
    assert any("another program was at work" in note for note in report.notes([found]))
    (row,) = report.as_json([found], Target("cpu", "why"), "x86_64")["results"]
    assert (row["speedup"], row["timing"]["varied"]) == (None, 0.31)


@pytest.fixture
def laid_out():
    """Return the header and two rows at 80 columns: one steady with a long name, one busy."""
    steady = timing.Timing(12.3e-6, 4.56e-6, 7)
    sides = timing.Spread(1e-3, 998e-6, 2e-3, 7), timing.Spread(2e-3, 2e-3, 2.1e-3, 7)
    busy = timing.Timing(1e-3, 2e-3, 7, 0.31, 0.5, 1.8, 0.6, sides)
    found = [
        dataclasses.replace(GOOD, name="vector_add_vectorized", timing=steady),
        dataclasses.replace(GOOD, timing=busy),
    ]
    headers, rows = report.table(found, CEILINGS)
    return table.layout(headers, rows, range(2, len(headers)), 80)


def test_a_steady_row_takes_one_line_of_80_columns(laid_out):
    _, (steady, _) = laid_out
    assert steady[0].endswith("2.7x slower")


def test_a_row_with_ranges_keeps_the_columns_at_80_columns(laid_out):
    heads, (_, busy) = laid_out
    assert heads[0].split()[0] == "kernel"
    assert [line.split()[-1] for line in busy] == ["busy:", "slower", "to", "faster"]


def test_a_row_with_times_that_vary_slightly_has_a_ratio():
    found = dataclasses.replace(GOOD, timing=timing.Timing(1e-3, 2e-3, 7, varied=0.24))
    assert report.row(found, CEILINGS)[-1] == "2.0x faster"
    assert not any("another program was at work" in note for note in report.notes([found]))


def test_a_library_with_times_that_vary_too_much_is_not_compared_with():
    steady, wild = timing.Spread(1e-3, 1e-3, 1e-3, 7), timing.Spread(5e-4, 4e-4, 6e-4, 7)
    found = dataclasses.replace(GOOD, gpu={"gpukit": steady, "CuPy": wild})
    assert report.of_library(found) == "varies by 40 %"


def test_a_failing_library_is_listed_below_the_table():
    found = dataclasses.replace(GOOD, failed={"CuPy": "MemoryError: out of memory"})
    assert "saxpy: CuPy fails: MemoryError: out of memory" in report.notes([found])


def test_a_row_without_ceilings_or_least_bytes_has_no_floor():
    assert report.row(GOOD)[-3] == "-"
    assert report.row(dataclasses.replace(GOOD, least=0), CEILINGS)[-3] == "-"


def test_the_floor_is_the_longer_of_moving_and_computing():
    assert report.over_floor(GOOD, CEILINGS) == pytest.approx(2)  # 12 MB at 24 GB/s: half of 1 ms
    slow = dataclasses.replace(CEILINGS, flops=4e9)
    assert report.over_floor(GOOD, slow) == pytest.approx(2)
    slower = dataclasses.replace(CEILINGS, flops=2e9)
    assert report.over_floor(GOOD, slower) == pytest.approx(1)  # 2 Mflop at 2 Gflop/s: 1 ms


def test_gpu_rows_use_the_gpu_clock_and_name_the_fastest_library():
    spreads = {
        name: timing.Spread(seconds, seconds, seconds, 7)
        for name, seconds in (("gpukit", 5e-4), ("CuPy", 6e-4), ("PyTorch", 4e-4))
    }
    found = report.row(dataclasses.replace(GOOD, gpu=spreads), CEILINGS)
    assert found[2] == "500 us"
    assert found[-3:] == ["1.00", "80 % of PyTorch", "2.0x faster"]


def test_the_ceilings_are_shown_with_their_source():
    assert "24 GB/s, 1000 Gflop/s (fake)" in report.ceiling(CEILINGS)


def test_a_row_has_one_cell_per_header():
    assert len(report.row(GOOD)) == len(report.row(WRONG)) == len(report.HEADERS)


def test_a_table_names_libraries_only_where_they_were_measured():
    headers, (row,) = report.table([GOOD], CEILINGS)
    assert "speed" not in headers
    assert len(row) == len(headers)
    spread = timing.Spread(1e-3, 1e-3, 1e-3, 7)
    on_gpu = dataclasses.replace(GOOD, gpu={"gpukit": spread, "CuPy": spread})
    headers, (row, _) = report.table([on_gpu, WRONG], CEILINGS)
    assert row[headers.index("speed")] == "100 % of CuPy"


def test_a_wrong_answer_has_no_times():
    assert report.row(WRONG)[-1] == "WRONG"
    assert "fill: 3 of 9 values are wrong" in report.notes([WRONG])


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(2.5, "2.5 s"), (0.1, "100 ms"), (1e-6, "1 us"), (5e-9, "5 ns"), (999e-6, "999 us")],
)
def test_a_duration_is_shown_in_a_suitable_unit(seconds, words):
    assert report.duration(seconds) == words


@pytest.mark.parametrize(
    ("speedup", "words"),
    [(0.96, "the same"), (1.2, "1.20x faster"), (0.25, "4.0x slower"), (250.4, "250x faster")],
)
def test_a_verdict_says_faster_or_slower(speedup, words):
    assert report.verdict(speedup) == words


def test_the_json_is_json():
    data = json.loads(json.dumps(report.as_json([GOOD, WRONG], Target("cpu", "why"), "x86_64")))
    assert data["target"] == "cpu"
    assert data["results"][0]["speedup"] == 2.0
    assert data["results"][0]["timing"]["ours"] == 1e-3
    assert data["results"][1]["timing"] is None
