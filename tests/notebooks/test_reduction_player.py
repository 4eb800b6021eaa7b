"""Lesson 04 describes the player's steps as the player shows them."""

import re

import numpy as np
import pytest

import gpukit
from tests.notebooks import running

LESSON = running.FOLDER / "04_reduction.ipynb"


@pytest.fixture(scope="module")
def cells():
    return {cell.id: cell.source for cell in running.read(LESSON).cells}


@pytest.fixture(scope="module")
def recording(cells, tmp_path_factory):
    file = tmp_path_factory.mktemp("lesson") / "tree.py"
    file.write_text(f"import numpy as np\nfrom gpukit import cuda\n{cells['code-07']}")
    names = {}
    exec(compile(file.read_text(), file, "exec"), names)
    x, out = np.arange(64, dtype=np.float32), np.zeros(1, np.float32)
    return gpukit.play(names["tree_kernel"])[1, 64](x, out).recording


def accesses(recording, number, kind):
    """Return (array, index, thread, value) of the accesses of a step, counted from 1."""
    step = recording["steps"][number - 1]
    return [
        (recording["arrays"][array]["name"], index, 32 * step["warp"] + lane, value)
        for array, index, lane, value, *_ in step.get(kind, ())
    ]


def test_the_lesson_names_the_steps_that_read_and_write(cells, recording):
    written, read = map(int, re.findall(r"step\s(\d+)", cells["text-10"]))
    (reads,) = accesses(recording, read, "reads")
    assert reads[:3] == ("tile", 32, 0)
    (writes,) = accesses(recording, written, "writes")
    assert writes == ("tile", 32, 32, reads[3])


def test_the_sum_in_the_player_is_correct(recording):
    count = len(recording["steps"])
    written = [w for k in range(count) for w in accesses(recording, k + 1, "writes")]
    assert [value for name, *_, value in written if name == "out"] == [2016]


def test_thread_32_writes_as_often_as_the_race_was_reported(cells, recording):
    (race,) = recording["findings"]
    assert race["count"] == 5
    assert "caught 5 times" in cells["text-10"].replace("\n", " ")
