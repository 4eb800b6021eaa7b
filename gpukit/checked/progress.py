"""Progress while a launch runs: its blocks, and the checker's first use."""

from __future__ import annotations

import time
from collections.abc import Callable

from gpukit import status

_PATIENCE = 1.0  # seconds before the bar shows
_WIDTH = 24
_prepared: set[Callable[[], tuple[int, ...]]] = set()  # in this process


def _preparing(compiled: bool) -> str:
    if compiled:
        return "compiling the checker, once for this version of gpukit"
    return "loading the checker"


class Bar:
    """Call it with (blocks done, total blocks); leaving the `with` block removes the bar."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.start = time.monotonic()
        self.line = status.StatusLine()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.line.clear()

    def prepare(self, functions: Callable[[], tuple[int, ...]]) -> tuple[int, ...]:
        """Return the functions that instrument a launch; say that they are loaded or compiled."""
        from gpukit.checked.engine import entries

        if functions in _prepared:
            return functions()
        entries.compiled.clear()
        with status.doing(lambda: f"{self.what}: {_preparing(bool(entries.compiled))}"):
            found = functions()
        _prepared.add(functions)
        self.start = time.monotonic()
        return found

    def __call__(self, done: int, total: int) -> None:
        seconds = time.monotonic() - self.start
        if seconds < _PATIENCE:
            return
        filled = _WIDTH * done // max(total, 1)
        left = seconds * (total - done) / max(done, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        self.line.show(f"{self.what} [{bar}] {done:,} of {total:,} blocks, {left:.0f} s left")
