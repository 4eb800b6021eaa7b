"""Grade in forks of one warm process, because a fresh one takes more than a second to start.

A learner's answer runs in its own Python process, which imports Numba, fills its tables and loads
the checker: more than a second for each of several hundred answers. Here one process does all
that once and then forks; each fork continues like `python -m gpukit.course.child`. The warm
process has no additional state that matters: it has launched some solutions, and has not imported
gpukit.kernels.

tests/cli starts fresh processes. Run as a module, this file is the warm process.
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
ENDED = 4  # bytes of the exit status of a fork


class Copy:
    """A running fork with the interface of `runner.Process` that `runner.Child` uses."""

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
    """The warm process; `start` replaces `runner.start`."""

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
        self.asked.recv(1)  # wait until it is warm, outside any answer's time limit

    def start(self, environment: dict[str, str]) -> Copy:
        return Copy(self, environment)

    def end(self) -> None:
        self.asked.close()
        self._process.wait(timeout=10)


@contextlib.contextmanager
def warm() -> Iterator[None]:
    """Start children from one warm process within the context, where the system supports fork."""
    from gpukit.course import runner

    if sys.platform != "linux":  # needs a safe fork and sockets that preserve message boundaries
        yield
        return
    one = Warm()
    with mock.patch.object(runner, "start", one.start):
        yield
    one.end()


# ---- the warm process ------------------------------------------------------------------------


# Solutions that together use the functions that kernels call, so that Numba compiles these once,
# before the forks.
WARMING = ("softmax", "conv2d", "histogram", "adam", "causal_attention", "argmax")


def warm_up() -> None:
    """Import what answers need, compile some kernels, and launch one in every mode."""
    from gpukit import profile
    from gpukit.checked import not_finite, recording
    from gpukit.course import catalogue, child
    from gpukit.cpu.launch import configure

    def launched(name):  # type: ignore[no-untyped-def]
        exercise = catalogue.find(name)
        kernel = getattr(child._load(str(exercise.solution), f"warm_{name}"), exercise.entry)
        case = exercise.case(exercise.shapes[exercise.measured])
        shape, arguments = (case.grid, case.block), tuple(case.args.values())
        child.CHECK(kernel)[shape](*arguments).to_json(None)
        return kernel, shape, arguments

    kernel, shape, arguments = launched(WARMING[0])  # loads the checker from the disk
    kernel[shape](*arguments)
    profile(kernel)[shape](*arguments)
    not_finite.first(recording.record(kernel, configure.parse(shape), arguments))
    with mock.patch.dict(os.environ, GPUKIT_CACHE="0"):  # force compilation
        for name in WARMING:
            launched(name)
    gc.collect()
    gc.freeze()  # so that garbage collection in a fork does not copy shared pages


def serve(requests: socket.socket) -> None:
    """Fork for every request, until the socket is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # each fork's supervisor waits for it
    while True:
        request, ends, *_ = socket.recv_fds(requests, LONGEST, 5)
        if not request:
            return
        if os.fork() == 0:
            requests.close()
            watch(json.loads(request), ends)
        for end in ends:
            os.close(end)


def watch(request: dict[str, Any], ends: list[int]) -> NoReturn:
    """Run as a supervisor: start a fork, wait for it and report its exit status."""
    from gpukit.course import supervisor

    *streams, control, status_fd = ends

    def run() -> NoReturn:
        os.close(status_fd)
        become(request, streams)

    status = supervisor.supervise(control, run, streams)
    code = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(OSError):  # the requesting process may have ended
        os.write(status_fd, code.to_bytes(ENDED, "little", signed=True))
    os._exit(0)


def become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Continue as `python -m gpukit.course.child` with these streams, environment and folder."""
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
