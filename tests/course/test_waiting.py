"""Progress messages while grading."""

import threading

import pytest

from gpukit.course import catalogue, grade, waiting
from tests.course.maps import GOOD_MAP, MAP

WAIT = 60.0


@pytest.mark.slow
def test_progress_is_printed_repeatedly_without_a_terminal():
    lines, seen = [], threading.Semaphore(0)

    def line(text):
        lines.append(text)
        seen.release()

    with waiting.Waiting("running your file", line) as announce:
        assert seen.acquire(timeout=WAIT)
        announce("compiling relu_kernel")
        assert all(seen.acquire(timeout=WAIT) for _ in range(2))
    assert lines[0].split(": ")[0].split("...")[1].strip() == "running your file"
    assert "compiling relu_kernel" in lines[-1]
    assert all(len(text) < 80 for text in lines)


def test_grading_reports_when_each_stage_starts_and_ends(tmp_path, warm):
    noticed, file = [], tmp_path / "answer.py"
    file.write_text(MAP + GOOD_MAP)
    grade.run(catalogue.find("guarded_map"), file, notice=noticed.append)
    assert noticed[:2] == ["starting Python and Numba", ""]
    assert "compiling fahrenheit_kernel" in noticed
    assert noticed[-1] == ""
