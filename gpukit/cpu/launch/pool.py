"""Run the blocks of a launch on all cores, and stop them when one fails."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from gpukit.compiler import context as layout

# A launch shorter than this ends before another core could have started.
SHORT_NS = 200_000
# Until a kernel has been timed: this many threads in total count as short, on this many bytes.
SMALL_LAUNCH, SMALL_REACH = 1 << 15, 1 << 20
_PREDICTABLE = 2048  # threads from which on a launch's time is representative
_CHUNKS_PER_WORKER = 16
_CHUNK_NS = 50_000  # blocks are handed out in chunks of at least this much work
# The CPU clock of a thread, where its resolution suffices: waiting for the GIL is not work.
_fine = time.get_clock_info("thread_time").resolution < 1e-5
_clock = time.thread_time_ns if _fine else time.perf_counter_ns
_STACK_BYTES = 16 << 20


def workers() -> int:
    """Return how many cores launches use: GPUKIT_THREADS, or all that this process may use."""
    asked = os.environ.get("GPUKIT_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Bench(threading.local):
    """The state with which one thread of this process runs kernels: error context and scratch."""

    def __init__(self) -> None:
        self.context = (ctypes.c_int64 * layout.WORDS)()
        self.address = ctypes.addressof(self.context)
        self.scratch: Any = None
        self.scratch_address = 0
        self.size = 0

    def ready(self, size: int) -> None:
        """Clear the context and ensure `size` bytes of scratch memory."""
        context = self.context
        context[layout.CANCEL] = context[layout.CODE] = 0
        if size > self.size:
            self.scratch = ctypes.create_string_buffer(size + 64)
            self.scratch_address = (ctypes.addressof(self.scratch) + 63) // 64 * 64
            self.size = size


_bench = Bench()
Call = Callable[[int, int, int, int], int]  # (first, last, context, scratch) -> status


class Outcome:
    """The result of a launch: the first failure's status and a copy of its context."""

    def __init__(self) -> None:
        self.status = 0
        self.context: Any = None
        self.stopped = False
        self.work_ns = 0
        self.running: list[Any] = []
        self.lock = threading.Lock()

    @contextlib.contextmanager
    def worker(self, context: Any) -> Iterator[None]:
        """Allow `context` to be cancelled inside a `with` block; later launches may reuse it."""
        with self.lock:
            self.running.append(context)
        start = _clock()
        try:
            yield
        finally:
            with self.lock:
                self.work_ns += _clock() - start
                self.running.remove(context)

    def fail(self, status: int, context: Any) -> None:
        """Record a failure, the first one only, and let the other workers stop."""
        with self.lock:
            if self.context is None or self.context[layout.CODE] == layout.INTERRUPTED:
                self.status = status
                self.context = type(context).from_buffer_copy(context)
            self._cancel()
        first = ctypes.addressof(context) + 8 * layout.ALIVE
        ctypes.memset(first, 0, 1024)  # a smaller block writes fewer of these bytes

    def cancel(self) -> None:
        """Let all workers stop at their next poll."""
        with self.lock:
            self._cancel()

    def _cancel(self) -> None:
        self.stopped = True
        for other in self.running:
            other[layout.CANCEL] = 1


_DONE = Outcome()  # shared by all launches on one thread that do not fail


class ThreadTime:
    """The measured time per thread of a kernel, to predict which launches are short.

    Threads that stride through the grid take longer the more memory there is, so arrays of a
    similar size, up to a factor of two, have a time of their own: `reach` is their total in bytes.
    """

    def __init__(self) -> None:
        self.ns_per_thread: dict[int, float] = {}

    def is_short(self, threads: int, reach: int = 0) -> bool:
        """Tell whether a launch of so many threads ends before other cores could help."""
        known = self.ns_per_thread.get(reach.bit_length())
        if known is None:
            return threads <= SMALL_LAUNCH and reach <= SMALL_REACH
        return threads * known < SHORT_NS

    def chunk(self, threads: int, reach: int = 0) -> int:
        """Return how many blocks of so many threads make a chunk that is worth handing out."""
        known = self.ns_per_thread.get(reach.bit_length(), 100.0)
        return int(_CHUNK_NS / max(threads * known, 1.0))

    def note(self, threads: int, ns: int, reach: int = 0) -> None:
        """Record how long a launch took, in time of one core; tiny ones are not representative."""
        if threads >= _PREDICTABLE or ns >= SHORT_NS:
            self.ns_per_thread[reach.bit_length()] = ns / threads


