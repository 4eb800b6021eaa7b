"""End all ranks when one fails, with one sentence from the rank that failed first."""

from __future__ import annotations

import atexit
import io
import os
import sys
import sysconfig
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from gpukit import errors, table
from gpukit.parallel import board

# How long a rank that is not the first to fail waits to be ended by the one that is.
ENDED_WITHIN = 5.0
VARIABLE = "GPUKIT_TRACEBACK"
# Files that are not the program's: of gpukit, of Python and of installed packages.
_OTHERS = (str(Path(__file__).parent.parent), *map(sysconfig.get_path, ("stdlib", "purelib")), "<")


def install(world: Any, mpi: Any) -> None:
    """Let an error that nobody handles end all ranks, and an exit be seen by the others."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        world.note(board.FAILED)
        if world.records.claim():
            if os.environ.get(VARIABLE):
                before(kind, error, trace)
            words = sentence(world, error)
            world.records.report(words)
            sys.stderr.write(f"{words}\n")
            sys.stderr.flush()
        else:
            time.sleep(ENDED_WITHIN)
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


def sentence(world: Any, error: BaseException) -> str:
    """Return which rank failed, in which step, where and why."""
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, errors.RankError):
        words = str(error)
    else:
        words = (
            f"rank {world.rank} of {world.size} failed in step {world.step}{_where(error)}: {words}"
        )
    text = f"gpukit: {words.rstrip('.')}. All ranks were ended."
    width = table.columns(sys.stderr)
    return text if width is None else "\n".join(table.fitted(text, width))


def _where(error: BaseException) -> str:
    """Return the last line of the program itself."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_OTHERS)]
    return f" ({errors.place(Path(own[-1].filename).name, own[-1].lineno or 0)})" if own else ""
