"""The status line: shows progress in a terminal or under a notebook's cell."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 1.0  # seconds before the line appears, and between its updates
_silent = False


class StatusLine:
    """One line of text, which `show` overwrites and `clear` erases.

    Nothing is shown where the output is no terminal or notebook, as in a pipe or under test.
    `stream` names the stream to write to: "stderr" or "stdout".
    """

    def __init__(self, stream: str = "stderr") -> None:
        self._stream = stream
        self._shown = ""
        self._output: Any = None  # of a notebook's cell

    @property
    def watched(self) -> bool:
        """Whether the line is visible: in a terminal or a notebook, and not silenced."""
        return not _silent and (in_notebook() or self._terminal() is not None)

    def show(self, text: str) -> None:
        """Replace the text of the line."""
        if not self.watched or text == self._shown:
            return
        terminal = self._terminal()
        if in_notebook():
            self._show_in_notebook(text)
        elif terminal is not None:
            text = text[: shutil.get_terminal_size().columns - 1]
            # Overwrite with spaces: not every terminal has a control sequence that erases a line.
            terminal.write(f"\r{text:<{len(self._shown)}}" + ("" if text else "\r"))
            terminal.flush()
        self._shown = text

    def clear(self) -> None:
        """Erase the line."""
        self.show("")

    def leave(self) -> None:
        """Keep the line as it is; later output goes below it."""
        terminal = self._terminal()
        if self._shown and self._output is None and terminal is not None:
            terminal.write("\n")
            terminal.flush()
        self._shown, self._output = "", None

    def _terminal(self) -> Any:
        stream = getattr(sys, self._stream)
        return stream if stream is not None and stream.isatty() else None

    def _show_in_notebook(self, text: str) -> None:
        """Update this line's one output, so that a saved notebook holds only the last text.

        With carriage returns it would hold every text.
        """
        from IPython import display

        content: Any = {"text/plain": text}
        if self._output is None:
            show: Any = display.display  # IPython has no type annotations
            self._output = show(content, raw=True, display_id=True)
        else:
            self._output.update(content, raw=True)


def in_notebook() -> bool:
    """Tell whether this runs in a notebook's kernel, where outputs can be updated."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


def cell() -> int:
    """Return the number of the cell that is running in IPython or a notebook; 0 elsewhere."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return int(getattr(shell, "execution_count", 0))


@contextmanager
def doing(what: str | Callable[[], str]) -> Iterator[None]:
    """Show a status line with the elapsed time while a `with` block takes over a second.

    `what` is the text, or a function that is called for it at each update.
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
    """Suppress status lines in a `with` block, which writes to the terminal itself."""
    global _silent
    before, _silent = _silent, True
    try:
        yield
    finally:
        _silent = before
