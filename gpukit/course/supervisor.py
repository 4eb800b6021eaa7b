"""Supervise the process that runs an answer: `python -m gpukit.course.supervisor FD`.

The supervisor forks before it has imported much; the copy goes on as `gpukit.course.child`. The
supervisor waits until the copy has ended, or until nobody holds the other end of the pipe FD: the
grader has let go of it, or has ended itself. Then it ends every process that the answer has
started. On Linux these are its own children as soon as their parents are gone, in whatever session
they are.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

_PARENT_DEATH_SIGNAL, _BE_SUBREAPER = 1, 36  # of Linux's prctl


def supervise(control: int, run: Callable[[], Any], streams: Iterable[int] = range(3)) -> int:
    """Run `run` in a copy of this process; return its wait status when all of it is over.

    The copy leads a session of its own, so that a Ctrl-C in the terminal is the grader's; `streams`
    are its alone.
    """
    ends, begins = os.pipe()
    os.set_blocking(begins, False)
    _prctl(_BE_SUBREAPER, 1)
    signal.set_wakeup_fd(begins)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    copy = os.fork()
    if copy == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for end in (ends, begins, control):
            os.close(end)
        os.setsid()
        end_with_the_parent(signal.SIGKILL)
        run()
        os._exit(0)
    _let_go(streams)
    status = _wait(copy, control, ends)
    return _end_all(copy, status)


def end_with_the_parent(number: int) -> None:
    """Let this process get a signal when the one that has started it ends. Linux only."""
    _prctl(_PARENT_DEATH_SIGNAL, number)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _let_go(streams: Iterable[int]) -> None:
    """Leave the channel to the copy alone, so that its end is seen."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in streams:
        os.dup2(nothing, number)
    os.close(nothing)


def _wait(copy: int, control: int, ends: int) -> int | None:
    """Return the copy's status; None if the grader let go first."""
    poll = select.poll()
    poll.register(control, 0)  # only that its other end was closed
    poll.register(ends, select.POLLIN)
    while True:
        ready = {number for number, _ in poll.poll()}
        if control in ready:
            return None
        os.read(ends, 4096)
        status = _ended(copy)
        if status is not None:
            return status


def _ended(copy: int) -> int | None:
    """Take note of all children that have ended; return the copy's status if it is among them."""
    status = None
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            status = found[1] if found[0] == copy else status
    return status


def _end_all(copy: int, status: int | None) -> int:
    """End the copy's session, and whoever has left it, until there is nobody left."""
    while True:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(copy, signal.SIGKILL)
        for pid in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            pid, ended = os.waitpid(-1, 0)
        except ChildProcessError:
            return signal.SIGKILL if status is None else status
        if pid == copy:
            status = ended


def _children() -> list[int]:
    me = os.getpid()
    try:
        text = Path(f"/proc/{me}/task/{me}/children").read_text(encoding="ascii")
    except OSError:  # no Linux
        return []
    return [int(pid) for pid in text.split()]


def end_as(status: int) -> NoReturn:
    """End this process as another has ended, for the one who waits for it."""
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


def _child() -> None:
    from gpukit.course import child

    sys.argv = [child.__file__]
    child.main()
    sys.stdout.flush()
    sys.stderr.flush()


def main() -> None:
    """Keep a process for the grader that holds the other end of the pipe."""
    end_as(supervise(int(sys.argv[1]), _child))


if __name__ == "__main__":
    main()
