"""Handle Ctrl-C and a notebook's Stop: delay the interrupt, and show it in a few lines."""

from __future__ import annotations

import functools
import linecache
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpukit import errors


@contextmanager
def held() -> Iterator[None]:
    """Delay Ctrl-C to the end of a `with` block; raise KeyboardInterrupt there.

    For short work that would leave the process broken if it were interrupted, such as filling a
    table that is filled only once. If the body raises, its error is the context of the interrupt.
    """
    try:
        with _noted(most=None) as (seen, before):
            yield
    finally:
        if seen and callable(before):
            before(signal.SIGINT, None)


@contextmanager
def noted() -> Iterator[list[int]]:
    """Yield a list to which the first Ctrl-C is appended; a second one raises KeyboardInterrupt.

    For long work that polls the list, stops where it can be resumed, and raises KeyboardInterrupt
    itself.
    """
    with _noted(most=1) as (seen, _):
        yield seen


@contextmanager
def _noted(most: int | None) -> Iterator[tuple[list[int], Any]]:
    """Record Ctrl-C in a `with` block up to `most` times; yield the list and the old handler."""
    seen: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    # Only the main thread receives Ctrl-C, and a shell may have set a job to ignore it.
    if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
        yield seen, None
        return

    def note(number: int, _frame: Any) -> None:
        seen.append(number)
        if len(seen) == most:
            signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield seen, before
    finally:
        signal.signal(signal.SIGINT, before)


def brief(stopped: KeyboardInterrupt, words: str) -> KeyboardInterrupt:
    """Return an interrupt with a short traceback; its message is `words` unless it has its own.

    The traceback begins where gpukit was called, and a notebook shows only the line of its cell. It
    is a plain KeyboardInterrupt, because a notebook shows the name of the class.
    """
    stopped.args = stopped.args or (words,)
    show = functools.partial(_shown, stopped)
    stopped._render_traceback_ = show  # type: ignore[attr-defined]  # IPython calls it
    return stopped.with_traceback(None)


def _shown(stopped: KeyboardInterrupt) -> list[str]:
    """Return what a notebook shows: the line of the cell that was running, and the reason."""
    lines = []
    for frame, line in traceback.walk_tb(stopped.__traceback__):
        file = frame.f_code.co_filename
        if errors.file_name(file) != file:  # a cell
            source = linecache.getline(file, line).strip()
            lines = [errors.place(file, line), f"----> {line} {source}", ""]
    return [*lines, f"{type(stopped).__name__}: {stopped}"]
