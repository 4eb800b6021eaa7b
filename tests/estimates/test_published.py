"""The published times and the record of how far estimates were off."""

import json

import pytest

from benchmarks import estimates, harness
from gpukit.bench.cases import CASES
from gpukit.bench.recorded import RECORDS
from gpukit.estimates import gpus, model, published
from gpukit.estimates.model import Constants, Work

TABLES = json.loads(estimates.TIMES.read_text(encoding="utf-8"))["tables"]
OWN = [
    row
    for row in json.loads(RECORDS.read_text(encoding="utf-8"))["gpu"]
    if estimates.OWN_GPU in row["device"] and row["kernel"] in CASES
]
TIMES = [time for table in TABLES for time in table["times"]]


def test_every_table_names_its_source():
    assert all("README" in t["source"] or "CSV" in t["source"] for t in TABLES)
    assert len(TIMES) == 106


def test_every_published_time_has_a_launch_and_a_gpu():
    assert {time["variant"] for time in TIMES} == set(estimates.launches())
    assert {time["gpu"] for time in TIMES} <= set(gpus.MACHINES)


def test_a_reduction_is_launched_until_one_value_is_left():
    grids = [grid for _, grid, _, _ in estimates.launches()["reduce_two_loads"]]
    assert grids == [65536, 64, 1]


def test_the_record_covers_all_published_times():
    record = published.record()
    others = [row for row in record["tables"] if row["table"] != estimates.OWN]
    assert sum(row["times"] for row in others) == len(TIMES)
    assert Constants(**record["constants"]) == model.FITTED
    assert record["fitted_on"] == estimates.FITTED_ON


def test_the_record_covers_the_gpu_on_which_kernels_of_gpukit_were_timed():
    (row,) = published.tested(gpus.find(estimates.OWN_GPU))
    assert (row.table, row.times) == (estimates.OWN, len(OWN))


def test_the_document_has_a_row_for_each_time():
    text = estimates.DOCUMENT.read_text(encoding="utf-8")
    rows = text.partition("<!-- every time begin -->")[2].partition("<!-- every time end -->")[0]
    assert rows.count("\n| ") == len(TIMES) + len(OWN) + 1


def case(variant, measured, gpu="RTX 3080", table="t", requests=1e9):
    work = Work(blocks=10**4, threads=256, global_requests=requests)
    return estimates.Case(table, gpu, variant, measured, False, [work])


def test_off_is_a_factor_of_at_least_one():
    likely = case("a", 1.0).estimate().likely
    assert case("a", likely / 2).off() == pytest.approx(2)
    assert case("a", likely * 2).off() == pytest.approx(2)


def test_pairs_that_differ_by_less_than_a_fifth_have_no_order():
    cases = [case("a", 1.0), case("b", 1.1), case("c", 2.0, requests=2e9)]
    assert estimates.in_order(cases) == (2, 2)


def test_pairs_of_different_gpus_are_not_compared():
    assert estimates.in_order([case("a", 1.0), case("b", 2.0, gpu="V100")]) == (0, 0)


def test_fit_takes_the_constants_that_are_least_off():
    wanted = Constants(3.0, 0.9, 4.0)
    works = [
        Work(blocks=10**4, threads=256, global_requests=1e9, instructions=1e10, trips=t, lines=1e9)
        for t in (1e6, 1e8, 1e9)
    ]
    cases = [
        estimates.Case("t", gpu, "v", model.times(w, gpus.find(gpu), wanted).likely, False, [w])
        for w in works
        for gpu in ("RTX 3080", "V100")
    ]
    assert estimates.fit(cases) == wanted


def test_the_document_is_the_one_of_the_benchmark():
    assert estimates.DOCUMENT == harness.ROOT / "docs" / "estimates.md"
