"""Grade in copies of one warm process, where a fresh one would start for more than a second.

A learner's answer runs in a Python of its own. To start it means to import Numba, to fill its
tables and to load the checker: more than a second, for each of some hundred answers. Here one
process does all that once and then makes copies of itself, each of which goes on as
`python -m gpukit.course.child` would. That process knows no more than a fresh one: it has
launched some solutions, and has nothing of gpukit.kernels.

tests/cli takes the real way. Run as a module, this file is the warm process.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 1 << 16  # bytes of one request: the environment, as JSON
ENDED = 4  # bytes that tell how a copy ended


class Copy:
    """A copy that runs: what `runner.Child` needs of a `runner.Process`."""

    def __init__(self, warm: Warm, environment: dict[str, str]) -> None:
        (stdin, ours), (theirs, stdout), (errors, stderr) = os.pipe(), os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(ours, "wb", 0), os.fdopen(theirs, "rb", 0)
        self.stderr = os.fdopen(errors, "rb", 0)
        self._told, mine = socket.socketpair()
        control, self._hold = os.pipe()
        self._code: int | None = None
        request = json.dumps({"environment": environment, "folder": str(Path.cwd())}).encode()
        ends = [stdin, stdout, stderr, control, mine.fileno()]
        socket.send_fds(warm.asked, [request], ends)
        mine.close()
        for end in ends[:-1]:
            os.close(end)

    def end(self) -> None:
        os.close(self._hold)
        self.code(None)
        self._told.close()

    def code(self, seconds: float | None) -> int | None:
        if self._code is None:
            self._told.settimeout(seconds)
            with contextlib.suppress(TimeoutError):
                self._code = int.from_bytes(self._told.recv(ENDED), "little", signed=True)
        return self._code


class Warm:
    """The warm process; `start` takes the place of `runner.start`."""

    def __init__(self) -> None:
        self.asked, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.exercises.forked", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        self.asked.recv(1)  # it is warm: no answer's time is spent on that

    def start(self, environment: dict[str, str]) -> Copy:
        return Copy(self, environment)

    def end(self) -> None:
        self.asked.close()
        self._process.wait(timeout=10)


@contextlib.contextmanager
def warm() -> Iterator[None]:
    """Start the children of the body from one warm process, where the system can make copies."""
    from gpukit.course import runner

    if sys.platform != "linux":  # fork is safe and a socket keeps requests apart
        yield
        return
    one = Warm()
    with mock.patch.object(runner, "start", one.start):
        yield
    one.end()


# ---- the warm process ------------------------------------------------------------------------


# Solutions that between them call what kernels call: what Numba makes of a function for some types
# it makes once, and every copy has it.
WARMING = ("softmax", "conv2d", "histogram", "adam", "causal_attention", "argmax")


def warm_up() -> None:
    """Import and fill what answers need: compile some kernels, launch one in all ways there are."""
    from gpukit import profile
    from gpukit.checked import not_finite, recording
    from gpukit.course import catalogue, child
    from gpukit.cpu.launch import configure

    def launched(name):  # type: ignore[no-untyped-def]
        exercise = catalogue.find(name)
        kernel = getattr(child._load(str(exercise.solution), f"warm_{name}"), exercise.entry)
        case = exercise.case(exercise.shapes[exercise.measured])
        shape, given = (case.grid, case.block), tuple(case.args.values())
        child.CHECK(kernel)[shape](*given).to_json(None)
        return kernel, shape, given

    kernel, shape, given = launched(WARMING[0])  # loads the checker from the disk
    kernel[shape](*given)
    profile(kernel)[shape](*given)
    not_finite.first(recording.record(kernel, configure.parse(shape), given))
    with mock.patch.dict(os.environ, GPUKIT_CACHE="0"):  # nothing compiles what the disk has
        for name in WARMING:
            launched(name)
    gc.collect()
    gc.freeze()  # so that no copy looks through what all of them share, and copies it


def serve(asked: socket.socket) -> None:
    """Make a copy for every request, until nobody can ask any more."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who waits for a copy is its supervisor
    while True:
        request, ends, *_ = socket.recv_fds(asked, LONGEST, 5)
        if not request:
            return
        if os.fork() == 0:
            asked.close()
            watch(json.loads(request), ends)
        for end in ends:
            os.close(end)


def watch(request: dict[str, Any], ends: list[int]) -> NoReturn:
    """Start a copy, keep watch over it and tell how it ended: the supervisor's whole life."""
    from gpukit.course import supervisor

    *streams, control, told = ends

    def run() -> NoReturn:
        os.close(told)
        become(request, streams)

    status = supervisor.supervise(control, run, streams)
    code = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(OSError):  # the one who asked may be gone
        os.write(told, code.to_bytes(ENDED, "little", signed=True))
    os._exit(0)


def become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Go on as `python -m gpukit.course.child` with these streams, environment and folder."""
    from gpukit.course import child

    for number, end in enumerate(streams):
        os.dup2(end, number)
        os.close(end)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv = [child.__file__]
    code = 0
    try:
        child.main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    os._exit(code)


if __name__ == "__main__":
    warm_up()
    grader = socket.socket(fileno=int(sys.argv[1]))
    grader.send(b"!")
    serve(grader)
