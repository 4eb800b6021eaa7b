"""A launch as a list of steps, for the player: which lanes ran a line, read, wrote and set what."""

from __future__ import annotations

import itertools
import struct
from typing import Any

import numpy as np

from gpukit import errors, status
from gpukit.checked import check
from gpukit.checked.instrumented import Launch
from gpukit.checked.progress import Bar
from gpukit.checked.report import Report
from gpukit.checked.segments import Segment
from gpukit.checked.state import Seen
from gpukit.compiler import checker_state
from gpukit.compiler.frontend import source
from gpukit.cpu.launch import configure

MOST_EVENTS = 400_000
MOST_ELEMENTS = 1 << 16  # of an array that is shown
_ALL = 0xFFFFFFFF


def record(
    kernel: Any, shape: configure.Configuration, arguments: tuple[Any, ...]
) -> dict[str, Any]:
    """Run a launch as `record_checked` does and return the recording alone."""
    return record_checked(kernel, shape, arguments)[0]


def record_checked(
    kernel: Any, shape: configure.Configuration, arguments: tuple[Any, ...]
) -> tuple[dict[str, Any], Report]:
    """Run a launch, once recorded and once checked; return the recording as plain data, the report.

    The arguments are left as one launch leaves them.
    """
    from gpukit.checked.engine import entries

    launch = Launch(kernel, shape, arguments, "values")
    hosts = [a.host for r in launch.segments() for a in r.arrays if a.host is not None]
    before = [h.copy() for h in hosts]
    unset = {r.begin: check.without_value(r) for r in launch.segments() if r.space == "global"}
    report = check.run(kernel, shape, arguments)
    for host, old in zip(hosts, before, strict=True):
        if host.flags.writeable:
            host[...] = old
    events = np.zeros((MOST_EVENTS, checker_state.EVENT_WORDS), np.int64)
    words = {checker_state.EVENTS: events.ctypes.data, checker_state.EVENT_CAPACITY: MOST_EVENTS}
    with Bar(f"play {kernel.py_func.__name__}") as bar:
        functions = bar.prepare(entries.recording)
        seen = launch.run(functions, races=False, progress=bar, words=words)
    assert seen.words is not None
    entries.settle()(int(seen.words.ctypes.data))
    count = int(seen.words[checker_state.EVENT_COUNT])
    with status.doing(f"play {kernel.py_func.__name__}: writing the recording"):
        arrays = _Arrays(launch, seen, before, unset)
        made = _Steps(launch, arrays)
        steps = made.of(events[:count])
    own = source.find(source.shown(kernel.py_func)).listing
    mine = {line for line, _ in own}
    recording = {
        "version": 1,
        "kernel": kernel.py_func.__name__,
        "file": errors.file_name(source.shown(kernel.py_func).__code__.co_filename),
        "source": [{"line": line, "text": text} for line, text in own],
        # Lines of device functions, as in the source.
        "elsewhere": {p.line: p.source for p in made.locations if p.line not in mine},
        "grid": list(shape.grid),
        "block": list(shape.block),
        "warp_size": 32,
        "arrays": arrays.listed,
        "variables": launch.compiled.instrumentation.variables,
        "steps": steps,
        "findings": [_placed(f.as_dict(), steps, shape, arrays.listed) for f in report.findings],
        "truncated": None,
    }
    left_out = [
        f"Only the first {MOST_ELEMENTS:,} of the {size:,} elements of "
        f"{', '.join(a for a, n in arrays.cut.items() if n == size)} are shown."
        for size in dict.fromkeys(arrays.cut.values())
    ]
    if count >= MOST_EVENTS:
        last = steps[-1]["block"] + 1 if steps else 0
        left_out.append(f"The steps end in block {last:,} of {shape.blocks:,}.")
    if left_out:
        recording["truncated"] = f"{' '.join(left_out)} Record a smaller launch to see all."
    return recording, report


