"""One launch that is watched: its shadow memory, its run, and what the watch saw."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpukit import errors
from gpukit.checked import regions
from gpukit.checked.regions import Region
from gpukit.checked.shadow import MEMORY
from gpukit.compiler import context as layout
from gpukit.compiler import watch
from gpukit.cpu import failure, pool
from gpukit.cpu import launch as plain

_SINK_BYTES = 4096
_CHUNK_SECONDS = 0.1
_PATIENCE = 5.0  # seconds that blocks may take after something was found in them
_lock = threading.RLock()  # shadow memory serves one launch at a time


@dataclass
class Seen:
    """What a watched launch left behind, before it is put into words."""

    compiled: Any
    shape: Any
    regions: list[Region]
    findings: np.ndarray[Any, Any]
    lost: int
    idle_blocks: int
    first_idle: int
    first_stamp: int
    seconds: float
    error: BaseException | None = None
    words: np.ndarray[Any, Any] | None = field(default=None, repr=False)
    stopped: bool = False  # by us, because it did not end

    def last_site(self) -> Any:
        """Return the place of the last access; None if there was none."""
        number = int(self.words[watch.LAST_SITE]) if self.words is not None else -1
        return None if number < 0 else self.compiled.sites[self.compiled.told.sites[number]]

    @property
    def idle_warps(self) -> int:
        """How many warps touched no memory."""
        return int(self.words[watch.IDLE_WARPS]) if self.words is not None else 0

    def written(self, region: Region) -> np.ndarray[Any, Any]:
        """Return for each cell of a region whether the launch wrote it."""
        cells = region.cells[0, : region.cell_count]
        flags: np.ndarray[Any, Any] = cells >= self.first_stamp << watch.STAMP
        return flags


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a watched launch, with what was `seen` before."""

    def __init__(self, reason: KeyboardInterrupt, seen: Seen) -> None:
        super().__init__(*reason.args)
        self.seen = seen


Progress = Callable[[int, int], None]  # (blocks done, blocks in all)


