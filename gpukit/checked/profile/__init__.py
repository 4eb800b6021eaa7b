"""`gpukit.profile`: run a launch and count its memory traffic, line by line."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpukit import errors
from gpukit.checked.command import Command
from gpukit.checked.counters import Counts
from gpukit.checked.instrumented import Launch
from gpukit.checked.occupancy import OccupancyTable
from gpukit.checked.profile import advice as profile_advice
from gpukit.checked.profile import as_html, as_text
from gpukit.checked.profile import blocks as profile_blocks
from gpukit.checked.profile import occupancy as profile_occupancy
from gpukit.checked.profile import pattern as profile_pattern
from gpukit.checked.profile import source as profile_source
from gpukit.checked.profile.pattern import Pattern
from gpukit.checked.profile.source import Place
from gpukit.checked.progress import Bar
from gpukit.checked.state import Seen
from gpukit.compiler import checker_state
from gpukit.compiler.frontend import source as frontend_source
from gpukit.cpu.memory import uninitialised

_OPS = {checker_state.LOAD: "load", checker_state.STORE: "store", checker_state.UPDATE: "atomic"}


@dataclass
class Access:
    """One access in the source: its line and file, its array, and the cost of all its requests.

    `worst` is the largest number of sectors (global) or the conflict degree (shared) of a request,
    `array_bytes` the size of the array in global memory, else 0, `dtype` that of its elements.
    """

    line: int
    file: str
    text: str
    array: str
    space: str
    op: str
    size: int
    worst: int
    counts: Counts
    array_bytes: int = 0
    dtype: str = ""
    pattern: Pattern | None = field(default=None, repr=False)

    @property
    def place(self) -> Place:
        """Where the access is: its key in `Profile.lines`."""
        return Place(self.file, self.line)

    def as_dict(self) -> dict[str, Any]:
        """Return the access as plain data."""
        own = {k: v for k, v in vars(self).items() if k not in ("counts", "pattern")}
        lanes, offsets = (self.pattern.lanes, self.pattern.offsets) if self.pattern else ((), ())
        return {**own, **self.counts.values, "lanes": list(lanes), "offsets": list(offsets)}


@dataclass(repr=False)
class Profile:
    """The counters of a launch: in all, by file and line, by array, by access.

    `source` are the kernel's lines, `called` those of the device functions that it calls. The
    counters are those of `blocks_run` blocks: all `blocks` of the grid, unless it was profiled from
    some of them.
    """

    kernel: str
    file: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    source: list[tuple[int, str]]
    total: Counts
    lines: dict[Place, Counts]
    arrays: dict[str, Counts]
    accesses: list[Access]
    seconds: float = 0.0
    shared_static: int = 0
    shared_dynamic: int = 0
    notes: list[str] = field(default_factory=list)
    called: list[profile_source.Listing] = field(default_factory=list)
    remembered: profile_occupancy.Remembered | None = field(default=None, compare=False)
    blocks_run: int = 0

    def __post_init__(self) -> None:
        self.blocks_run = self.blocks_run or self.blocks

    @property
    def blocks(self) -> int:
        """The number of blocks in the grid."""
        return math.prod(self.grid)

    def __repr__(self) -> str:
        return self.text()

    def text(
        self, *, colour: bool = False, width: int | None = None, occupancy: bool = False
    ) -> str:
        """Return the profile for a terminal; `width` is the terminal's own, at most 100.

        `occupancy=True` compiles the kernel for GPUs, which takes some seconds, for its registers.
        """
        self.occupancy(registers=occupancy)
        return as_text.render(self, colour=colour, width=width)

    def _repr_html_(self) -> str:
        return as_html.render(self)

    def to_json(self, indent: int | None = 2) -> str:
        """Return the profile as JSON; its keys are the names in `counters`."""
        return json.dumps(self.as_dict(), indent=indent, allow_nan=False)

    def advice(self) -> list[str]:
        """Return what stands out and what to do about it, the costliest first."""
        return profile_advice.advise(self)

    def occupancy(self, registers: bool = False) -> OccupancyTable:
        """Return the occupancy on seven GPUs; `.rows` are plain data, and it prints as a table.

        `registers=True` compiles the kernel for each of them, which takes some seconds the first
        time, if the extra `cuda12` or `cuda13` is installed.
        """
        if registers and self.remembered:
            self.remembered.measure()
        return profile_occupancy.table(self)

    def pattern(self, access: Access | int | str) -> Pattern | None:
        """Return the most expensive request of an access: lane numbers and byte offsets.

        `access` is one of `accesses`, its index among them, or its text, such as "a[row, k]".
        """
        if isinstance(access, str):
            access = self._named(access)
        return (self.accesses[access] if isinstance(access, int) else access).pattern

    def _named(self, text: str) -> Access:
        for access in self.accesses:
            if text == access.text:
                return access
        known = ", ".join(dict.fromkeys(a.text for a in self.accesses))
        raise ValueError(
            f"pattern: expected an access of {self.kernel}, got {text!r}. Take one of {known}."
        )

    def every_line(self) -> list[tuple[int, str]]:
        """Return the lines of the kernel and of what it calls."""
        return [*self.source, *(line for listing in self.called for line in listing.lines)]

    def as_dict(self) -> dict[str, Any]:
        """Return the profile as plain data, for JSON."""
        return {
            "schema": "gpukit-profile",
            "version": 2,
            "kernel": self.kernel,
            "file": self.file,
            "grid": list(self.grid),
            "block": list(self.block),
            "blocks": self.blocks,
            "blocks_run": self.blocks_run,
            "total": self.total.as_dict(),
            "lines": [{**at._asdict(), **counts.as_dict()} for at, counts in self.lines.items()],
            "arrays": {k: v.as_dict() for k, v in self.arrays.items()},
            "accesses": [access.as_dict() for access in self.accesses],
            "shared_static": self.shared_static,
            "shared_dynamic": self.shared_dynamic,
            "occupancy": self.occupancy().rows,
            "advice": self.advice(),
            "notes": self.notes,
        }


def profile(kernel: Any, *, blocks: int | Sequence[int] | None = None) -> Command:
    """Return the kernel ready to be launched and counted.

    `gpukit.profile(kernel)[grid, block, stream, shared_bytes](*arguments)` runs the launch, with
    its usual effect on the arguments, and returns a `Profile`. An error of the kernel
    is raised, as by a plain launch. `gpukit.profile(function)(*arguments)` calls a function that
    launches kernels, and returns a list with the `Profile` of each launch, in order.

    `blocks` profiles a large launch from some of its blocks, without the effects of the others: a
    number of them, spread evenly over the grid from the first to the last, or their linear indices,
    x fastest. `Profile.blocks_run` of `Profile.blocks` blocks were then counted. Raises
    ArgumentError if the grid has no such blocks, or if blocks of the kernel wait for others.
    """
    run_ = run if blocks is None else functools.partial(run, blocks=blocks)
    return Command("profile", kernel, run_, join=list)


def run(
    kernel: Any, shape: Any, arguments: tuple[Any, ...], blocks: int | Sequence[int] | None = None
) -> Profile:
    """Run one launch, or some of its blocks, and return its profile."""
    from gpukit.checked.engine import entries

    launch = Launch(kernel, shape, arguments, "every")
    chosen = None if blocks is None else profile_blocks.chosen(launch, blocks)
    table = np.zeros(
        (len(launch.compiled.instrumentation.locations) + 1, checker_state.LOCATION_WORDS), np.int64
    )
    table[:, checker_state.S_WORK_LAST] = -1
    words = {checker_state.LOCATIONS: table.ctypes.data}
    with Bar(f"profile {kernel.py_func.__name__}") as bar:
        functions = bar.prepare(entries.counting)
        seen = launch.run(functions, races=False, progress=bar, words=words, blocks=chosen)
    uninitialised.touch_ranges(launch.packed.ranges)
    assert seen.words is not None
    entries.finish()(int(seen.words.ctypes.data), len(table))
    if seen.error is not None:
        raise seen.error
    _raise_outside(seen, kernel)
    made = _profile(launch, seen, table)
    if chosen is not None:
        made.blocks_run = len(chosen)
        made.notes += profile_blocks.note(made.blocks_run, made.blocks)
    return made


def _raise_outside(seen: Seen, kernel: Any) -> None:
    """Raise for an access outside an array: counts of such a launch would mean nothing."""
    from gpukit.checked import decode

    for found in decode.findings(seen):
        if found.kind == "out-of-bounds":
            raise errors.OutOfBounds(
                found.message,
                kernel=kernel.py_func.__name__,
                file=found.file,
                line=found.line,
                source=found.source,
                fix=found.fix,
                array=found.array,
                index=found.index,
            )


def _profile(launch: Launch, seen: Seen, table: np.ndarray[Any, Any]) -> Profile:
    compiled, shape = launch.compiled, launch.shape
    function = frontend_source.shown(launch.kernel.py_func)
    total, accesses, places = Counts(), [], []
    lines: dict[Place, Counts] = {}
    arrays: dict[str, Counts] = {}
    for number, (location, row) in enumerate(
        zip(compiled.instrumentation.locations, table, strict=False)
    ):
        place = compiled.locations[location]
        counts = _counts(row, compiled.instrumentation.operations.get(str(number), {}))
        if not counts.values:
            continue
        total.merge(counts)
        places.append(place)
        lines.setdefault(Place(place.file, place.line), Counts()).merge(counts)
        if row[checker_state.S_REQUESTS]:
            name = _array_name(seen, row, place)
            arrays.setdefault(name, Counts()).merge(counts)
            accesses.append(_access(seen, row, place, name, counts))
    # The kernel's own file comes first.
    own = function.__code__.co_filename
    accesses.sort(key=lambda a: (a.file != own, a.file, a.line, a.text))
    text = frontend_source.find(function).listing
    return Profile(
        function.__name__,
        own,
        shape.grid,
        shape.block,
        text,
        total,
        dict(sorted(lines.items(), key=lambda one: (one[0].file != own, one[0]))),
        arrays,
        accesses,
        seen.seconds,
        compiled.shared_bytes,
        shape.shared,
        [],
        profile_source.called(places, own, text),
        profile_occupancy.Remembered(launch.kernel, launch.arguments, compiled.instrumentation),
    )


def _counts(row: Any, operations: dict[str, int]) -> Counts:
    """Return the counters of one location in the source."""
    counts = Counts()
    op, space = _OPS[int(row[checker_state.S_KIND])], int(row[checker_state.S_SPACE])
    requests = int(row[checker_state.S_REQUESTS])
    if space == checker_state.GLOBAL:
        counts.add(f"global_{op}_requests", requests)
        counts.add(f"global_{op}_sectors", int(row[checker_state.S_SECTORS]))
        counts.add(f"global_{op}_lines", int(row[checker_state.S_LINES]))
        counts.add("global_load_footprint", int(row[checker_state.S_LOADED]))
        counts.add("global_store_footprint", int(row[checker_state.S_STORED]))
        counts.add("global_block_footprint", int(row[checker_state.S_OF_BLOCKS]))
        counts.add("global_bytes_asked", int(row[checker_state.S_ASKED]))
        counts.add("global_bytes_moved", 32 * int(row[checker_state.S_SECTORS]))
    elif space == checker_state.SHARED:
        wavefronts = int(row[checker_state.S_WAVEFRONTS])
        counts.add(f"shared_{op}_requests", requests)
        counts.add(f"shared_{op}_wavefronts", wavefronts)
        counts.add(f"shared_{op}_conflicts", wavefronts - int(row[checker_state.S_LEAST]))
    elif space == checker_state.CONSTANT_MEMORY:
        counts.add("constant_requests", requests)
        counts.add("constant_passes", int(row[checker_state.S_WAVEFRONTS]))
    else:
        counts.add("local_requests", requests)
    for name, field_ in (
        ("warp_steps", checker_state.S_STEPS),
        ("thread_steps", checker_state.S_THREADS),
        ("branches", checker_state.S_BRANCHES),
        ("divergent_branches", checker_state.S_DIVERGENT),
        ("barriers", checker_state.S_BARRIERS),
        ("dependent_trips", checker_state.S_TRIPS),
        ("atomic_serial", checker_state.S_SERIAL),
        ("atomic_contention", checker_state.S_CONTENTION),
    ):
        counts.add(name, int(row[field_]))
    threads = int(row[checker_state.S_THREADS]) + int(row[checker_state.S_RUNS])
    for name, count in operations.items():
        counts.add(
            name, count * (int(row[checker_state.S_STEPS]) if name == "shuffles" else threads)
        )
    return counts


def _array_name(seen: Seen, row: Any, place: Any) -> str:
    number = int(row[checker_state.S_SEGMENT])
    return str(seen.segments[number].array_named(place.array).name) if number >= 0 else place.array


def _access(seen: Seen, row: Any, place: Any, name: str, counts: Counts) -> Access:
    number = int(row[checker_state.S_SEGMENT])
    segment = seen.segments[number] if number >= 0 else None
    space = checker_state.SPACES[int(row[checker_state.S_SPACE])]
    op = _OPS[int(row[checker_state.S_KIND])]
    size, worst = int(row[checker_state.S_SIZE]), int(row[checker_state.S_WORST])
    array_bytes = segment.end - segment.begin if segment and segment.space == "global" else 0
    pattern = profile_pattern.of_row(row, segment, place.what, place.line)
    dtype = segment.array_named(place.array).dtype if segment else ""
    return Access(
        place.line,
        place.file,
        place.what,
        name,
        space,
        op,
        size,
        worst,
        counts,
        array_bytes,
        dtype,
        pattern,
    )
