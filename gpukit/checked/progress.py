"""A bar for launches that take more than two seconds to check."""

from __future__ import annotations

import sys
import time
from types import TracebackType

_PATIENCE = 2.0  # seconds after which the bar shows
_WIDTH = 24


class Bar:
    """Call it with (blocks done, blocks in all); leaving the `with` block removes the bar."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.start = time.monotonic()
        self.shown = False

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self.shown:
            self._write("\r\033[K")

    def __call__(self, done: int, total: int) -> None:
        seconds = time.monotonic() - self.start
        if seconds < _PATIENCE or not _somebody_looks():
            return
        filled = _WIDTH * done // max(total, 1)
        left = seconds * (total - done) / max(done, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        self._write(f"\r\033[K{self.what} [{bar}] {done:,} of {total:,} blocks, {left:.0f} s left")
        self.shown = True

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _somebody_looks() -> bool:
    """Tell whether standard error is a terminal or a notebook's output."""
    return sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
