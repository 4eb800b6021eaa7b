"""Times that scripts of `benchmarks/` take from recorded runs: nothing is timed."""

import doctest
import json
from pathlib import Path

import pytest

from benchmarks import harness, records, speed
from gpukit.bench import cases, launches, recorded

ROW = (
    "| kernel | size | met | estimated, V100 |\n|---|---|---|---|\n| saxpy | 30,000 | yes | 1 us |"
)


def test_examples_in_the_docstrings_are_right() -> None:
    assert doctest.testmod(records).failed == 0


def test_the_records_that_lessons_show_are_those_of_the_committed_runs() -> None:
    assert json.loads(recorded.RECORDS.read_text()) == records.collected()


def test_a_rehearsal_is_not_a_record(tmp_path: Path) -> None:
    seconds = {"gpukit": {"median": 2e-5}}
    result = {"kernel": "sum_shuffle", "size": "1,000", "seconds": seconds, "of": {}}
    run = {"environment": {"device": "NVIDIA X"}, "results": [result]}
    for name, rehearsal in (("gpu_a", True), ("gpu_b", False)):
        (tmp_path / f"{name}.json").write_text(json.dumps(run | {"rehearsal": rehearsal}))
    (found,) = records.of_gpus(tmp_path)
    assert (found["device"], found["seconds"]) == ("NVIDIA X", 2e-5)


@pytest.mark.cpu
def test_a_recorded_table_gets_a_new_column_of_a_gpu() -> None:
    head, _, line = speed.with_gpu(ROW, "RTX 3080").splitlines()
    assert head == "| kernel | size | met | estimated, RTX 3080 |"
    found = launches.gpu_time(lambda: cases.CASES["saxpy"].of(30_000), "RTX 3080")
    assert found is not None
    assert line == f"| saxpy | 30,000 | yes | {found.cell} |"


@pytest.mark.cpu
def test_renewed_estimates_leave_the_recorded_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tmp_path / "speed.md"
    text = f"About.\n\n{ROW}\n\n| rest |"
    document.write_text(f"<!-- speed begin -->\n\n{text}\n\n<!-- speed end -->")
    monkeypatch.setattr(harness, "SPEED", document)
    monkeypatch.setattr(harness.finish, "__kwdefaults__", {"document": document, "results": None})
    assert speed.main(["--estimates", "--write"]) == 0
    found = harness.section("speed")
    assert found.startswith("About.\n\n| kernel | size | met | estimated, RTX 3080 |")
    assert found.endswith("\n\n| rest |")
    assert "| saxpy | 30,000 | yes |" in found
