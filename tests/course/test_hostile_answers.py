"""Answers that hang, crash, fork or stop themselves: grading completes and leaves no process."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from gpukit.course import catalogue, grade, runner
from tests.course.maps import RIGHT

pytestmark = [
    pytest.mark.usefixtures("warm"),
    pytest.mark.skipif(sys.platform != "linux", reason="child subreapers exist only on Linux"),
]
HEAD = """
import os, signal, sys, threading, time
from pathlib import Path

def live():
    with open(Path(__file__).with_name("pids"), "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(200)
    os._exit(0)
"""
# Code above a right kernel, and the resulting grade.
ABOVE = {
    "a copy that goes on": ("if os.fork() == 0: live()", "right"),
    "a copy in a session of its own": (
        """
        if os.fork() == 0:
            os.setsid()
            live()
        """,
        "right",
    ),
    "a copy of a copy whose parent is gone": (
        """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0: live()
            os._exit(0)
        os.wait()
        """,
        "right",
    ),
    "a copy that ignores signals": (
        """
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            live()
        """,
        "right",
    ),
    "a copy that answers as well": ("os.fork()", "right"),
    "a thread that does not end": ("threading.Timer(200, print).start()", "right"),
    "a gigabyte of output": ("for _ in range(1000): sys.stdout.write('x' * 1_000_000)", "right"),
    "a file that fills the disk": ("open(__file__ + '2', 'w').truncate(1 << 40)", "error"),
    "a launch without bounds checks": (
        """
        import numpy as np
        from gpukit import cuda

        @cuda.jit(boundscheck=False)
        def outside_kernel(x):
            x[cuda.grid(1) + 10**9] = 1

        outside_kernel[1, 1](np.zeros(1))
        """,
        "error",
    ),
    "closed descriptors": ("os.closerange(0, 256)", "died"),
    "its own end": ("os.kill(os.getpid(), signal.SIGKILL)", "died"),
    "the end of its supervisor": ("os.kill(os.getppid(), signal.SIGKILL); time.sleep(200)", "died"),
    "its own stop": ("os.kill(os.getpid(), signal.SIGSTOP)", "timeout"),
    "a long sleep": ("time.sleep(200)", "timeout"),
}


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("name", ABOVE)
@pytest.mark.costly
def test_a_hostile_answer_is_graded_and_leaves_no_process(name, tmp_path, monkeypatch):
    above, status = ABOVE[name]
    if status == "timeout":
        monkeypatch.setattr(runner, "START_SECONDS", 3.0)
    file = tmp_path / "answer.py"
    file.write_text(HEAD + textwrap.dedent(above) + "\n" + RIGHT)
    report = grade.run(catalogue.find("guarded_map"), file)
    assert report.status == status, report.why
    left = tmp_path / "pids"
    pids = [int(line) for line in left.read_text().split()] if left.exists() else []
    assert [pid for pid in pids if is_alive(pid)] == []


@pytest.mark.slow
def test_an_answer_that_stops_reading_does_not_block_the_grader(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text(HEAD + "os.kill(os.getpid(), signal.SIGSTOP)\n" + RIGHT)
    with runner.Child(file, "fahrenheit_kernel") as child:
        case = catalogue.find("guarded_map").case((1 << 20,))  # exceeds the buffer of a pipe
        assert child.launch(case, 3.0).kind == "timeout"


def test_the_answer_ends_with_the_grader(tmp_path):
    fifo, file = tmp_path / "fifo", tmp_path / "answer.py"
    os.mkfifo(fifo)
    file.write_text(
        f"held = open({str(fifo)!r}, 'w')\nheld.write('!')\nheld.flush()\nwhile True: pass\n"
    )
    code = (
        "from pathlib import Path; from gpukit.course import runner\n"
        f"with runner.Child(Path({str(file)!r}), 'kernel') as child: child.loaded()"
    )
    grader = subprocess.Popen([sys.executable, "-c", code])
    with fifo.open("rb") as held:
        assert held.read(1) == b"!"
        grader.send_signal(signal.SIGTERM)
        assert held.read() == b""  # the process at the other end has ended
    assert grader.wait() == -signal.SIGTERM
