"""The checker's state of one instrumented launch, and what the launch leaves behind in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpukit.checked import segments
from gpukit.checked.segments import Segment
from gpukit.compiler import checker_state as w

_SCRATCH_BYTES = 4096


@dataclass
class Seen:
    """What an instrumented launch left behind, before it is put into words."""

    compiled: Any
    shape: Any
    segments: list[Segment]
    findings: np.ndarray[Any, Any]
    lost: int
    idle_blocks: int
    first_idle: int
    first_epoch: int
    seconds: float
    error: BaseException | None = None
    words: np.ndarray[Any, Any] | None = field(default=None, repr=False)
    stopped: bool = False  # by the watchdog, because it did not end
    # The kernel's numbers of the locations with atomics of several threads on one element.
    added_together: list[int] = field(default_factory=list)
    tables: Any = field(default=None, repr=False)  # owns the memory at the addresses in `words`

    def last_location(self) -> Any:
        """Return the location of the last access; None if there was none."""
        number = int(self.words[w.LAST_LOCATION]) if self.words is not None else -1
        return (
            None
            if number < 0
            else self.compiled.locations[self.compiled.instrumentation.locations[number]]
        )

    @property
    def blocks_done(self) -> int:
        """How many blocks ran to completion."""
        if self.error is None and not self.stopped:
            return int(self.shape.blocks)
        begun = int(self.words[w.BLOCKS_SEEN]) if self.words is not None else 0
        return max(begun - 1, 0)

    @property
    def idle_warps(self) -> int:
        """How many warps accessed no memory."""
        return int(self.words[w.IDLE_WARPS]) if self.words is not None else 0

    def written(self, segment: Segment) -> np.ndarray[Any, Any]:
        """Return for each cell of a segment whether the launch wrote it."""
        cells = segment.cells[0, : segment.cell_count]
        flags: np.ndarray[Any, Any] = cells >= self.first_epoch << w.EPOCH
        return flags


class CheckerState:
    """The checker's state of one launch, and the tables that its addresses point to."""

    def __init__(
        self,
        compiled: Any,
        shape: Any,
        all_segments: list[Segment],
        first: int,
        races: bool,
        functions: tuple[int, ...],
        extra: dict[int, int],
    ) -> None:
        self.compiled, self.shape = compiled, shape
        self.segments, self.first = all_segments, first
        self.stopped = False  # by the watchdog
        self.blocks = shape.blocks if compiled.whole_grid else 0
        self.words = np.zeros(w.WORDS, np.int64)
        self.findings = np.zeros((w.MAX_FINDINGS, w.FINDING_WORDS), np.int64)
        self.epochs = np.zeros((shape.blocks + 1, 2), np.int64)
        self.scratch = np.zeros(_SCRATCH_BYTES, np.uint8)
        self.table = np.zeros((max(len(all_segments), 1), w.SEGMENT_WORDS), np.int64)
        for row, segment in zip(self.table, all_segments, strict=False):
            row[w.BEGIN], row[w.END] = segment.begin, segment.end
            row[w.CELLS] = segment.cells.ctypes.data
            row[w.GAP] = segment.cells.strides[0]
            row[w.SHIFT] = segment.granule.bit_length() - 1
            row[w.BASE] = segment.base
            row[w.CONSTANT] = int(segment.constant)
            row[w.COUNTED] = segments.SPACES[segment.space]
            constant = segment.space == "constant"
            row[w.SPACE] = w.GLOBAL if constant else segments.SPACES[segment.space]
        self.table[:, w.NUMBER] = np.arange(len(self.table))
        self.sectors: list[np.ndarray[Any, Any]] = []
        if w.LOCATIONS in extra:
            self._count_sectors()
            self.trips = np.zeros((max(self.blocks, 1), w.TRIP_WORDS), np.int64)
            self.words[w.TRIPS] = self.trips.ctypes.data
        put = self.words.__setitem__
        for word in (w.NOW, w.LAUNCH, w.EPOCH, w.BLOCK, w.ORIGIN):
            put(word, first)
        put(w.WHOLE, self.blocks)
        put(w.BLOCK_X, shape.block[0])
        put(w.BLOCK_Y, shape.block[1])
        put(w.THREADS, shape.threads)
        put(w.SEGMENTS, len(all_segments))
        put(w.SEGMENT_TABLE, self.table.ctypes.data)
        put(w.FINDINGS, self.findings.ctypes.data)
        put(w.SCRATCH, self.scratch.ctypes.data)
        put(w.BLOCK_EPOCHS, self.epochs.ctypes.data)
        put(w.RACES, int(races))
        put(w.LAST_LOCATION, -1)
        instrumentation = compiled.instrumentation
        self.decided = np.array([*instrumentation.decided, 0], np.uint8)
        put(w.DECIDED, self.decided.ctypes.data)
        self.adders = np.zeros_like(self.decided)
        put(w.ADDERS, self.adders.ctypes.data)
        if instrumentation.fences and races:
            self._follow_fences()
        self.words[w.FUNCTIONS : w.FUNCTIONS + len(functions)] = functions
        for word, value in extra.items():
            put(word, value)

    def _count_sectors(self) -> None:
        """Set up the tables of the footprint: a quarter of what the arrays take.

        For a cooperative grid there is a bit for each block and sector as well; pages of them that
        no block touches take no memory.
        """
        for row, segment in zip(self.table, self.segments, strict=False):
            if segment.space == "global":
                first, last = (at - segment.base >> 5 for at in (segment.begin, segment.end - 1))
                words = np.zeros(last - first + 1, np.int64)
                bits = np.zeros((self.blocks, -(-len(words) // 8)), np.uint8)
                self.sectors += [words, bits]
                row[w.SECTORS] = words.ctypes.data
                row[w.SECTORS_OF_BLOCKS] = bits.ctypes.data if self.blocks else 0

    def _follow_fences(self) -> None:
        """Set up the tables of fences; memory that is never touched costs nothing."""
        threads = self.shape.threads * max(self.blocks, 1)
        sizes = {
            w.KNOWN: 2 * threads,
            w.NODES: w.MAX_NODES * w.NODE_WORDS,
            w.LAST_READS: self.shape.blocks,
        }
        self.tables = [np.zeros(n, np.int64) for n in sizes.values()]
        for word, table in zip(sizes, self.tables, strict=True):
            self.words[word] = table.ctypes.data
        for row, segment in zip(self.table, self.segments, strict=False):
            if segment.space != "local":
                self.tables.append(np.zeros(segment.cell_count, np.int64))
                row[w.HEADS] = self.tables[-1].ctypes.data

    @property
    def address(self) -> int:
        return int(self.words.ctypes.data)

    def close(self) -> None:
        """Process the last block too: which of its warps accessed memory."""
        words = self.words
        if words[w.BLOCKS_SEEN]:
            touched = int(words[w.TOUCHED])
            if not touched:
                if not words[w.IDLE_BLOCKS]:
                    words[w.FIRST_IDLE] = words[w.BLOCK_NUMBER]
                words[w.IDLE_BLOCKS] += 1
            words[w.IDLE_WARPS] += -(-int(words[w.THREADS]) // 32) - touched.bit_count()

    def seen(self, seconds: float, error: BaseException | None) -> Seen:
        """Return what was found."""
        for row, segment in zip(self.table, self.segments, strict=False):
            segment.begin, segment.end = int(row[w.BEGIN]), int(row[w.END])
        return Seen(
            self.compiled,
            self.shape,
            self.segments,
            self.findings[: int(self.words[w.FOUND])],
            int(self.words[w.LOST]),
            int(self.words[w.IDLE_BLOCKS]),
            int(self.words[w.FIRST_IDLE]),
            self.first,
            seconds,
            error,
            self.words,
            self.stopped,
            np.flatnonzero(self.adders).tolist(),
            self,
        )
