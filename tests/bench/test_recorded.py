"""Recorded GPU results: read from files of gpu_run.py and shown in lessons."""

import json

from gpukit import draw
from gpukit.bench import recorded


def record(folder, *, rehearsal=False):
    """Write what gpu_run.py writes, for one kernel."""
    spread = {"median": 2e-5, "low": 1.9e-5, "high": 2.1e-5, "samples": 30}
    result = {
        "kernel": "sum_shuffle",
        "size": "10,000,000",
        "seconds": {"gpukit": spread},
        "of": {"torch": 1.25, "cupy": 0.9},
    }
    text = {"environment": {"device": "NVIDIA X"}, "rehearsal": rehearsal, "results": [result]}
    (folder / "gpu_x.json").write_text(json.dumps(text))


def test_a_recorded_kernel_is_a_row_with_its_fraction_of_the_fastest_library(tmp_path):
    record(tmp_path)
    row = ["NVIDIA X", "sum_shuffle", "10,000,000", "20 us", "90 % of cupy"]
    assert recorded.rows(["sum"], tmp_path) == [row]


def test_other_kernels_are_left_out(tmp_path):
    record(tmp_path)
    assert recorded.rows(["dot", "shuffle"], tmp_path) == []


def test_a_rehearsal_is_not_shown_as_a_record(tmp_path):
    record(tmp_path, rehearsal=True)
    assert recorded.rows(["sum"], tmp_path) == []


def test_lesson_says_that_there_is_no_record(monkeypatch, tmp_path):
    monkeypatch.setattr(recorded.rows, "__defaults__", (tmp_path,))
    words = "No GPU time of these kernels has been recorded yet."
    assert repr(draw.recorded("sum")) == words
    assert draw.recorded("sum")._repr_html_() == f"<p>{words}</p>"


def test_records_are_shown_as_a_table(monkeypatch, tmp_path):
    record(tmp_path)
    monkeypatch.setattr(recorded.rows, "__defaults__", (tmp_path,))
    assert "90 % of cupy" in repr(draw.recorded("sum"))
    assert draw.recorded("sum")._repr_html_().count("<td>") == 4
