"""The order of operations in streams and on the host, in checked mode.

`clocks` says what happens before what, `memory` which bytes are accessed, `tracker` tracks a
program's operations, `launches` adds what a launch has read and written, `host_arrays` reports
host accesses to memory that the host shares with the device, `races` puts a race into words with
the names and lines of `places`.
"""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Callable, Iterator

from gpukit.checked.finding import Finding
from gpukit.checked.ordering.tracker import Tracker
from gpukit.cpu import operations


def process_tracker(deliver: Callable[[Finding], None]) -> Tracker:
    """Return a tracker for the rest of this process; its last findings are delivered at exit."""
    tracker = Tracker(deliver)
    atexit.register(tracker.finish)
    return tracker


@contextlib.contextmanager
def following(deliver: Callable[[Finding], None]) -> Iterator[Tracker]:
    """Track the operations inside a `with` block; `deliver` gets races outside of launches."""
    tracker = Tracker(deliver)
    before = operations.observe(tracker)
    try:
        yield tracker
    finally:
        operations.observe(before)
        tracker.finish()
