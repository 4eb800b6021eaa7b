"""One instrumented launch: its shadow memory and its run."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from gpukit import errors
from gpukit.checked import segments, stop
from gpukit.checked.segments import Segment
from gpukit.checked.shadow_memory import MEMORY
from gpukit.checked.state import CheckerState, Seen
from gpukit.compiler import checker_state as w
from gpukit.compiler import context as layout
from gpukit.cpu.launch import failure, pool
from gpukit.cpu.launch import launcher as plain

_CHUNK_SECONDS = 0.1
_PATIENCE = 5.0  # seconds that blocks may run on after a finding
_lock = threading.RLock()  # shadow memory serves one launch at a time


class Interrupted(KeyboardInterrupt):
    """A KeyboardInterrupt in an instrumented launch, with what was `seen` before.

    `report` is the launch's report so far, where it was checked.
    """

    def __init__(self, reason: KeyboardInterrupt, seen: Seen, name: str) -> None:
        super().__init__(*reason.args)
        self.seen = seen
        self.name = name
        self.cause = stop.cause()
        self.report: Any = None

    def words(self) -> str:
        """Say what stopped the launch, how many blocks were done, and at which line it was."""
        seen, place = self.seen, self.seen.last_location()
        at = f", in line {place.line} of {errors.file_name(place.file)}" if place else ""
        at += f" (`{place.source.strip()}`)" if place and place.source else ""
        return (
            f"{self.name} was stopped by {self.cause} after {seen.blocks_done:,} of its "
            f"{seen.shape.blocks:,} blocks{at}"
        )


def in_words(stopped: KeyboardInterrupt) -> KeyboardInterrupt:
    """Return an interrupt as a plain KeyboardInterrupt, with the message of an `Interrupted`."""
    return KeyboardInterrupt(stopped.words()) if isinstance(stopped, Interrupted) else stopped


Progress = Callable[[int, int], None]  # (blocks done, total blocks)


class Launch:
    """A kernel with its arguments, ready to be run under the checker."""

    def __init__(self, kernel: Any, shape: Any, arguments: tuple[Any, ...], how: str) -> None:
        self.kernel = kernel
        self.shape = shape
        self.retrieve: list[Any] = []
        launcher = kernel.launcher
        self.packed = launcher.packed(shape, arguments, self.retrieve)
        self.compiled = launcher.instrumented(shape, self.packed, how)
        self.names = [p.name for p in launcher.parameters]
        self.arguments = self.packed.arguments  # with defaults and extensions applied

    def run(
        self,
        functions: tuple[int, ...],
        *,
        races: bool = True,
        progress: Progress | None = None,
        words: dict[int, int] | None = None,
        uninitialised: Any = None,
        reads: Any = None,
        blocks: Sequence[int] | None = None,
    ) -> Seen:
        """Run all blocks in order, calling `functions` (`engine/entries.py`) for all that happens.

        With `blocks`, ascending, run only those. `words` go into the checker;
        `uninitialised(segment)` returns flags of cells without a value, `reads(segment)` whether
        reads are recorded even where the launch writes nothing.
        """
        with _lock:
            return self._run(functions, races, progress, words or {}, uninitialised, reads, blocks)

    def _run(
        self,
        functions: Any,
        races: bool,
        progress: Any,
        words: Any,
        unset: Any,
        reads: Any,
        blocks: Sequence[int] | None,
    ) -> Seen:
        all_segments = self.segments()
        first = MEMORY.begin()
        for segment in all_segments:
            segment.uninitialised = unset(segment) if unset else None
            noted = segment.uninitialised is not None or (reads is not None and reads(segment))
            segment.constant = not noted and self._is_constant(segment)
            segment.cells = MEMORY.cells(
                segment.cell_count, clear=segment.uninitialised is not None
            )
            if segment.uninitialised is not None:
                flagged = segment.cells[0, : len(segment.uninitialised)]
                flagged[segment.uninitialised] = w.UNINITIALISED
        state = CheckerState(
            self.compiled, self.shape, all_segments, first, races, functions, words
        )
        start = time.perf_counter()
        error: BaseException | None = None
        try:
            error = self._blocks(state, progress, blocks)
        except KeyboardInterrupt as between_blocks:
            error = between_blocks
        finally:
            MEMORY.epoch = int(state.words[w.NOW]) + state.blocks + 1
            for segment in all_segments:
                if segment.uninitialised is None:
                    MEMORY.give_back(segment.cells)
        seconds = time.perf_counter() - start
        for action in self.retrieve:
            action()
        seen = state.seen(seconds, error)
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(error, seen, self.kernel.py_func.__name__)
        return seen

    def segments(self) -> list[Segment]:
        whole = self.compiled.whole_grid
        own = segments.own(
            self.compiled.instrumentation.segments,
            self.shape.shared,
            self.shape.blocks if whole else 1,
            self.shape.threads,
        )
        arrays = segments.arguments(self.names, self.arguments)
        # A GPU keeps NumPy arrays that a kernel captured in constant memory.
        frozen: list[segments.Array] = []
        captured = self.compiled.captured
        for name, array in zip(captured.names, captured.arguments, strict=True):
            if array.size:
                kept = arrays if array.flags.writeable else frozen
                kept.append(segments.of_array(name, array))
        constant = segments.of_arrays(frozen, "constant")
        return [*own, *segments.of_arrays(arrays), *constant]

    def _is_constant(self, segment: Segment) -> bool:
        """Tell whether the launch surely writes nothing in a segment of global memory."""
        if segment.space == "constant":
            return True
        return segment.space == "global" and not any(self.may_write(a.name) for a in segment.arrays)

    def may_write(self, name: str) -> bool:
        """Tell whether the launch may write the array of this name: not all writes are analysed."""
        instrumentation = self.compiled.instrumentation
        stores = set(instrumentation.stores)
        own = {r[name] for r in instrumentation.segments for name in ("name", "spelled")}
        return name.partition("[")[0] in stores or not stores <= own | set(self.names)

    def prepared(self, state: CheckerState) -> tuple[Callable[[int, int], int], pool.Bench]:
        """Return the instrumented function (first block, last) -> status, and its bench."""
        compiled, shape = self.compiled, self.shape
        prepared = plain.Prepared(self.kernel, compiled, shape, tuple(self.packed.kinds))
        buffer = prepared.buffer(self.packed)
        bench = pool.Bench()
        bench.ready(prepared.scratch)
        bench.context[layout.CHECKER] = state.address

        def run(first: int, last: int) -> int:
            address = ctypes.addressof(buffer)  # kept alive by this function
            status = compiled.entry(address, first, last, bench.address, bench.scratch_address)
            return int(status)

        return run, bench

    def _blocks(
        self, state: CheckerState, progress: Progress | None, blocks: Sequence[int] | None
    ) -> BaseException | None:
        """Run the blocks in chunks, to report progress; return the exception that stopped them."""
        total = self.shape.blocks if blocks is None else len(blocks)
        run, bench = self.prepared(state)
        done, size = 0, 1
        while done < total:
            first = done if blocks is None else blocks[done]
            count = total if self.compiled.whole_grid else min(size, total - done)
            if blocks is not None:  # a chunk is a range of blocks
                count = next((k for k in range(1, count) if blocks[done + k] != first + k), count)
            start = time.perf_counter()
            with _Watchdog(state, bench.context) as dog:
                status = run(first, first + count)
            if status > 0:
                return None if dog.bit else self._stopped(status, bench.context)
            size = _next_size(count, time.perf_counter() - start)
            done += count
            if progress is not None:
                progress(done, total)
        state.close()
        return None

    def _stopped(self, status: int, words: Any) -> BaseException:
        try:
            failure.raise_for(status, words, self.compiled, self.kernel.py_func)
        except BaseException as error:
            return error
        raise AssertionError("raise_for raises")


class _Watchdog:
    """Stops blocks that do not end after a finding in them: a mistake can cause that.

    Nothing but its own thread holds a timer after the `with` block. The main thread would run the
    callbacks of its death, and a Ctrl-C that comes in one of them is lost.
    """

    def __init__(self, state: CheckerState, context: Any) -> None:
        self.state = state
        self.context = context
        self.bit = False
        self._timer: threading.Timer | None = None

    def __enter__(self) -> _Watchdog:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def _start(self) -> None:
        self._timer = threading.Timer(_PATIENCE, self._bite)
        self._timer.daemon = True
        self._timer.start()

    def _bite(self) -> None:
        if self.state.words[w.FOUND]:
            self.bit = self.state.stopped = True
            self.context[layout.CANCEL] = 1
        elif self._timer is not None:
            self._start()


def _next_size(size: int, seconds: float) -> int:
    """Return how many blocks to run next, so that a chunk takes about a tenth of a second."""
    fitting = size * _CHUNK_SECONDS / max(seconds, 1e-6)
    return max(1, min(int(fitting), 8 * size))
