"""End all ranks when one fails, with one report of the rank that failed first."""

from __future__ import annotations

import atexit
import io
import os
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from gpukit import errors, table
from gpukit.parallel import board, selection

# How long a rank that is not the first to fail waits to be ended by the one that is.
ENDED_WITHIN = 5.0
PASSED_ON_WITHIN = 0.5  # MPICH discards output that it has not passed on when the ranks are ended
ENDED = "All ranks were ended."
VARIABLE = "GPUKIT_TRACEBACK"
# Files that are not the program's: of gpukit, of Python and of installed packages.
_OTHERS = (str(Path(__file__).parent.parent), *map(sysconfig.get_path, ("stdlib", "purelib")), "<")


def begin() -> Callable[[], None]:
    """Report an error in this rank of `gpukit train`, also before the program makes its `World`.

    Returns a function to call at the end of a program that has succeeded.
    """
    path = Path(os.environ[board.VARIABLE])
    size = path.stat().st_size // board.RECORD
    rank, records = selection.rank() if size > 1 else 0, board.Board(path, size)

    def note(state: int) -> None:
        records.write(rank, board.Entry(state, 0, os.getpid()))

    def hook(_kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        note(board.FAILED)
        report(records, sentence(error, rank, size), error, trace)

    note(board.COMPUTING)
    sys.excepthook = hook
    return lambda: note(board.LEFT)


def install(world: Any, mpi: Any) -> None:
    """Let an error that nobody handles end all ranks, and an exit be seen by the others."""

    def hook(_kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        world.note(board.FAILED)
        report(world.records, sentence(error, world.rank, world.size, world.step), error, trace)
        mpi.abort()

    def leave() -> None:
        """Wait for the other ranks without using a core, as MPI would."""
        world.note(board.LEFT)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # a launcher may end the others when one exits with a code
        pending, attempts = mpi.leave(), 0
        while not pending.done():
            mpi.pause(attempts)
            attempts += 1

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # lines of several ranks must stay whole
            stream.reconfigure(line_buffering=True, write_through=False)
    sys.excepthook = hook
    atexit.register(leave)


def report(
    records: board.Records, words: str, error: BaseException, trace: TracebackType | None
) -> None:
    """Report the first failure of all; on any other rank, wait to be ended.

    The launcher prints the report when the ranks have ended: other output cannot come in between.
    """
    if not records.claim():
        time.sleep(ENDED_WITHIN)
        return
    shown = ""
    if os.environ.get(VARIABLE):
        shown = "".join(traceback.format_exception(type(error), error, trace))
    records.report(words, shown)
    if board.VARIABLE not in os.environ:  # started by another launcher
        width = table.columns(sys.stderr)
        said = f"gpukit: {words}"
        fitted = said if width is None else "\n".join(table.fitted(said, width))
        sys.stderr.write(f"{shown}{fitted}\n")
        sys.stderr.flush()
        time.sleep(PASSED_ON_WITHIN)


def sentence(error: BaseException, rank: int, size: int, step: int = 0) -> str:
    """Return which rank failed, in which step if it has begun one, where and why."""
    failed = f"rank {rank} of {size} failed{f' in step {step}' if step else ''}"
    if isinstance(error, errors.RankError):
        words = str(error)
    elif isinstance(error, errors.PlacedError):  # names its line itself
        words = f"{failed}: {error}"
    else:
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        words = f"{failed}{_where(error)}: {why}"
    if size == 1:
        return words
    return f"{words}\n{ENDED}" if "\n" in words else f"{words.rstrip('.')}. {ENDED}"


def _where(error: BaseException) -> str:
    """Return the last line of the program itself."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_OTHERS)]
    return f" ({errors.place(Path(own[-1].filename).name, own[-1].lineno or 0)})" if own else ""
