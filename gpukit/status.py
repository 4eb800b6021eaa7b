"""The status line: what people see while they wait, in a terminal or under a notebook's cell."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 1.0  # seconds in which nothing is said
_silent = False


class StatusLine:
    """One line, which each `show` writes over and `clear` takes away.

    Where nobody watches, as in a pipe or under test, nothing is shown. `stream` is the name of the
    terminal's: "stderr" or "stdout".
    """

    def __init__(self, stream: str = "stderr") -> None:
        self._stream = stream
        self._shown = ""
        self._output: Any = None  # of a notebook's cell

    @property
    def watched(self) -> bool:
        """Whether somebody sees the line."""
        return not _silent and (in_notebook() or self._terminal() is not None)

    def show(self, text: str) -> None:
        """Put a text in the place of what stands there."""
        if not self.watched or text == self._shown:
            return
        terminal = self._terminal()
        if in_notebook():
            self._show_in_notebook(text)
        elif terminal is not None:
            text = text[: shutil.get_terminal_size().columns - 1]
            # Not every terminal knows a control sequence that erases a line: spaces do.
            terminal.write(f"\r{text:<{len(self._shown)}}" + ("" if text else "\r"))
            terminal.flush()
        self._shown = text

    def clear(self) -> None:
        """Take the line away."""
        self.show("")

    def leave(self) -> None:
        """Let the line stand as it is; what comes next goes below it."""
        terminal = self._terminal()
        if self._shown and self._output is None and terminal is not None:
            terminal.write("\n")
            terminal.flush()
        self._shown, self._output = "", None

    def _terminal(self) -> Any:
        stream = getattr(sys, self._stream)
        return stream if stream is not None and stream.isatty() else None

    def _show_in_notebook(self, text: str) -> None:
        """Change the one output of this line, so that a saved notebook holds its last text alone.

        Carriage returns would all be kept.
        """
        from IPython import display

        content: Any = {"text/plain": text}
        if self._output is None:
            show: Any = display.display  # which has no types
            self._output = show(content, raw=True, display_id=True)
        else:
            self._output.update(content, raw=True)


def in_notebook() -> bool:
    """Tell whether a notebook's kernel runs this, so that outputs can be changed."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


@contextmanager
def doing(what: str | Callable[[], str]) -> Iterator[None]:
    """Say what is done, and for how long already, while a `with` block takes over a second.

    What turns out only meanwhile is a function, which is asked each time.
    """
    line = StatusLine()
    if not line.watched:
        yield
        return
    over, lock, start = threading.Event(), threading.Lock(), time.monotonic()

    def tell() -> None:
        while not over.wait(PATIENCE):
            with lock:
                if not over.is_set():
                    words = what if isinstance(what, str) else what()
                    line.show(f"{words} ... {time.monotonic() - start:.0f} s")

    threading.Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        with lock:
            over.set()
        line.clear()


@contextmanager
def silent() -> Iterator[None]:
    """Show no status line inside a `with` block, which writes to the terminal itself."""
    global _silent
    before, _silent = _silent, True
    try:
        yield
    finally:
        _silent = before
