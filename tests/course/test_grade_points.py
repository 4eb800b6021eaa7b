"""What costs an answer points although all of its values are right."""

from dataclasses import replace

import pytest

from gpukit.course import catalogue, frames, grade, launches, runner
from gpukit.course.contracts import Contract
from gpukit.course.runner import Outcome
from gpukit.course.verdicts import Row
from tests.course.changes import body, edit
from tests.course.maps import RIGHT

PREVIOUS_LANE = """
    tile = cuda.shared.array(1024, "float32")
    tid, i = cuda.threadIdx.x, cuda.grid(1)
    if i < out.size:
        tile[tid] = a[i]
        before = tile[tid - 1 if tid % 32 else tid]  # of the same warp
        out[i] = a[i] + b[i] if before == before else a[i]
"""
TILE_IS_FULL = "    cuda.syncthreads()  # the tile is full"
EARLY_RETURN = "    if i >= x.shape[0] and tid > 0:\n        return\n"


@pytest.fixture
def graded(tmp_path, warm):
    """Return a function that grades the right answer to guarded_map with other contracts."""

    def graded(**changes):
        exercise = catalogue.find("guarded_map")
        file = tmp_path / "answer.py"
        file.write_text(RIGHT, encoding="utf-8")
        contracts = tuple(replace(one, **changes) for one in exercise.contracts[:1])
        return grade.run(replace(exercise, contracts=contracts), file)

    return graded


def test_a_race_within_a_warp_is_wrong(attempt):
    report = attempt("zip_add", body(PREVIOUS_LANE))
    assert {row.status for row in report.rows if not row.name.startswith("checked")} == {"right"}
    assert report.status == "wrong"
    assert "by luck" in report.why


def test_a_failure_that_does_not_come_again_is_a_failure(graded, monkeypatch):
    launched, seen = launches.Launches.launched, []

    def wrong_once(self, case):
        tried = launched(self, case)
        seen.append(case)
        wrong = Row(case.name, "wrong", "An element is wrong.")
        return replace(tried, row=wrong) if len(seen) == 1 else tried

    monkeypatch.setattr(launches.Launches, "launched", wrong_once)
    report = graded()
    assert report.status == "wrong"
    assert report.why == "An element is wrong."


def test_a_barrier_after_a_return_costs_half_of_the_points(attempt):
    report = attempt("block_sum", edit((TILE_IS_FULL, EARLY_RETURN + TILE_IS_FULL)))
    assert report.status == "but"
    assert "returned" in report.why


@pytest.mark.parametrize(
    ("least", "most", "kept"),
    [(None, 4, range(5)), (4, None, range(4, 9)), (4, 4, [4]), (None, 0, [0])],
)
def test_a_contract_is_kept_between_its_bounds(least, most, kept):
    contract = Contract("barriers", at_least=least, at_most=most)
    assert [count for count in range(9) if contract.is_kept(count)] == list(kept)


def test_a_contract_is_counted_on_its_own_case(graded):
    assert graded(case="exactly one block").passed
    assert graded(case="exactly one block", at_most=0).status == "but"


def test_an_answer_that_cannot_be_counted_in_time_has_no_points(graded, monkeypatch):
    late = Outcome("timeout", facts={"seconds": 20})
    monkeypatch.setattr(runner.Child, "profile", lambda *_: late)
    assert graded().status == "timeout"


def test_a_process_that_breaks_the_protocol_has_no_points(graded, monkeypatch):
    def broken(*_):
        raise frames.ProtocolError("too long")

    monkeypatch.setattr(launches.Launches, "launched", broken)
    report = graded()
    assert report.status == "protocol"
    assert report.why == "The process that ran your file did not send a readable result."
