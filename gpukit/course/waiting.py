"""Say what is being waited for, so that nobody sits in front of a silent screen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from gpukit import status

_EVERY = 0.5  # seconds between looks
_FIRST, _AGAIN = 1.0, 2.0  # seconds until a line is printed, where lines stay, and the next one


class Waiting:
    """Call it with what goes on; "" is what goes on in general.

    A terminal and a notebook show it at once, with the seconds, in one line that goes when
    something else is printed. Elsewhere lines stay: `line` prints one, where it takes longer.
    """

    def __init__(self, general: str, line: Callable[[str], None] | None = None) -> None:
        self._general, self._line = general, line
        self._doing, self._since, self._told = general, time.monotonic(), 0.0
        self._bar = status.StatusLine()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Waiting:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._bar.show("")

    def __call__(self, doing: str) -> None:
        with self._lock:
            if (doing or self._general) != self._doing:
                self._doing = doing or self._general
                self._since, self._told = time.monotonic(), 0.0

    def clear(self) -> None:
        """Make room for a line that stays."""
        with self._lock:
            self._bar.show("")
            self._since, self._told = time.monotonic(), 0.0

    def _watch(self) -> None:
        while not self._over.wait(_EVERY):
            with self._lock:
                self._show(time.monotonic() - self._since)

    def _show(self, seconds: float) -> None:
        words = f"  ...       {self._doing}"
        if self._bar.watched:
            self._bar.show(f"{words}: {seconds:.0f} s"[:79])
        elif self._line and seconds >= (self._told + _AGAIN if self._told else _FIRST):
            self._told = seconds
            self._line(f"{words}: {seconds:.0f} s"[:79])
