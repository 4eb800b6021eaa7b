"""Drive the checker's native functions with single accesses, without a kernel."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np

from gpukit.checked import segments
from gpukit.checked.engine import entries
from gpukit.checked.shadow_memory import MEMORY
from gpukit.checked.state import CheckerState
from gpukit.compiler import checker_state as w
from tests.oracle.happens_before import FULL, NONE, STORE, WARP

SIZE = 4  # bytes of an element
_RACES = {w.RACE: FULL, w.SAME_VALUE: FULL, w.ATOMIC_RACE: FULL, w.WARP_RACE: WARP}


class Shadow:
    """Shadow memory of one array in a simulated launch."""

    def __init__(
        self,
        blocks: int,
        threads: int,
        elements: int,
        space: str = "global",
        *,
        fences: bool = False,
    ) -> None:
        self.array = np.zeros(elements, np.int32)
        begin = self.array.ctypes.data
        self.segment = segments.Segment(space, begin, begin + self.array.nbytes, SIZE, [])
        self.segment.arrays = [segments.of_array("a", self.array)]
        self.segment.cells = MEMORY.cells(elements)
        shape = SimpleNamespace(blocks=blocks, block=(threads, 1, 1), threads=threads)
        instrumentation = SimpleNamespace(fences=fences, decided=[0, 1])  # as sites 0 and 1
        compiled = SimpleNamespace(whole_grid=False, instrumentation=instrumentation)
        functions = entries.checking()
        first = MEMORY.begin()
        self.checker = CheckerState(compiled, shape, [self.segment], first, True, functions, {})
        self.calls = {
            name: ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * (count + 1))(address)
            for (name, count), address in zip(w.CALLS.items(), functions, strict=True)
        }
        self.threads = threads
        self.notes: list[tuple[int, ...]] = []
        note = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * (w.CALLS["note"] + 1))
        self.note = note(self._note)  # kept alive: the native side has only its address
        address = ctypes.cast(self.note, ctypes.c_void_p).value
        self.checker.words[w.FUNCTIONS + w.NOTE] = address

    def close(self) -> None:
        """Release the shadow memory, as a launch does."""
        MEMORY.epoch = int(self.checker.words[w.NOW]) + 1
        MEMORY.give_back(self.segment.cells)

    def call(self, name: str, *arguments: int) -> int:
        return int(self.calls[name](self.checker.address, *arguments))

    def begin(self, block: int) -> None:
        self.call("begin_block", block)

    def barrier(self) -> None:
        self.call("barrier", 0)

    def syncwarp(self, threads: list[int]) -> None:
        flags = np.zeros(self.threads + 8, np.uint8)
        flags[threads] = 1
        self.call("sync_warps", 0, self.threads, flags.ctypes.data)

    def address(self, element: int) -> int:
        return int(self.array.ctypes.data) + SIZE * element

    def fence(self, thread: int) -> None:
        self.call("fence", thread, 1)

    def access(self, thread: int, element: int, kind: int, *, depends: bool = False) -> None:
        location = int(depends)
        self.call("access", location, thread, self.address(element), SIZE, kind, 0)

    def row(self, threads: range, element: int, step: int, kind: int) -> None:
        """Record accesses of neighbouring threads, as vectorized code does."""
        place = (0, threads.start, len(threads), self.address(element), SIZE * step, SIZE, 0)
        if kind == STORE:
            if not self.call("row_free", *place):
                for k, thread in enumerate(threads):
                    self.access(thread, element + k * step, kind)
                return
            kind = w.CLAIM
        self.call("row", *place, kind)

    def _note(self, _watch: int, *finding: int) -> int:
        self.notes.append(finding)
        return 0

    def found(self) -> dict[int, int]:
        """Return the severity of each element's races found since the last call."""
        worst: dict[int, int] = {}
        for what, *_, address, _size, _a, _b in self.notes:
            at = (address - self.address(0)) // SIZE
            worst[at] = max(worst.get(at, NONE), _RACES.get(what, NONE))
        self.notes.clear()
        return worst
