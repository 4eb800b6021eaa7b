"""Recordings of real launches: steps, barriers, findings, and their page in the player."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpukit
from gpukit import cuda, errors
from gpukit.checked import recording
from tests.checked.plain_kernels import copy_kernel, count_kernel
from tests.checked.recorded import (
    BLOCK,
    add_kernel,
    after,
    places_kernel,
    record,
    reduce_kernel,
    registers_at_end,
    steps_at,
)
from tests.checked.replayed import RETURNED, state_at
from tests.checked.reports import line_of


def test_step_has_the_line_that_it_executes():
    recording = record(add_kernel, (1, 40), *np.ones((3, 35), np.float32))
    stores = steps_at(recording, line_of(add_kernel, "out[i] = "))
    work = [s for s in stores if s["kind"] == "run"]
    assert [(s["warp"], s["lanes"]) for s in work] == [(0, 0xFFFFFFFF), (1, 0b111)]
    assert [(len(s["reads"]), len(s["writes"])) for s in work] == [(64, 32), (6, 3)]


def test_condition_is_a_branch_of_all_lanes_that_evaluate_it():
    recording = record(add_kernel, (1, 40), *np.ones((3, 35), np.float32))
    requests = steps_at(recording, line_of(add_kernel, "if i < "))
    assert [(s["kind"], s["warp"], s["lanes"]) for s in requests] == [
        ("branch", 0, 0xFFFFFFFF),
        ("branch", 1, 0xFF),
    ]


def test_every_step_has_a_line_of_the_source():
    recording = record(reduce_kernel, (2, BLOCK), np.ones(100, np.float32), np.zeros(1, np.float32))
    known = {row["line"] for row in recording["source"]}
    assert {step["line"] for step in recording["steps"]} <= known
    texts = [row["text"] for row in recording["source"]]
    assert texts[:2] == ["@cuda.jit", "def reduce_kernel(x, total):"]


def test_recording_states_what_was_launched():
    recording = record(places_kernel, ((2, 2), (4, 4)), np.zeros((5, 7), np.int32))
    assert (recording["kernel"], recording["grid"], recording["block"]) == (
        "places_kernel",
        [2, 2, 1],
        [4, 4, 1],
    )
    assert Path(recording["file"]).name == "recorded.py"
    assert recording["truncated"] is None


def test_a_recording_names_the_cell_of_a_notebook(monkeypatch):
    compiler = SimpleNamespace(format_code_name=lambda file: ("Cell", "In[3]"))
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(compile=compiler))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    out = np.zeros(70, np.float32)
    assert record(copy_kernel, (2, BLOCK), np.ones(70, np.float32), out)["file"] == "Cell In[3]"


def test_variables_hold_the_value_of_each_thread():
    recording = record(add_kernel, (2, 40), *np.ones((3, 75), np.float32))
    rows = registers_at_end(recording, "i")
    assert [v for row in rows for v in row if v is not None] == list(range(80))
    assert [len(rows), rows[1][8:]] == [4, [None] * 24]


def test_loop_variable_has_its_final_value():
    recording = record(reduce_kernel, (1, BLOCK), np.ones(64, np.float32), np.zeros(1, np.float32))
    assert registers_at_end(recording, "step") == [[0] * 32] * 2
    halves = [
        s["set"]["step"]["0"] for s in recording["steps"] if s["warp"] == 0 and "step" in s["set"]
    ]
    assert halves == [32, 16, 8, 4, 2, 1, 0]


def test_an_atomic_writes_its_new_value():
    recording = record(count_kernel, (1, 5), np.zeros(5, np.int32), np.full(1, 10, np.int32))
    writes = [w for step in recording["steps"] for w in step["writes"]]
    assert [(index, lane, value, atomic) for _, index, lane, value, atomic in writes] == [
        (0, lane, 11 + lane, 1) for lane in range(5)
    ]


def test_atomic_without_a_change_writes_the_current_value():
    total = np.full(1, 50, np.int32)
    recording = record(largest_kernel, (1, 5), total)
    assert total[0] == 50
    assert after(recording, "total") == [[50]]


@cuda.jit
def largest_kernel(total):
    cuda.atomic.max(total, 0, cuda.grid(1))


def test_all_warps_reach_a_barrier():
    recording = record(reduce_kernel, (2, BLOCK), np.ones(100, np.float32), np.zeros(1, np.float32))
    barriers = [s for s in recording["steps"] if s["kind"] == "barrier" and s["block"] == 1]
    assert [s["warp"] for s in barriers] == [0, 1] * 7
    assert {s["lanes"] for s in barriers} == {0xFFFFFFFF}


@cuda.jit
def early_exit_kernel(x):
    tx = cuda.threadIdx.x
    if tx < 8:
        x[tx] = tx
        cuda.syncwarp(0xFF)
        return
    cuda.syncthreads()
    x[tx] += 1


def test_lanes_that_have_returned_take_no_part_in_a_barrier():
    recording = record(early_exit_kernel, (1, BLOCK), np.zeros(BLOCK, np.int32))
    barriers = [s for s in recording["steps"] if s["kind"] == "barrier"]
    assert [(s["warp"], s["lanes"]) for s in barriers] == [(0, 0xFFFFFF00), (1, 0xFFFFFFFF)]


def test_a_syncwarp_is_a_step_of_the_lanes_that_call_it():
    recording = record(early_exit_kernel, (1, BLOCK), np.zeros(BLOCK, np.int32))
    synced = [s for s in recording["steps"] if s["kind"] == "syncwarp"]
    assert [(s["warp"], s["lanes"]) for s in synced] == [(0, 0xFF)]


def test_lanes_that_return_early_return_on_that_line():
    recording = record(early_exit_kernel, (1, BLOCK), np.zeros(BLOCK, np.int32))
    (first, *_) = [s for s in recording["steps"] if s["kind"] == "return"]
    assert (first["line"], first["lanes"]) == (line_of(early_exit_kernel, "return"), 0xFF)


@pytest.mark.parametrize("n", [40, 64])
def test_every_lane_has_returned_at_the_end(n):
    recording = record(early_exit_kernel, (2, n), np.zeros(n, np.int32))
    for warp in state_at(recording, len(recording["steps"]))["warps"]:
        present = min(32, n - 32 * warp["warp"])
        assert warp["lanes"][:present] == [RETURNED] * present


def test_grid_sync_is_one_step_of_each_warp():
    recording = record(grid_kernel, (3, 40), np.zeros(120, np.int32))
    met = [
        (s["block"], s["warp"], s["lanes"]) for s in recording["steps"] if s["kind"] == "grid_sync"
    ]
    assert sorted(met) == [(b, w, m) for b in range(3) for w, m in ((0, 0xFFFFFFFF), (1, 0xFF))]


@cuda.jit
def grid_kernel(x):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    x[i] = i
    grid.sync()
    x[i] += 1


# --- Findings and ends -----------------------------------------------------------------------


@cuda.jit
def late_race_kernel(out):
    tx = cuda.threadIdx.x
    for k in range(4):
        out[tx * (3 - k)] = 10 * k + tx
        cuda.syncthreads()


@cuda.jit
def outside_kernel(out):
    i = cuda.grid(1)
    out[i] = i


def place_of(recording, found):
    """Return the step of a finding, and whether its thread accesses its element there."""
    step = recording["steps"][found["step"]]
    names = [a["name"] for a in recording["arrays"]]
    lane = found["threads"][0][0] % 32
    touched = {(names[a], i) for a, i, who, *_ in step["reads"] + step["writes"] if who == lane}
    return step, (found["array"], found["index"][0]) in touched


def test_finding_is_at_the_step_of_its_warp_and_line():
    recording = record(outside_kernel, (2, 40), np.zeros(70, np.int32))
    (found,) = recording["findings"]
    step = recording["steps"][found["step"]]
    assert found["kind"] == "out-of-bounds"
    assert (step["block"], step["warp"], step["line"]) == (1, 0, line_of(outside_kernel, "out[i]"))


def test_finding_in_a_loop_is_at_the_iteration_in_which_it_occurs():
    recording = record(late_race_kernel, (1, 8), np.zeros(22, np.int32))
    (found,) = [f for f in recording["findings"] if f["kind"] == "global-race"]
    step, touches = place_of(recording, found)
    assert touches
    assert [w[3] for w in step["writes"]] == list(range(30, 38))


def test_finding_without_a_line_has_no_step():
    recording = record(add_kernel, (3, BLOCK), *np.ones((3, 5), np.float32))
    assert [(f["kind"], f["step"]) for f in recording["findings"]] == [("idle-threads", None)]


def test_out_of_bounds_write_is_not_recorded_as_a_write():
    out = np.zeros(70, np.int32)
    recording = record(outside_kernel, (2, 40), out)
    np.testing.assert_array_equal(out, np.arange(70))
    assert after(recording, "out") == [out.tolist()]


def test_recording_with_too_many_events_says_that_it_is_truncated(monkeypatch):
    monkeypatch.setattr(recording, "MOST_EVENTS", 100)
    out = np.zeros(70, np.float32)
    result = record(copy_kernel, (2, BLOCK), np.ones(70, np.float32), out)
    assert result["truncated"].startswith("The steps end in block 1 of 2.")
    assert (out == 1).all()
    assert sum(after(result, "out")[0]) < 70


def test_invalid_launch_is_not_recorded():
    with pytest.raises(errors.LaunchError):
        gpukit.play(copy_kernel)[1, 2048]


def test_recording_is_deterministic():
    def page():
        total = np.zeros(1, np.float32)
        return gpukit.play(reduce_kernel)[2, BLOCK](np.ones(100, np.float32), total).html

    assert page() == page()


# --- The page --------------------------------------------------------------------------------


def test_the_page_of_a_real_launch_opens_at_its_first_finding(show):
    recording = record(outside_kernel, (2, 40), np.zeros(70, np.int32))
    shown = show(recording)
    (found,) = recording["findings"]
    assert shown.position == found["step"] + 1
    assert found["message"] in shown.text("#finding")
    assert shown.console == []


def test_the_page_of_a_real_launch_replays_what_the_recording_says(show):
    recording = record(reduce_kernel, (2, BLOCK), np.ones(100, np.float32), np.zeros(1, np.float32))
    shown = show(recording)
    for position in (0, len(recording["steps"]) // 3, len(recording["steps"])):
        text = shown.go_to(position).page.evaluate("JSON.stringify(gpukitPlayer.replay.snapshot())")
        assert json.loads(text) == state_at(recording, position)


def test_the_page_of_a_long_array_shows_its_beginning(show, monkeypatch):
    monkeypatch.setattr(recording, "MOST_ELEMENTS", 8)
    result = record(copy_kernel, (2, BLOCK), np.arange(70.0), np.zeros(70))
    shown = show(result).keys("End")
    assert shown.cell(1, 7)["text"] == "7"
    assert shown.console == []


@cuda.jit
def uniform_kernel(x, n):
    tile = cuda.shared.array(BLOCK, np.float32)
    for k in range(2):
        if n > k:
            tile[cuda.threadIdx.x] = x[cuda.threadIdx.x] + k
            cuda.syncthreads()
        half = n // 2
        cuda.syncthreads()
    x[cuda.threadIdx.x] = tile[cuda.threadIdx.x] + half


@pytest.mark.parametrize("text", ["for k in range", "if n > k", "half = n // 2"])
def test_a_statement_that_a_block_executes_once_is_a_step_of_each_warp(text):
    recording = record(uniform_kernel, (1, BLOCK), np.ones(BLOCK, np.float32), 1)
    steps = steps_at(recording, line_of(uniform_kernel, text))
    assert [(s["warp"], s["lanes"]) for s in steps] == 2 * [(0, 0xFFFFFFFF), (1, 0xFFFFFFFF)]
