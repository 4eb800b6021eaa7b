"""Ctrl-C, or Stop in a notebook: at a moment that suits, and shown in a few lines."""

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
    """Hold Ctrl-C back inside a `with` block; raise KeyboardInterrupt at its end if it came.

    For short work that would leave the process broken if it were cut off, such as filling a table
    that is filled only once. Where the body raises, its error is the context of the interrupt.
    """
    try:
        with _noted(most=None) as (seen, before):
            yield
    finally:
        if seen and callable(before):
            before(signal.SIGINT, None)


@contextmanager
def noted() -> Iterator[list[int]]:
    """Yield a list that the first Ctrl-C is added to; a second one raises KeyboardInterrupt.

    For long work that looks into the list now and then, ends where it can go on later, and raises
    KeyboardInterrupt itself.
    """
    with _noted(most=1) as (seen, _):
        yield seen


@contextmanager
def _noted(most: int | None) -> Iterator[tuple[list[int], Any]]:
    """Note Ctrl-C inside a `with` block, `most` times; yield the notes and the handler before."""
    seen: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    # Ctrl-C comes to the main thread alone, and a shell may have told a job to ignore it.
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
    """Return the interrupt to be raised where gpukit was called; `words` unless it has its own.

    Its traceback begins there, and a notebook shows only the line of its cell. It is a plain
    KeyboardInterrupt, which is the name that a notebook shows.
    """
    stopped.args = stopped.args or (words,)
    show = functools.partial(_shown, stopped)
    stopped._render_traceback_ = show  # type: ignore[attr-defined]  # which IPython asks for
    return stopped.with_traceback(None)


def _shown(stopped: KeyboardInterrupt) -> list[str]:
    """Return what a notebook shows: the line of a cell that was running, and why it ended."""
    lines = []
    for frame, line in traceback.walk_tb(stopped.__traceback__):
        file = frame.f_code.co_filename
        if errors.file_name(file) != file:  # a cell
            source = linecache.getline(file, line).strip()
            lines = [errors.place(file, line), f"----> {line} {source}", ""]
    return [*lines, f"{type(stopped).__name__}: {stopped}"]
