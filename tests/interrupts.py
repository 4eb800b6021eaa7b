"""Ctrl-C for the processes that test it: it comes once the process is at work, not at a time.

Imported by the scripts that the tests run, which Python finds beside `gpukit`.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator

# Of the processor, not of the clock: on a loaded machine nothing may have happened after half a
# second, and a minute may be too short to compile in.
AT_WORK_S = 0.3
TOO_LONG_S = 60.0


@contextlib.contextmanager
def coming() -> Iterator[None]:
    """Send this process SIGINT while the body works; end it with code 9 where that stops nothing.

    A process whose parent ignores SIGINT, as a shell does for `... &`, ignores it too unless told.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    over = threading.Event()
    sender = threading.Thread(target=_send, args=(over,), daemon=True)
    sender.start()
    try:
        yield
    finally:
        over.set()


def _send(over: threading.Event) -> None:
    start = time.process_time()
    if _wait(over, start + AT_WORK_S):
        os.kill(os.getpid(), signal.SIGINT)
        if _wait(over, start + TOO_LONG_S):
            os._exit(9)


def _wait(over: threading.Event, moment: float) -> bool:
    """Wait until the process has worked that long; return False where the body is over before."""
    while time.process_time() < moment:
        if over.wait(0.01):
            return False
    return not over.is_set()
