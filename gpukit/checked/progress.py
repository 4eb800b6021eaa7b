"""What people see while they wait: for a long launch, and for the checker's first use."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

_PATIENCE = 2.0  # seconds after which the bar shows
_COMPILING = 1.0  # the functions that watch come from a cache faster than that
_WIDTH = 24
_prepared: set[Callable[[], tuple[int, ...]]] = set()  # in this process


class Bar:
    """Call it with (blocks done, blocks in all); leaving the `with` block removes the bar."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.start = time.monotonic()
        self.length = 0  # of what stands on the screen

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.show("")

    def prepare(self, functions: Callable[[], tuple[int, ...]]) -> tuple[int, ...]:
        """Return the functions that watch a launch; say so if they are being compiled."""
        if functions in _prepared:
            return functions()
        notice = threading.Timer(_COMPILING, self._say_compiling)
        notice.daemon = True
        notice.start()
        try:
            return functions()
        finally:
            notice.cancel()
            _prepared.add(functions)
            self.start = time.monotonic()

    def _say_compiling(self) -> None:
        self.show(f"{self.what}: compiling the checker, once for this version of gpukit ...")

    def __call__(self, done: int, total: int) -> None:
        seconds = time.monotonic() - self.start
        if seconds < _PATIENCE:
            return
        filled = _WIDTH * done // max(total, 1)
        left = seconds * (total - done) / max(done, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        self.show(f"{self.what} [{bar}] {done:,} of {total:,} blocks, {left:.0f} s left")

    def is_seen(self) -> bool:
        """Tell whether there is a terminal or a notebook to show it."""
        return _screen() is not None

    def show(self, text: str) -> None:
        """Put a text in the place of what stands there."""
        screen = _screen()
        if screen is not None and (text or self.length):
            # Notebooks know no control sequence that erases a line: spaces do.
            screen.write(f"\r{text:<{self.length}}" + ("" if text else "\r"))
            screen.flush()
            self.length = len(text)


def _screen() -> Any:
    """Return the terminal or the notebook's output that somebody looks at, or None."""
    if sys.stderr is not None and sys.stderr.isatty():
        return sys.stderr
    # A notebook shows what comes on standard error as a fault.
    notebook = type(sys.stdout).__module__ == "ipykernel.iostream"
    return sys.stdout if notebook else None
