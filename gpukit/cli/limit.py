"""A time limit for a script: when it expires, the script gets a Ctrl-C."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import threading
import traceback
from types import TracebackType
from typing import Any

from gpukit.checked import stop

_AGAIN = 5.0  # seconds until a script that has caught its Ctrl-C gets another


class TimeLimit:
    """Stops the body of a `with` block after `seconds`, in the main thread; None sets no limit.

    `expired` says whether it was stopped, `error` is the KeyboardInterrupt that stopped it.
    """

    def __init__(self, seconds: float | None, file: str) -> None:
        self.seconds, self.file = seconds, file
        self.expired = False
        self.error: BaseException | None = None
        self._over = threading.Event()
        self._before: Any = None

    def cause(self) -> str:
        """Return the cause of a KeyboardInterrupt."""
        return f"the --timeout of {self.seconds:g} seconds" if self.expired else stop.CTRL_C

    def __enter__(self) -> TimeLimit:
        stop.explain(self.cause)
        if self.seconds is not None:
            # A parent may have left SIGINT ignored, as a shell does for background jobs.
            self._before = signal.signal(signal.SIGINT, signal.default_int_handler)
            threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        frames: TracebackType | None,
    ) -> bool:
        with contextlib.suppress(KeyboardInterrupt):  # sent as the body ended
            self._over.set()
        stop.explain(None)
        if self.seconds is not None:
            signal.signal(signal.SIGINT, self._before or signal.SIG_DFL)
        stopped = self.expired and kind is not None and issubclass(kind, KeyboardInterrupt)
        self.error = error if stopped else None
        self.expired = stopped
        return stopped

    def _watch(self) -> None:
        wait = self.seconds
        while not self._over.wait(wait):
            self.expired, wait = True, _AGAIN
            _interrupt()


def line_in(file: str, error: BaseException | None) -> int:
    """Return the line of a file through which an error passed, 0 if none."""
    frames = traceback.walk_tb(error.__traceback__ if error else None)
    places = [(frame.f_code.co_filename, line) for frame, line in frames]
    lines = [line for name, line in places if os.path.realpath(name) == os.path.realpath(file)]
    return lines[-1] if lines else 0


def _interrupt() -> None:
    """Send the main thread a Ctrl-C, which interrupts a sleep, too."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()