def _plain(value: Any) -> Any:
    """Return a number as JSON has it; NaN and infinities as text."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, float) and not np.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    return value if isinstance(value, (int, float, bool)) else str(value)


class _Arrays:
    """The arrays of a recording, and which of them an address belongs to."""

    def __init__(
        self, launch: Launch, seen: Seen, before: list[Any], unset: dict[int, Any]
    ) -> None:
        self.cut: dict[str, int] = {}  # the size of arrays of which only the beginning is shown
        self.listed: list[dict[str, Any]] = []
        self.numbers: dict[Any, int] = {}
        self.segments = seen.segments
        self.shape = launch.shape
        self.whole = launch.compiled.whole_grid
        old = iter(before)
        found = [
            (segment, array, next(old))
            for segment in seen.segments
            for array in segment.arrays
            if array.host is not None
        ]
        order = {name: k for k, name in enumerate(launch.names)}
        found.sort(key=lambda f: order.get(f[1].name.partition("[")[0], len(order)))
        for segment, array, values in found:
            self._add_global(segment, array, values, unset.get(segment.begin))

    def _add_global(self, segment: Segment, array: Any, values: Any, flags: Any) -> None:
        shown = [_plain(v) for v in values.reshape(-1)[:MOST_ELEMENTS]]
        if flags is not None:
            empty = flags[:: max(array.itemsize // segment.granule, 1)][: len(shown)]
            shown = [None if u else v for u, v in zip(empty, shown, strict=False)]
        key = (id(segment), array.name)
        number = self._add(key, array.name, segment.space, array.shape, array.dtype, shown, None)
        if values.size > MOST_ELEMENTS:
            self.cut[array.name] = values.size
            self.listed[number] |= {"shape": [MOST_ELEMENTS], "whole": list(array.shape)}

    def _add(
        self, key: Any, name: str, space: str, shape: Any, dtype: str, before: Any, owner: Any
    ) -> int:
        self.numbers[key] = len(self.listed)
        self.listed.append(
            {
                "name": name,
                "space": space,
                "shape": list(shape),
                "dtype": dtype,
                "before": before,
                "owner": owner,
            }
        )
        return self.numbers[key]

    def find(
        self, number: int, text: str, address: int, block: int, thread: int, every: bool
    ) -> list[tuple[int, int, str]]:
        """Return (array, flat index, dtype) of an address; of all arrays there with `every`."""
        if number < 0:
            return []
        segment = self.segments[number]
        array = segment.array_named(text)
        offset = address - segment.begin
        if segment.space in ("global", "constant"):
            return self._global(segment, segment.arrays if every else [array], address)
        owner: Any = block if segment.space == "shared" else [block, thread]
        key = (number, str(owner))
        found = self.numbers.get(key)
        if found is None:
            size = int(np.prod(array.shape))
            found = self._add(
                key, array.name, segment.space, array.shape, array.dtype, [None] * size, owner
            )
        return [(found, self._inside(segment, offset) // array.itemsize, array.dtype)]

    def _global(self, segment: Segment, arrays: list[Any], address: int) -> list[Any]:
        found = []
        for array in arrays:
            index, key = array.index_of(address), (id(segment), array.name)
            flat = int(np.ravel_multi_index(index, array.shape)) if index else 0
            plain = not array.shape or index
            if plain and flat < MOST_ELEMENTS and key in self.numbers:
                found.append((self.numbers[key], flat, array.dtype))
        return found

    def _inside(self, segment: Segment, offset: int) -> int:
        return offset % segment.stride if segment.stride else offset


class _Steps:
    """Combines events into steps of warps."""

    def __init__(self, launch: Launch, arrays: _Arrays) -> None:
        self.locations = [
            launch.compiled.locations[k] for k in launch.compiled.instrumentation.locations
        ]
        self.arrays = arrays
        self.kinds = launch.compiled.instrumentation.steps
        self.variables = launch.compiled.instrumentation.variables
        self.threads, self.blocks = launch.shape.threads, launch.shape.blocks
        self.steps: list[dict[str, Any]] = []
        self.open: dict[tuple[int, int], dict[str, Any]] = {}
        self.returned: dict[tuple[int, int], int] = {}

    def of(self, events: np.ndarray[Any, Any]) -> list[dict[str, Any]]:
        """Return the steps, in the order in which they began."""
        running = None
        for row in events.tolist():
            kind, location, block, thread, *rest = row
            if running not in (None, block) and not self.arrays.whole:
                self._end(running)
            running = block
            place = self.locations[location] if 0 <= location < len(self.locations) else None
            if kind == checker_state.E_WORK:
                self._work(place, self.kinds.get(str(location), ""), block, thread, rest[0])
            elif kind == checker_state.E_ACCESS:
                self._access(place, block, thread, *rest)
            elif kind == checker_state.E_VALUE:
                self._value(block, thread, *rest[:3])
            else:
                self._synchronization(kind, place, block, thread // 32, rest[0])
        for left in sorted({b for b, _ in self.open}):
            self._end(left)
        return self.steps

    def _end(self, block: int) -> None:
        """Let the lanes that are still running at the end of the kernel return."""
        for other, warp in sorted(self.open):
            if other == block:
                lanes = (1 << min(32, self.threads - 32 * warp)) - 1
                left = lanes & ~self.returned.get((block, warp), 0)
                if left:
                    self._begin(block, warp, self.open[block, warp]["line"], "return", left)
        self.open = {k: v for k, v in self.open.items() if k[0] != block}

    def _begin(self, block: int, warp: int, line: int, kind: str, lanes: int) -> dict[str, Any]:
        step = {
            "block": block,
            "warp": warp,
            "line": line,
            "kind": kind,
            "lanes": lanes,
            "reads": [],
            "writes": [],
            "set": {},
        }
        self.steps.append(step)
        self.open[block, warp] = step
        return step

    def _work(self, place: Any, kind: str, block: int, thread: int, lanes: int) -> None:
        warp, last = thread // 32, self.open.get((block, thread // 32))
        lanes &= _ALL
        text = place.what
        same = last is not None and last.get("text") == text and last["line"] == place.line
        if same and not last["lanes"] & lanes and lanes > last["lanes"]:  # type: ignore[index]
            last["lanes"] |= lanes  # type: ignore[index]  # the next row of the same warp
            return
        if kind == "return":
            self.returned[block, warp] = self.returned.get((block, warp), 0) | lanes
        if kind:
            self._begin(block, warp, place.line, kind, lanes)["text"] = text

    def _access(
        self, place: Any, block: int, thread: int, how: int, address: int, bits: int, more: int
    ) -> None:
        step = self.open.get((block, thread // 32))
        kind, number = how & 255, (how >> 8 & 0xFFFFFF) - 1
        array = place.array if place is not None else ""
        writes = kind != checker_state.LOAD
        found = self.arrays.find(number, array, address, block, thread, writes)
        lane = thread % 32
        if step is None:
            return
        for which, flat, dtype in found:
            value = _decode(bits, more, dtype)
            if writes:
                step["writes"].append([which, flat, lane, value, int(kind == checker_state.UPDATE)])
            else:
                step["reads"].append([which, flat, lane, value])

    def _value(self, block: int, thread: int, variable: int, bits: int, real: int) -> None:
        value = _plain(struct.unpack("d", struct.pack("q", bits))[0] if real else bits)
        name = self.variables[variable]
        everyone = thread == checker_state.EVERYONE
        warps = range((self.threads + 31) // 32) if everyone else [thread // 32]
        blocks = range(self.blocks) if everyone and self.arrays.whole else [block]
        for place in itertools.product(blocks, warps):
            step = self.open.get(place)
            if step is None:
                continue
            lanes = [k for k in range(32) if step["lanes"] >> k & 1] if everyone else [thread % 32]
            step["set"].setdefault(name, {}).update({str(k): value for k in lanes})

    def _synchronization(self, kind: int, place: Any, block: int, warp: int, lanes: int) -> None:
        line = place.line if place is not None else 0
        if kind == checker_state.E_SYNCWARP:
            self._begin(block, warp, line, "syncwarp", lanes & _ALL)
            return
        blocks = range(self.blocks) if kind == checker_state.E_GRID else [block]
        name = "barrier" if kind == checker_state.E_BARRIER else "grid_sync"
        for b in blocks:
            for every in range((self.threads + 31) // 32):
                whole = (1 << min(32, self.threads - 32 * every)) - 1
                here = whole & ~self.returned.get((b, every), 0)
                if here:
                    self._begin(b, every, line, name, here)


def _decode(bits: int, more: int, dtype: str) -> Any:
    """Return the value of an element from its first sixteen bytes."""
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError):  # a record, described in words
        return bits
    raw = struct.pack("qq", bits, more)
    if kind.itemsize > 16 or kind.names is not None:
        return bits
    return _plain(np.frombuffer(raw[: kind.itemsize], kind)[0])


def _placed(
    finding: dict[str, Any],
    steps: list[dict[str, Any]],
    shape: configure.Configuration,
    arrays: list[dict[str, Any]],
) -> dict[str, Any]:
    """Add to a finding the number of the step in which it happens."""
    block, thread = _first(finding["blocks"]), _first(finding["threads"])
    number = _linear(block, shape.grid) if block else None
    warp = _linear(thread, shape.block) // 32 if thread else None
    here = [
        k
        for k, step in enumerate(steps)
        if step["line"] == finding["line"]
        and (number is None or step["block"] == number)
        and (warp is None or step["warp"] == warp)
    ]
    lane = _linear(thread, shape.block) % 32 if thread else None
    touching = [k for k in here if _touches(steps[k], lane, _flat(finding, arrays))]
    finding["step"] = next(iter([*touching, *here]), None)
    return finding


def _flat(finding: dict[str, Any], arrays: list[dict[str, Any]]) -> dict[int, int]:
    """Return the flat index of a finding's element in each array of its name."""
    found = {}
    for k, array in enumerate(arrays):
        index, shape = finding["index"], array["shape"]
        inside = len(index) == len(shape) and all(
            0 <= i < n for i, n in zip(index, shape, strict=True)
        )
        if array["name"] == finding["array"] and inside and shape:
            found[k] = int(np.ravel_multi_index(tuple(index), tuple(shape)))
    return found


def _touches(step: dict[str, Any], lane: int | None, flat: dict[int, int]) -> bool:
    """Tell whether a lane reads or writes an element in a step."""
    return any(
        flat.get(array) == index and lane in (None, at)
        for array, index, at, *_ in [*step["reads"], *step["writes"]]
    )


def _first(values: Any) -> Any:
    return values[0] if values else None


def _linear(triple: Any, sizes: tuple[int, int, int]) -> int:
    x, y, z = triple
    return int(x + sizes[0] * (y + sizes[1] * z))
