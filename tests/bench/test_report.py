"""Numbers become words and JSON."""

import json

import pytest

from gpukit.bench import report, timing
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
)
WRONG = timing.Result(
    "fill", "vector", "1,000", False, "3 of 9 values are wrong", 0.5, None, Cost(bytes=4, flops=0)
)


def test_a_row_holds_times_rates_and_a_verdict():
    assert report.row(GOOD) == ["saxpy", "1,000", "1 ms", "2 ms", "12", "2", "2.0 times faster"]


def test_a_row_has_a_cell_for_each_header():
    assert len(report.row(GOOD)) == len(report.row(WRONG)) == len(report.HEADERS)


def test_a_wrong_answer_has_no_times():
    assert report.row(WRONG)[-1] == "WRONG"
    assert "fill: 3 of 9 values are wrong" in report.notes([WRONG])


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(2.5, "2.5 s"), (0.1, "100 ms"), (1e-6, "1 us"), (5e-9, "5 ns"), (999e-6, "999 us")],
)
def test_a_duration_is_given_in_the_unit_that_suits_it(seconds, words):
    assert report.duration(seconds) == words


@pytest.mark.parametrize(
    ("speedup", "words"),
    [
        (0.96, "the same"),
        (1.2, "1.20 times faster"),
        (0.25, "4.0 times slower"),
        (250.4, "250 times faster"),
    ],
)
def test_a_verdict_says_faster_or_slower(speedup, words):
    assert report.verdict(speedup) == words


def test_the_json_is_json():
    data = json.loads(json.dumps(report.as_json([GOOD, WRONG], Target("cpu", "why"), "x86_64")))
    assert data["target"] == "cpu"
    assert data["results"][0]["speedup"] == 2.0
    assert data["results"][0]["timing"]["ours"] == 1e-3
    assert data["results"][1]["timing"] is None
