"""Interrupting a cell in a real kernel: a short message, and the next cell runs."""

import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

import gpukit
from tests.notebooks import running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("stop"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix"),
]

SECONDS = 120
AT_WORK = 1.0  # seconds until a cell is stopped
PACKAGE = str(Path(gpukit.__file__).parent)
FIRST = """
import gpukit, numpy as np
from gpukit import cuda

@cuda.jit
def long_kernel(a, rounds):
    for k in range(rounds):
        a[cuda.grid(1)] ^= k

a = np.zeros(32, np.int64)
"""
# Each runs with few rounds first, to compile its kernels, and is interrupted with many.
CELLS = {
    "launch": "long_kernel[1, 32](a, {rounds})",
    "check": "gpukit.check(long_kernel)[1, 32](a, {rounds})",
    "profile": "gpukit.profile(long_kernel)[1, 32](a, {rounds})",
    "play": "for _ in range({rounds}): gpukit.play(long_kernel)[1, 32](a, 20)",
}


@pytest.fixture(scope="module")
def kernel():
    """Start a kernel like Jupyter does, with a client."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # inherited by the kernel
    manager = KernelManager(kernel_name="python3")
    path = os.pathsep.join(filter(None, [str(running.ROOT), os.environ.get("PYTHONPATH")]))
    manager.start_kernel(env={**os.environ, "PYTHONPATH": path})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=SECONDS)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    signal.signal(signal.SIGINT, before)


def run(kernel, code, stop=False):
    """Run a cell, and optionally interrupt it once it has begun; return its output messages."""
    manager, client = kernel
    seen = []

    def note(message):
        seen.append(message)
        begun = message["msg_type"] == "stream" and "begun" in message["content"]["text"]
        if stop and begun:
            time.sleep(AT_WORK)
            manager.interrupt_kernel()

    head = "print('begun', flush=True)\n" if stop else ""
    client.execute_interactive(head + code, timeout=SECONDS, output_hook=note, store_history=False)
    return seen


def errors(messages):
    return [m["content"] for m in messages if m["msg_type"] == "error"]


def assert_is_short_interrupt(error):
    assert error["ename"] == "KeyboardInterrupt"
    shown = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error["traceback"]))
    assert PACKAGE not in shown
    assert len(shown.splitlines()) < 12


@pytest.mark.parametrize("name", CELLS)
def test_stop_ends_a_cell_with_a_short_message_and_the_next_cell_runs(kernel, name):
    assert errors(run(kernel, FIRST)) == []
    assert errors(run(kernel, CELLS[name].format(rounds=1))) == []
    (error,) = errors(run(kernel, CELLS[name].format(rounds=10**12), stop=True))
    assert_is_short_interrupt(error)
    assert errors(run(kernel, "a[:] = 1; long_kernel[1, 32](a, 3); assert (a == 2).all()")) == []


def test_stop_ends_the_grading_of_a_cell_and_saves_nothing(kernel, tmp_path):
    shelf = shutil.copytree(
        running.ROOT / "exercises", tmp_path / "exercises", ignore=shutil.ignore_patterns("answer*")
    )
    setting_up = f"%env GPUKIT_EXERCISES={shelf}\n%load_ext gpukit"
    assert errors(run(kernel, setting_up)) == []
    grading = "get_ipython().run_cell_magic('exercise', 'zip_add', 'while True: pass')"
    (error,) = errors(run(kernel, grading, stop=True))
    assert_is_short_interrupt(error)
    assert error["evalue"] == "%%exercise zip_add was stopped by Ctrl-C: nothing was saved"
    assert list(shelf.glob("*/zip_add/answer*")) == []
    assert errors(run(kernel, "%exercise zip_add")) == []
