"""gpukit.check during a launch: out-of-bounds accesses, exceptions, endless blocks, Ctrl-C."""

import gc
import signal
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.checked import instrumented as checked_launch
from tests.checked.plain_kernels import BLOCK, N, unguarded_kernel
from tests.checked.reports import kinds, line_of

# --- Accesses outside an array ---------------------------------------------------------------


@cuda.jit
def far_outside_kernel(out):
    out[cuda.grid(1) + (1 << 40)] = 7


@cuda.jit
def read_outside_kernel(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1]


def test_out_of_bounds_accesses_do_not_touch_memory():
    whole = np.zeros(211, np.float32)
    gpukit.check(unguarded_kernel)[3, BLOCK](whole[70:140], np.zeros(1, np.int32))
    assert (whole[70:140] == 7).all()
    assert not whole[:70].any()
    assert not whole[140:].any()


def test_findings_after_an_out_of_bounds_access_are_reported():
    report = gpukit.check(unguarded_kernel)[3, BLOCK](np.zeros(N), np.zeros(1, np.int32))
    assert [(f.kind, f.line, f.array) for f in report.errors] == [
        ("out-of-bounds", line_of(unguarded_kernel, "out[i] = 7"), "out"),
        ("global-race", line_of(unguarded_kernel, "seen[0] = i"), "seen"),
    ]


def test_out_of_bounds_accesses_are_counted_and_the_first_is_named():
    report = gpukit.check(unguarded_kernel)[3, BLOCK](np.zeros(N), np.zeros(1, np.int32))
    found = report.errors[0]
    assert (found.count, found.index) == (96 - N, (N,))
    assert (found.threads, found.blocks) == (((6, 0, 0),), ((2, 0, 0),))


def test_access_far_out_of_bounds_is_a_finding():
    report = gpukit.check(far_outside_kernel)[1, BLOCK](np.zeros(N, np.float32))
    assert "out-of-bounds" in kinds(report)


def test_out_of_bounds_read_leaves_other_results_correct():
    x, out = np.arange(BLOCK, dtype=np.float32), np.zeros(BLOCK, np.float32)
    report = gpukit.check(read_outside_kernel)[1, BLOCK](x, out)
    assert kinds(report) == ["out-of-bounds"]
    np.testing.assert_array_equal(out[:-1], x[1:])


# --- Kernels that stop -----------------------------------------------------------------------


@cuda.jit
def raises_kernel(out, limit):
    i = cuda.grid(1)
    if i < out.shape[0]:
        if i == limit:
            raise ValueError("the limit is reached")
        out[i] = i + 1


@cuda.jit
def divergent_kernel(out):
    tx = cuda.threadIdx.x
    out[tx] = 1
    if tx < 5:
        cuda.syncthreads()
        out[tx] = 2


def test_exception_in_a_kernel_is_a_finding_at_its_line():
    report = gpukit.check(raises_kernel)[3, BLOCK](np.zeros(N, np.int32), 40)
    (found,) = report.errors
    assert (found.kind, found.line) == ("raised", line_of(raises_kernel, "raise ValueError"))
    assert (found.threads, found.blocks) == (((8, 0, 0),), ((1, 0, 0),))
    assert "the limit is reached" in found.message


def test_blocks_before_the_one_that_raises_have_written():
    out = np.zeros(N, np.int32)
    gpukit.check(raises_kernel)[3, BLOCK](out, 40)
    np.testing.assert_array_equal(out[:BLOCK], np.arange(1, BLOCK + 1))
    assert not out[64:].any()


def test_check_works_after_a_kernel_that_raised():
    assert gpukit.check(raises_kernel)[3, BLOCK](np.zeros(N, np.int32), 40).errors
    assert gpukit.check(raises_kernel)[3, BLOCK](np.zeros(N, np.int32), -1).findings == []


def test_divergent_barrier_stops_the_launch():
    out = np.zeros(BLOCK, np.int32)
    report = gpukit.check(divergent_kernel)[1, BLOCK](out)
    (found,) = report.errors
    assert (found.kind, found.line) == (
        "barrier-divergence",
        line_of(divergent_kernel, "syncthreads"),
    )
    assert (out == 1).all()


@cuda.jit
def endless_after_race_kernel(out, go):
    out[0] = cuda.threadIdx.x
    going = go[0]
    while going == 1:
        out[1] = 1


def test_endless_block_after_a_finding_is_stopped_with_a_note(monkeypatch):
    monkeypatch.setattr(checked_launch, "_PATIENCE", 0.2)
    report = gpukit.check(endless_after_race_kernel)[1, BLOCK](np.zeros(2), np.ones(1, np.int32))
    assert "global-race" in kinds(report)
    assert report.notes == ["The launch was stopped: a block did not finish after these findings."]


def test_block_that_terminates_has_no_note():
    report = gpukit.check(endless_after_race_kernel)[1, BLOCK](np.zeros(2), np.zeros(1, np.int32))
    assert "global-race" in kinds(report)
    assert report.notes == []


def test_main_thread_frees_no_timer_of_a_launch(monkeypatch):
    """A Ctrl-C in a finalizer would be lost: Python ignores exceptions there."""
    timers = []

    class Timer(threading.Timer):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            timers.append(weakref.ref(self))

    monkeypatch.setattr(threading, "Timer", Timer)
    gc.disable()
    try:
        gpukit.check(unguarded_kernel)[1, 1](np.zeros(N), np.zeros(1))
        assert timers
        end = time.monotonic() + 10
        while any(timer() for timer in timers) and time.monotonic() < end:
            time.sleep(0.01)  # let timer threads end
        assert [timer() for timer in timers] == [None] * len(timers)
    finally:
        gc.enable()


ENDLESS = """
import numpy as np
import gpukit
from gpukit import cuda
from tests import interrupts

@cuda.jit
def kernel(a, go):
    i = cuda.grid(1)
    while go == 1:
        a[i] += 1
        {barrier}

def launch(go):
    return gpukit.{command}(kernel)[3, 64](np.zeros(192, np.int64), go)

launch(0)
try:
    with interrupts.coming():
        launch(1)
    print("no interrupt")
except KeyboardInterrupt:
    print("interrupted")
print(launch(0) is not None)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or sys.platform == "win32", reason="no Ctrl-C")
@pytest.mark.parametrize("command", ["check", "profile"])
@pytest.mark.parametrize("barrier", ["pass", "cuda.syncthreads()"])
@pytest.mark.slow
def test_ctrl_c_stops_a_checked_launch_and_the_process_survives(
    fresh_python, tmp_path, command, barrier
):
    path = tmp_path / "endless.py"
    path.write_text(
        textwrap.dedent(ENDLESS.format(command=command, barrier=barrier)), encoding="utf-8"
    )
    result = fresh_python(str(path))
    assert result.returncode == 0, f"{result.returncode}\n{result.stdout}\n{result.stderr}"
    assert result.stdout.split("\n")[:2] == ["interrupted", "True"]
