"""Grade in copies of one warm process, where a fresh one would start for more than a second.

A learner's answer runs in a Python of its own. To start it means to import Numba, to fill its
tables and to load the checker: more than a second, for each of some hundred answers. Here one
process does all that once and then makes copies of itself, each of which goes on as
`python -m gpukit.course.child` would. That process knows no more than a fresh one: it has
launched a kernel of its own, and nothing of gpukit.kernels.

tests/test_cli.py takes the real way. Run as a module, this file is the warm process.
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
    """A copy that runs: what `runner.Child` needs of a `subprocess.Popen`."""

    def __init__(self, warm: Warm, environment: dict[str, str]) -> None:
        (stdin, ours), (theirs, stdout), (errors, stderr) = os.pipe(), os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(ours, "wb", 0), os.fdopen(theirs, "rb")
        self.stderr = os.fdopen(errors, "rb")
        self._told, mine = socket.socketpair()
        self._code: int | None = None
        request = json.dumps({"environment": environment, "folder": str(Path.cwd())}).encode()
        socket.send_fds(warm.asked, [request], [stdin, stdout, stderr, mine.fileno()])
        mine.close()
        for end in (stdin, stdout, stderr):
            os.close(end)
        self.pid = int.from_bytes(self._told.recv(ENDED), "little")

    def kill(self) -> None:
        if self._code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        if self._code is None:
            self._told.settimeout(timeout)
            self._code = int.from_bytes(self._told.recv(ENDED), "little", signed=True)
            self._told.close()
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

    def start(self, arguments: list[str], environment: dict[str, str]) -> Copy:
        assert arguments == ["-m", "gpukit.course.child"]
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


def warm_up() -> None:
    """Import and fill what answers need: two kernels, launched in all the ways there are.

    One has what makes Numba compile functions of ours: threads that leave and wait for each other.
    """
    import numpy as np

    from gpukit import cuda, profile
    from gpukit.checked import not_finite, recording
    from gpukit.course import child
    from gpukit.cpu.launch import configure

    def warm_kernel(x):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] += x[i]

    def warm_tree_kernel(x):  # type: ignore[no-untyped-def]
        tile = cuda.shared.array(32, np.float32)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        if i >= x.shape[0]:
            return
        tile[t] = x[i]
        step = min(cuda.blockDim.x, 32) // 2
        while step > 0:
            cuda.syncthreads()
            if t < step:
                tile[t] = max(tile[t], tile[t + step]) * np.float32(0.5)
            step //= 2
        x[i] = min(tile[t], np.float32(t))

    x = np.ones(32, np.float32)

    def launch(kernel):  # type: ignore[no-untyped-def]
        kernel[1, 32](x)
        child.CHECK(kernel)[1, 32](x).to_json(None)
        profile(kernel)[1, 32](x)
        not_finite.first(recording.record(kernel, configure.parse((1, 32)), (x,)))

    launch(cuda.jit(warm_kernel))  # loads the checker from the disk
    with mock.patch.dict(os.environ, GPUKIT_CACHE="0"):  # nothing compiles what the disk has
        launch(cuda.jit(warm_tree_kernel))
    gc.collect()
    gc.freeze()  # so that no copy looks through what all of them share, and copies it


def serve(asked: socket.socket) -> None:
    """Make a copy for every request, until nobody can ask any more."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who waits for a copy is its keeper
    while True:
        request, ends, *_ = socket.recv_fds(asked, LONGEST, 4)
        if not request:
            return
        if os.fork() == 0:
            asked.close()
            keep(json.loads(request), ends)
        for end in ends:
            os.close(end)


def keep(request: dict[str, Any], ends: list[int]) -> NoReturn:
    """Start a copy, wait for it and tell how it ended: the keeper's whole life."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, told = ends
    pid = os.fork()
    if pid == 0:
        os.close(told)
        become(request, streams)
    for end in streams:
        os.close(end)
    code = 0
    with contextlib.suppress(OSError):  # the one who asked may be gone
        os.write(told, pid.to_bytes(ENDED, "little"))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
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
    serve(socket.socket(fileno=int(sys.argv[1])))