def run(
    call: Call,
    blocks: int,
    threads: int,
    scratch: int,
    *,
    serial: bool,
    thread_time: ThreadTime,
    reach: int = 0,
    together: int = 1,
) -> Outcome:
    """Run all blocks of a launch and wait for them; KeyboardInterrupt stops them early.

    `reach` as in `ThreadTime`; `together` is how many neighbouring blocks are faster in one chunk.
    """
    count = 1 if serial or thread_time.is_short(blocks * threads, reach) else min(workers(), blocks)
    if count == 1:
        bench = _bench
        bench.ready(scratch)
        start = _clock()
        status = call(0, blocks, bench.address, bench.scratch_address)
        thread_time.note(blocks * threads, _clock() - start, reach)
        if status <= 0:
            return _DONE
        outcome = Outcome()
        outcome.fail(status, bench.context)
        return outcome
    least = max(thread_time.chunk(threads, reach), together)
    outcome = _run_shared(call, blocks, scratch, count, least)
    thread_time.note(blocks * threads, outcome.work_ns, reach)
    return outcome


def _run_shared(call: Call, blocks: int, scratch: int, count: int, least: int) -> Outcome:
    """Let `count` workers take chunks of blocks, each of `least` blocks or more."""
    outcome = Outcome()
    chunk = max(1, blocks // (count * _CHUNKS_PER_WORKER), min(least, -(-blocks // count)))
    starts = itertools.count(0, chunk)

    def work() -> None:
        bench = _bench
        bench.ready(scratch)
        with outcome.worker(bench.context):
            while not outcome.stopped:
                first = next(starts)
                if first >= blocks:
                    return
                last = min(first + chunk, blocks)
                status = call(first, last, bench.address, bench.scratch_address)
                if status > 0:
                    outcome.fail(status, bench.context)

    jobs = [_helpers.submit(work, k) for k in range(count - 1)]
    try:
        work()
        for job in jobs:
            job.wait()
    except BaseException:
        outcome.cancel()
        for job in jobs:
            job.wait()
        raise
    for job in jobs:
        if job.error is not None:
            raise job.error
    return outcome


class _Job:
    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.error: BaseException | None = None
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self.work()
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()

    def wait(self) -> None:
        # With a time limit, so that Ctrl-C gets through on every system.
        while not self.done.wait(0.5):
            pass


class _Helpers:
    """Worker threads that wait for jobs; started on first use, and again after a fork."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.queues: list[queue.SimpleQueue[_Job]] = []

    def submit(self, work: Callable[[], None], k: int) -> _Job:
        while len(self.queues) <= k:
            mine: queue.SimpleQueue[_Job] = queue.SimpleQueue()
            self.queues.append(mine)
            self._start(mine)
        job = _Job(work)
        self.queues[k].put(job)
        return job

    def _start(self, jobs: queue.SimpleQueue[_Job]) -> None:
        """Start a worker with a large enough stack; some systems give threads very little."""
        before = threading.stack_size(_STACK_BYTES)
        try:
            threading.Thread(target=self._serve, args=(jobs,), daemon=True).start()
        finally:
            threading.stack_size(before)

    @staticmethod
    def _serve(jobs: queue.SimpleQueue[_Job]) -> None:
        while True:
            jobs.get().run()


_helpers = _Helpers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.reset)
