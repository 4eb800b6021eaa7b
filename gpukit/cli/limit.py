"""A limit on the time that a script may take: at its end the script gets a Ctrl-C."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import threading
import traceback
from types import TracebackType
from typing import Any

_AGAIN = 5.0  # seconds until a script that has caught its Ctrl-C gets another


class TimeLimit:
    """Stops the body of a `with` block after `seconds`, in the main thread; None sets no limit.

    `expired` says whether it was stopped, `line` in which line of `file`, 0 if in none.
    """

    def __init__(self, seconds: float | None, file: str) -> None:
        self.seconds, self.file = seconds, file
        self.expired = False
        self.line = 0
        self._over = threading.Event()
        self._before: Any = None

    def __enter__(self) -> TimeLimit:
        if self.seconds is not None:
            # A parent may have left SIGINT ignored, as a shell does for jobs in the background.
            self._before = signal.signal(signal.SIGINT, signal.default_int_handler)
            threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        frames: TracebackType | None,
    ) -> bool:  # fmt: skip
        with contextlib.suppress(KeyboardInterrupt):  # sent as the body came to its end
            self._over.set()
        if self.seconds is not None:
            signal.signal(signal.SIGINT, self._before or signal.SIG_DFL)
        stopped = self.expired and kind is not None and issubclass(kind, KeyboardInterrupt)
        if stopped:
            wanted = os.path.realpath(self.file)
            places = [(f.f_code.co_filename, line) for f, line in traceback.walk_tb(frames)]
            lines = [line for name, line in places if os.path.realpath(name) == wanted]
            self.line = lines[-1] if lines else 0
        self.expired = stopped
        return stopped

    def _watch(self) -> None:
        wait = self.seconds
        while not self._over.wait(wait):
            self.expired, wait = True, _AGAIN
            _interrupt()


def _interrupt() -> None:
    """Send the main thread a Ctrl-C, which wakes it where it sleeps."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()
