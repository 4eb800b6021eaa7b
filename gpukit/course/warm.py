"""Run answers in forks of one warm process, because a fresh one takes more than a second to start.

An answer runs in a Python process of its own, which imports Numba, fills its tables and loads the
checker. Here one process does all that once and then forks; each fork goes on like `python -m
gpukit.course.child`. It holds no other state that matters: it has launched the kernels of `warming`
and has not imported gpukit.kernels.

`Warm` is the grader's side; run as a module, this file is the warm process. Linux only: it needs a
safe fork, and sockets that keep the boundaries of messages.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from gpukit.course import runner
from gpukit.errors import GpukitError

_LONGEST = 1 << 16  # bytes of one request: the environment, as JSON
_ENDED = 4  # bytes of the exit status of a fork
_PATIENCE = 60.0  # seconds that a warm process may take to start


class WarmError(GpukitError):
    """The warm process has not started, or is gone."""


class Copy:
    """A running fork, as `runner.Process` is a running child."""

    def __init__(self, asked: socket.socket, environment: dict[str, str]) -> None:
        (stdin, ours), (theirs, stdout), (errors, stderr) = os.pipe(), os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(ours, "wb", 0), os.fdopen(theirs, "rb", 0)
        self.stderr = os.fdopen(errors, "rb", 0)
        self._told, mine = socket.socketpair()
        control, self._hold = os.pipe()
        self._code: int | None = None
        ends = [stdin, stdout, stderr, control, mine.fileno()]
        try:
            request = {"environment": environment, "folder": str(Path.cwd())}
            socket.send_fds(asked, [json.dumps(request).encode()], ends)
        except OSError as error:
            raise WarmError("the warm process is gone") from error
        finally:
            mine.close()
            for end in ends[:-1]:
                os.close(end)

    def end(self) -> None:
        """End it and all that it has started, and wait until that is over."""
        os.close(self._hold)
        self.code(None)
        self._told.close()

    def code(self, seconds: float | None) -> int | None:
        """Return its exit code, a signal's being negative; None if it goes on for `seconds`."""
        if self._code is None:
            self._told.settimeout(seconds)
            with contextlib.suppress(TimeoutError):
                self._code = int.from_bytes(self._told.recv(_ENDED), "little", signed=True)
        return self._code


class Warm:
    """A warm process. `start` starts a fork, as `runner.start` starts a child.

    `command` runs Python, inside a sandbox for example; `module` is what it runs, this one or one
    that calls `serve`.
    """

    def __init__(
        self,
        command: Sequence[str] = (sys.executable,),
        module: str = "gpukit.course.warm",
        arguments: Sequence[str] = (),
        environment: dict[str, str] | None = None,
    ) -> None:
        self._asked, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [*command, "-m", module, str(theirs.fileno()), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=runner.environment() if environment is None else environment,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        self._asked.settimeout(_PATIENCE)
        try:
            ready = self._asked.recv(1)  # outside of any answer's time limit
        except TimeoutError:
            ready = b""
        self._asked.settimeout(None)
        if not ready:
            raise WarmError(self._failure())

    def _failure(self) -> str:
        """End the process, and return the last line that it has written."""
        self._process.kill()
        _, written = self._process.communicate()
        lines = written.decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"it ended with {self._process.returncode}"

    def start(self, environment: dict[str, str]) -> Copy:
        """Start a fork with an environment."""
        return Copy(self._asked, environment)

    def end(self) -> None:
        """End the warm process."""
        self._asked.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()


@contextlib.contextmanager
def warm() -> Iterator[None]:
    """Start the children of the `with` block from one warm process, where the system can fork."""
    if sys.platform != "linux":
        yield
        return
    one, usual = Warm(), runner.start
    runner.start = one.start
    try:
        yield
    finally:
        runner.start = usual
        one.end()


# ---- the warm process ------------------------------------------------------------------------


def serve(number: int, confine: Callable[[], None] = lambda: None) -> None:
    """Warm up, then fork for each request on the socket `number`, until that is closed.

    Each fork calls `confine` before it goes on as a child.
    """
    from gpukit.course import warming

    warming.warm_up()
    requests = socket.socket(fileno=number)
    requests.send(b"!")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # each fork's supervisor waits for it
    while True:
        request, ends, *_ = socket.recv_fds(requests, _LONGEST, 5)
        if not request:
            return
        if os.fork() == 0:
            requests.close()
            _supervise(json.loads(request), ends, confine)
        for end in ends:
            os.close(end)


def _supervise(request: dict[str, Any], ends: list[int], confine: Callable[[], None]) -> NoReturn:
    """Run as a supervisor: start a fork, wait for it and report its exit status."""
    from gpukit.course import supervisor

    *streams, control, status_fd = ends

    def run() -> NoReturn:
        os.close(status_fd)
        _become(request, streams, confine)

    status = supervisor.supervise(control, run, streams)
    code = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(OSError):  # the requesting process may have ended
        os.write(status_fd, code.to_bytes(_ENDED, "little", signed=True))
    os._exit(0)


def _become(request: dict[str, Any], streams: list[int], confine: Callable[[], None]) -> NoReturn:
    """Go on as `python -m gpukit.course.child` with these streams, environment and folder."""
    from gpukit.course import child

    for number, end in enumerate(streams):
        os.dup2(end, number)
        os.close(end)
    os.environ.clear()
    os.environ.update(request["environment"])
    with contextlib.suppress(OSError):  # a sandbox does not have that folder
        os.chdir(request["folder"])
    sys.argv = [child.__file__]
    code = 0
    try:
        confine()
        child.main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    os._exit(code)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
