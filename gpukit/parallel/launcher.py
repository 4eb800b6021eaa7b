"""Start a program on several ranks of this machine: `gpukit train --ranks 4 script.py`."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from gpukit import files
from gpukit.errors import RankError
from gpukit.parallel import board, selection, world

# A rank that has failed ends the others. If that does not happen, the launcher does it.
ENDED_WITHIN = 10.0
# MPICH's report of a process that a signal ended, of which we say the same in one sentence.
_BANNER = re.compile(
    r"=+\s*$|=   |YOUR APPLICATION TERMINATED|This typically refers|Please see the"
)
_ABORT = re.compile(r"Abort\(\d+\) on node|internal ABORT")
_PROCESS = re.compile(r"=   PID (\d+) RUNNING")
_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_EXIT = re.compile(r"=   EXIT CODE: (\d+)")


class Outcome(NamedTuple):
    """How the ranks ended: the exit code of the program, and a sentence about a failure.

    `traceback` is that of the error that a rank has failed with, where it was asked for.
    """

    code: int
    sentence: str = ""
    traceback: str = ""


def mpiexec() -> str:
    """Return the path of the MPI launcher: that of this Python's environment, or of the system."""
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None or not selection.has("mpi4py"):
        what = "mpi4py" if found else "MPI's launcher mpiexec"
        raise RankError(
            f"train: {what}, which several ranks need, is not installed. Install it, "
            f"{selection.INSTALL}"
        )
    return found


def run(
    ranks: int,
    program: Sequence[str],
    *,
    deadline: float | None = None,
    environment: Mapping[str, str] = os.environ,
    output: Any = None,
    errors: Any = None,
) -> Outcome:
    """Run `python program...` on so many ranks; their output appears as they write it.

    output and errors are text files, by default those of this process. No rank waits longer than
    `deadline` seconds for another one.
    """
    changed = dict(environment)
    if deadline is not None:
        changed[world.VARIABLE] = str(deadline)
    if ranks == 1:
        command = [sys.executable, *program]
    else:
        command = [mpiexec(), "-n", str(ranks), sys.executable, "-m", "mpi4py", *program]
    with files.temporary("ranks", "") as path:
        changed[board.VARIABLE] = str(path)
        records = board.Board(path, ranks)
        process = subprocess.Popen(
            command,
            env=changed,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        banner: list[str] = []
        readers = [
            threading.Thread(target=_copy, args=(source, to, banner))
            for source, to in (
                (process.stdout, output or sys.stdout),
                (process.stderr, errors or sys.stderr),
            )
        ]
        watch = _Watch(records, ranks)
        try:
            with _ended_by(*_ENDS):
                for thread in (*readers, watch):
                    thread.start()
                code = _wait(process, Path(f"{path}.failed"))
        finally:
            _end(process)
            watch.over.set()
            for thread in (*readers, watch):
                if thread.ident is not None:
                    thread.join()
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        if said := records.reported():
            return Outcome(1, *said)  # Python's; MPICH's may be that of a rank that it has ended
        return Outcome(code, _sentence(records, ranks, banner, code, watch.first) if code else "")


class _Watch(threading.Thread):
    """Waits for the first rank that ends without leaving: MPICH ends the others at once.

    `first` is that rank, even where all have ended before this thread ran again: epoll reports
    events in the order in which they happened. Linux only.
    """

    def __init__(self, records: board.Board, ranks: int) -> None:
        super().__init__(daemon=True)
        self.records, self.ranks = records, ranks
        self.over = threading.Event()
        self.first: int | None = None

    def run(self) -> None:
        """Wait until a rank ends, or all of it is over."""
        if not hasattr(os, "pidfd_open"):
            return
        watched: dict[int, int] = {}  # ranks by descriptors of their processes
        over = False
        with select.epoll() as poll, contextlib.ExitStack() as opened:
            while not over and self.first is None:
                over = self.over.is_set()  # what happened before is still looked at
                for rank in set(range(self.ranks)) - set(watched.values()):
                    process = self.records.read(rank).process
                    with contextlib.suppress(OSError):
                        if process:
                            descriptor = os.pidfd_open(process)
                            opened.callback(os.close, descriptor)
                            watched[descriptor] = rank
                            poll.register(descriptor, select.EPOLLIN)
                for descriptor, _ in poll.poll(0 if over else 0.02):
                    poll.unregister(descriptor)
                    state = self.records.read(watched[descriptor]).state
                    if state not in (board.LEFT, board.FAILED):
                        self.first = watched[descriptor]
                        break


@contextlib.contextmanager
def _ended_by(*numbers: int) -> Iterator[None]:
    """Let these signals end a `with` block by SystemExit: the ranks must not outlive this process.

    Only the main thread can say so, and only it receives signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _frame: Any) -> None:
        raise SystemExit(128 + number)

    before = [(number, signal.signal(number, leave)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _copy(source: IO[str] | None, to: Any, banner: list[str]) -> None:
    """Copy lines as they come, those of MPICH about an end aside, and the empty one before them."""
    held = ""
    for line in source or ():
        if _BANNER.match(line) or _ABORT.match(line):
            banner.append(line)
            held = ""
        elif line == "\n":
            to.write(held)
            held = line
        else:
            to.write(held + line)
            to.flush()
            held = ""
    to.write(held)


def _wait(process: subprocess.Popen[str], failed: Path) -> int:
    """Return the exit code of the launcher; end it if the ranks outlive a failure."""
    since = None
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(0.1)
        if failed.exists():
            since = since or time.monotonic()
            if time.monotonic() - since > ENDED_WITHIN:
                return 1


def _end(process: subprocess.Popen[str]) -> None:
    """End the launcher and its ranks."""
    if sys.platform == "win32":
        process.kill()
        process.wait()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(2)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _sentence(
    records: board.Board, ranks: int, banner: list[str], code: int, first: int | None
) -> str:
    """Return which rank ended without a word, "" where the program itself ended with this code."""
    if ranks == 1:  # without a launcher; Python has printed an error of the program
        return f"rank 0 of 1 {_signalled(-code)}." if code < 0 else ""
    entries = [records.read(rank) for rank in range(ranks)]
    if all(entry.state == board.LEFT for entry in entries):
        return ""
    text = "".join(banner)
    process, exited = _PROCESS.search(text), _EXIT.search(text)
    number = int(process[1]) if process else -1
    found = [rank for rank, entry in enumerate(entries) if entry.process == number]
    if first is not None:  # the banner may name one that MPICH has ended
        found = [first]
    status = int(exited[1]) if exited else code
    how = f"exited with code {status}"
    if process and status in signal.Signals.__members__.values():
        how = _signalled(status)
    if not found:
        return f"a rank {how}. All ranks were ended."
    rank = found[0]
    return f"rank {rank} of {ranks} {how}; it {entries[rank].before()}. All ranks were ended."


def _signalled(number: int) -> str:
    return f"was ended by signal {number} ({signal.Signals(number).name})"
