"""Elements of an output that a launch never wrote, and whether that is worth a finding."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.checked import decode
from gpukit.checked.extent import Extents
from gpukit.checked.finding import INFO, Finding
from gpukit.checked.instrumented import Launch
from gpukit.checked.segments import Array, Segment
from gpukit.checked.state import Seen


def findings(launch: Launch, seen: Seen, place: Any) -> list[Finding]:
    """Return a finding per output with elements that were never written; `place` is the `def`."""
    instrumentation = launch.compiled.instrumentation
    found = []
    for segment in seen.segments:
        if segment.space != "global" or len(segment.arrays) != 1:
            continue
        (array,) = segment.arrays
        stored = array.name in instrumentation.stores
        forgotten = not stored and segment.uninitialised is not None
        if array.name in instrumentation.loads or not (stored or forgotten):
            continue
        gap = _gap(launch, seen, segment, array)
        if gap is not None:
            gap |= {"array": array.name, "forgotten": forgotten}
            location = _store_location(launch, array.name) or place
            found.append(decode.make("never-written", location, **gap))
    return found


def _gap(launch: Launch, seen: Seen, segment: Segment, array: Array) -> dict[str, Any] | None:
    """Return which elements of an output were never written, if that is worth reporting.

    It is a warning where the shape of the launch explains it: where nothing was written though
    each thread has an element of its own there, and where one end of the array is missing though
    all of it should be written, as with a grid that is too small. Another gap is a note, and only
    of memory that had no value before or of an array that is cut off. Where data decides what is
    written, the reasons are unknown: a flag that is set on overflow stays as it is.
    """
    if not array.host.flags.c_contiguous or array.itemsize % segment.granule:
        return None
    cells = seen.written(segment)[: array.host.size * (array.itemsize // segment.granule)]
    written = cells.reshape(array.host.size, -1).any(axis=1)  # one field of a record suffices
    if segment.uninitialised is not None:  # what had a value before needs no write
        unset = segment.uninitialised[: len(cells)].reshape(written.size, -1)
        written = written | ~unset.any(axis=1)
    total, count = written.size, int(written.sum())
    if count == total:
        return None
    first = int(np.argmin(written))
    cut = _cut_off(written.reshape(array.shape)) if count else []
    instrumentation = launch.compiled.instrumentation
    explained = array.name in instrumentation.by_shape or array.name not in instrumentation.stores
    if count:
        explained = bool(cut) and array.name not in instrumentation.by_data
    if segment.uninitialised is None and not explained:
        return None
    extents = Extents(launch.kernel.py_func, launch.names, launch.arguments)
    meant = any(extents.is_whole(array.name, axis, array.shape[axis]) for axis in cut)
    index = tuple(int(k) for k in np.unravel_index(first, array.shape))
    return {
        "written": count,
        "elements": total,
        "first_unwritten": index,
        "index": index,
        "severity": "" if explained and (meant or not count) else INFO,
    }


def _cut_off(written: np.ndarray[Any, Any]) -> list[int]:
    """Return the axes of which one end is missing, if what was written is a box; else nothing.

    A kernel that leaves both ends of an axis alone spares the border on purpose.
    """
    box, short = [], []
    for axis in range(written.ndim):
        others = tuple(k for k in range(written.ndim) if k != axis)
        along = np.atleast_1d(written.any(axis=others))
        where = np.flatnonzero(along)
        low, high = int(where[0]), int(where[-1]) + 1
        if low > 0 and high < len(along):
            return []
        if high - low < len(along):
            short.append(axis)
        box.append(slice(low, high))
    return short if written[tuple(box)].all() else []


def _store_location(launch: Launch, name: str) -> Any:
    found = [launch.compiled.locations[k] for k in launch.compiled.instrumentation.locations]
    named = [s for s in found if s.array == name and not s.operation]
    return named[-1] if named else None
