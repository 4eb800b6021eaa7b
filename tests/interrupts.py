"""Sends SIGINT to a process under test once it has used some CPU time.

Imported by the scripts that the tests run in new processes.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator

# CPU time, not wall time: on a loaded machine nothing may have run after half a second, and a
# minute may be too short to compile.
CPU_S = 0.3
LIMIT_S = 60.0


@contextlib.contextmanager
def coming() -> Iterator[None]:
    """Send SIGINT to this process while the body runs; exit with code 9 if that has no effect.

    The handler is set because a process inherits an ignored SIGINT, as from a shell's `... &`.
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
    if _wait(over, start + CPU_S):
        os.kill(os.getpid(), signal.SIGINT)
        if _wait(over, start + LIMIT_S):
            os._exit(9)


def _wait(over: threading.Event, moment: float) -> bool:
    """Wait until the CPU time of the process; return False if the body ends before."""
    while time.process_time() < moment:
        if over.wait(0.01):
            return False
    return not over.is_set()