class Launch:
    """A kernel with its arguments, ready to be run under a watch."""

    def __init__(self, kernel: Any, shape: Any, arguments: tuple[Any, ...], how: str) -> None:
        self.kernel = kernel
        self.shape = shape
        self.retrieve: list[Any] = []
        launcher = kernel.launcher
        self.packed = launcher.packed(shape, arguments, self.retrieve)
        self.compiled = launcher.watched(shape, self.packed, how)
        self.names = [p.name for p in launcher.parameters]
        self.arguments = self.packed.arguments  # defaults and extensions have been at work

    def run(
        self, functions: tuple[int, ...], *, races: bool = True, progress: Progress | None = None,
        words: dict[int, int] | None = None, uninitialised: Any = None,
    ) -> Seen:  # fmt: skip
        """Run all blocks in order; `functions` are told what happens (`runtime/entries.py`).

        `words` go into the watch; `uninitialised(region)` returns flags of cells without a value.
        """
        with _lock:
            return self._run(functions, races, progress, words or {}, uninitialised)

    def _run(self, functions: Any, races: bool, progress: Any, words: Any, unset: Any) -> Seen:
        all_regions = self.regions()
        first = MEMORY.begin()
        for region in all_regions:
            region.uninitialised = unset(region) if unset else None
            region.constant = region.uninitialised is None and self._is_constant(region)
            region.cells = MEMORY.cells(region.cell_count, clear=region.uninitialised is not None)
            if region.uninitialised is not None:
                flagged = region.cells[0, : len(region.uninitialised)]
                flagged[region.uninitialised] = watch.UNINITIALISED
        state = Watch(self, all_regions, first, races, functions, words)
        start = time.perf_counter()
        error: BaseException | None = None
        try:
            error = self._blocks(state, progress)
        finally:
            MEMORY.stamp = int(state.words[watch.NOW]) + state.blocks + 1
            for region in all_regions:
                if region.uninitialised is None:
                    MEMORY.give_back(region.cells)
        seconds = time.perf_counter() - start
        for action in self.retrieve:
            action()
        seen = state.seen(self, all_regions, first, seconds, error)
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(error, seen)
        return seen

    def regions(self) -> list[Region]:
        whole = self.compiled.whole_grid
        own = regions.own(
            self.compiled.told.regions, self.shape.shared, self.shape.blocks if whole else 1,
            self.shape.threads,
        )  # fmt: skip
        arrays = regions.arguments(self.names, self.arguments)
        # A GPU keeps NumPy arrays that a kernel captured in constant memory.
        frozen: list[regions.Array] = []
        captured = self.compiled.captured
        for name, array in zip(captured.names, captured.arguments, strict=True):
            if array.size:
                kept = arrays if array.flags.writeable else frozen
                kept.append(regions.of_array(name, array))
        constant = regions.of_arrays(frozen, "constant")
        return [*own, *regions.of_arrays(arrays), *constant]

    def _is_constant(self, region: Region) -> bool:
        """Tell whether the launch surely writes nothing in a region of global memory."""
        if region.space == "constant":
            return True
        told = self.compiled.told
        own = {r["name"] for r in told.regions}
        known = set(told.stores) <= own | set(self.names)
        named = {a.name.partition("[")[0] for a in region.arrays}
        return region.space == "global" and known and not named & set(told.stores)

    def prepared(self, state: Watch) -> tuple[Callable[[int, int], int], pool.Bench]:
        """Return the function (first block, last) -> status under this watch, and its bench."""
        compiled, shape = self.compiled, self.shape
        buffer = plain.argument_buffer(compiled, shape, self.packed)
        bench = pool.Bench()
        bench.ready(compiled.scratch_bytes(shape.threads, shape.blocks, shape.shared))
        bench.context[layout.WATCH] = state.address

        def run(first: int, last: int) -> int:
            address = ctypes.addressof(buffer)  # which lives as long as this function
            status = compiled.entry(address, first, last, bench.address, bench.scratch_address)
            return int(status)

        return run, bench

    def _blocks(self, state: Watch, progress: Progress | None) -> BaseException | None:
        """Run the blocks in chunks, so that progress can be shown; return what stopped them."""
        compiled, shape = self.compiled, self.shape
        run, bench = self.prepared(state)
        first, size = 0, 1
        while first < shape.blocks:
            last = shape.blocks if compiled.whole_grid else min(first + size, shape.blocks)
            start = time.perf_counter()
            with _Watchdog(state, bench.context) as dog:
                status = run(first, last)
            if status > 0:
                return None if dog.bit else self._stopped(status, bench.context)
            size = _next_size(size, time.perf_counter() - start)
            first = last
            if progress is not None:
                progress(first, shape.blocks)
        state.close()
        return None

    def _stopped(self, status: int, words: Any) -> BaseException:
        try:
            failure.raise_for(status, words, self.compiled, self.kernel.py_func)
        except BaseException as error:
            return error
        raise AssertionError("raise_for raises")


class _Watchdog:
    """Stops blocks that do not end after something was found in them: a mistake can do that."""

    def __init__(self, state: Watch, context: Any) -> None:
        self.state = state
        self.context = context
        self.bit = False
        self.timer = threading.Timer(_PATIENCE, self._bite)
        self.timer.daemon = True

    def __enter__(self) -> _Watchdog:
        self.timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()

    def _bite(self) -> None:
        if self.state.words[watch.FOUND]:
            self.bit = self.state.stopped = True
            self.context[layout.CANCEL] = 1
        else:
            self.timer = threading.Timer(_PATIENCE, self._bite)
            self.timer.daemon = True
            self.timer.start()


def _next_size(size: int, seconds: float) -> int:
    """Return how many blocks to run next, so that a chunk takes about a tenth of a second."""
    fitting = size * _CHUNK_SECONDS / max(seconds, 1e-6)
    return max(1, min(int(fitting), 8 * size))


