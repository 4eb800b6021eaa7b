"""Findings for two unordered operations, with a user's own lines and names."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.checked import decode
from gpukit.checked.finding import WARNING, Finding
from gpukit.checked.ordering import call_sites
from gpukit.checked.ordering.memory import of_array
from gpukit.cpu.memory import allocations

UNLOCK, FREE, CHANGE = "unlock", "free", "change"


def stream_race(other: Any, mine: Any, frame: Any) -> Finding:
    """Return the finding for an operation in a stream and an earlier one in another stream."""
    return _made(
        "stream-race",
        other,
        frame,
        mine.bytes,
        mine.name,
        use=mine.use,
        call=mine.operation.what,
        **_stream("stream", mine.operation, frame),
    )


def host_race(other: Any, use: str, frame: Any) -> Finding:
    """Return the finding for a host access while an operation may be in flight."""
    severity = WARNING if use == UNLOCK else ""
    return _made("host-race", other, frame, other.bytes, "", severity, use=use)


def _made(
    kind: str, other: Any, frame: Any, touched: Any, name: str, severity: str = "", **details: Any
) -> Finding:
    here, there = call_sites.of_frame(frame), other.operation.place
    found = call_sites.name_of(frame, lambda value: _holds(value, other.root, touched))
    details |= {
        "array": found or name or other.name,
        "memory": other.kind,
        "other_use": other.use,
        "other_call": other.operation.what,
        **_stream("other_stream", other.operation, frame),
    }
    if there.file != here.file:
        details["other_file"] = there.file.rpartition("/")[2]
    return decode.make(kind, here, there, severity, **details)


def _holds(value: Any, root: int, touched: Any) -> bool:
    """Tell whether a value is an array with these bytes."""
    host = value if isinstance(value, np.ndarray) else getattr(value, "host", None)
    if not isinstance(host, np.ndarray) or not host.size:
        return False
    owner = allocations.root(host).__array_interface__["data"][0]
    return bool(owner == root and of_array(host).overlap(touched))


def _stream(role: str, operation: Any, frame: Any) -> dict[str, Any]:
    """Return a stream's name, and its number in the order of creation."""
    stream = operation.handle()
    known = stream is not None and operation.stream
    name = call_sites.name_of(frame, lambda value: value is stream) if known else ""
    return {role: name, f"{role}_number": operation.stream}
