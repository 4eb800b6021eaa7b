"""Whoever waits for grading is told what takes long."""

import threading

import pytest

from gpukit.course import catalogue, grade, waiting
from tests.course.maps import GOOD_MAP, MAP

WAIT = 60.0


@pytest.mark.slow
def test_what_goes_on_is_printed_again_and_again_where_there_is_no_terminal():
    lines, seen = [], threading.Semaphore(0)

    def line(text):
        lines.append(text)
        seen.release()

    with waiting.Waiting("running your file", line) as told:
        assert seen.acquire(timeout=WAIT)
        told("compiling relu_kernel")
        assert all(seen.acquire(timeout=WAIT) for _ in range(2))
    assert lines[0].split(": ")[0].split("...")[1].strip() == "running your file"
    assert "compiling relu_kernel" in lines[-1]
    assert all(len(text) < 80 for text in lines)


def test_grading_says_what_it_does_and_when_that_is_over(tmp_path, warm):
    noticed, file = [], tmp_path / "answer.py"
    file.write_text(MAP + GOOD_MAP)
    grade.run(catalogue.find("guarded_map"), file, notice=noticed.append)
    assert noticed[:2] == ["starting Python and Numba", ""]
    assert "compiling fahrenheit_kernel" in noticed
    assert noticed[-1] == ""