class Watch:
    """The words of a watch and the tables that stand behind its addresses."""

    def __init__(
        self, launch: Launch, all_regions: list[Region], first: int, races: bool,
        functions: tuple[int, ...], extra: dict[int, int],
    ) -> None:  # fmt: skip
        shape = launch.shape
        self.stopped = False  # by the watchdog
        self.blocks = shape.blocks if launch.compiled.whole_grid else 0
        self.words = np.zeros(watch.WORDS, np.int64)
        self.findings = np.zeros((watch.MAX_FINDINGS, watch.FINDING_WORDS), np.int64)
        self.stamps = np.zeros((shape.blocks + 1, 2), np.int64)
        self.sink = np.zeros(_SINK_BYTES, np.uint8)
        self.table = np.zeros((max(len(all_regions), 1), watch.REGION_WORDS), np.int64)
        for row, region in zip(self.table, all_regions, strict=False):
            row[watch.BEGIN], row[watch.END] = region.begin, region.end
            row[watch.CELLS] = region.cells.ctypes.data
            row[watch.GAP] = region.cells.strides[0]
            row[watch.SHIFT] = region.granule.bit_length() - 1
            row[watch.BASE] = region.base
            row[watch.CONSTANT] = int(region.constant)
            row[watch.COUNTED] = regions.SPACES[region.space]
            constant = region.space == "constant"
            row[watch.SPACE] = watch.GLOBAL if constant else regions.SPACES[region.space]
        self.table[:, watch.NUMBER] = np.arange(len(self.table))
        put = self.words.__setitem__
        for word in (watch.NOW, watch.LAUNCH, watch.EPOCH, watch.BLOCK, watch.ORIGIN):
            put(word, first)
        put(watch.WHOLE, self.blocks)
        put(watch.BLOCK_X, shape.block[0])
        put(watch.BLOCK_Y, shape.block[1])
        put(watch.THREADS, shape.threads)
        put(watch.REGIONS, len(all_regions))
        put(watch.REGION_TABLE, self.table.ctypes.data)
        put(watch.FINDINGS, self.findings.ctypes.data)
        put(watch.SINK, self.sink.ctypes.data)
        put(watch.BLOCK_STAMPS, self.stamps.ctypes.data)
        put(watch.RACES, int(races))
        put(watch.LAST_SITE, -1)
        told = launch.compiled.told
        self.decided = np.array([*told.decided, 0], np.uint8)
        put(watch.DECIDED, self.decided.ctypes.data)
        if told.fences and races:
            self._follow_fences(all_regions, shape)
        self.words[watch.FUNCTIONS : watch.FUNCTIONS + len(functions)] = functions
        for word, value in extra.items():
            put(word, value)

    def _follow_fences(self, all_regions: list[Region], shape: Any) -> None:
        """Set up the tables of fences; memory that nobody touches costs nothing."""
        threads = shape.threads * max(self.blocks, 1)
        sizes = {
            watch.KNOWN: 2 * threads,
            watch.NODES: watch.MAX_NODES * watch.NODE_WORDS,
            watch.LAST_READS: shape.blocks,
        }
        self.tables = [np.zeros(n, np.int64) for n in sizes.values()]
        for word, table in zip(sizes, self.tables, strict=True):
            self.words[word] = table.ctypes.data
        for row, region in zip(self.table, all_regions, strict=False):
            if region.space != "local":
                self.tables.append(np.zeros(region.cell_count, np.int64))
                row[watch.HEADS] = self.tables[-1].ctypes.data

    @property
    def address(self) -> int:
        return int(self.words.ctypes.data)

    def close(self) -> None:
        """Look at the last block too: which of its warps touched memory."""
        words = self.words
        if words[watch.BLOCKS_SEEN]:
            touched = int(words[watch.TOUCHED])
            if not touched:
                if not words[watch.IDLE_BLOCKS]:
                    words[watch.FIRST_IDLE] = words[watch.BLOCK_NUMBER]
                words[watch.IDLE_BLOCKS] += 1
            words[watch.IDLE_WARPS] += -(-int(words[watch.THREADS]) // 32) - touched.bit_count()

    def seen(
        self, launch: Launch, all_regions: list[Region], first: int, seconds: float,
        error: BaseException | None,
    ) -> Seen:  # fmt: skip
        """Return what was seen."""
        for row, region in zip(self.table, all_regions, strict=False):
            region.begin, region.end = int(row[watch.BEGIN]), int(row[watch.END])
        return Seen(
            launch.compiled, launch.shape, all_regions,
            self.findings[: int(self.words[watch.FOUND])], int(self.words[watch.LOST]),
            int(self.words[watch.IDLE_BLOCKS]), int(self.words[watch.FIRST_IDLE]), first, seconds,
            error, self.words, self.stopped,
        )  # fmt: skip


__all__ = ["Launch", "Seen", "errors"]
