"""What people see while they wait: for a long launch, and for the checker's first use."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

_PATIENCE = 2.0  # seconds after which the bar shows
_COMPILING = 1.0  # the functions that watch come from a cache faster than that
_WIDTH = 24
_prepared: set[Callable[[], tuple[int, ...]]] = set()  # in this process


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
        if _somebody_looks():
            self.shown = True
            self._write(f"{self.what}: compiling the checker, once for this version of gpukit ...")

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
