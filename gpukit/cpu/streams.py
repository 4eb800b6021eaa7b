"""Streams and events of the CPU target.

A launch returns when it is done, so everything in a stream is done as soon as it was called,
and in order. Streams therefore defer nothing; they run callbacks, and events record times.

On a GPU launches in several streams return at once, and an event that is recorded in a later loop
comes after its own stream's launch only. Here the launches of the other streams lie in between:
`launched` sums up their time, and an event subtracts it.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from gpukit import errors
from gpukit.cpu import operations
from gpukit.cpu.driver_errors import CudaAPIError

if TYPE_CHECKING:  # both take long to import and few programs need them
    import asyncio
    from concurrent.futures import Future, ThreadPoolExecutor

# The handles that CUDA gives to its three default streams.
DEFAULT, LEGACY, PER_THREAD = 0, 1, 2
_NAMES = {
    DEFAULT: "<Default CUDA stream>",
    LEGACY: "<Legacy default CUDA stream>",
    PER_THREAD: "<Per-thread default CUDA stream>",
}
_INVALID_HANDLE = 400

_handles = itertools.count(16)
_numbers = itertools.count(1)
_alive: weakref.WeakSet[Stream] = weakref.WeakSet()

Callback = Callable[["Stream", int, Any], object]


class Stream:
    """A queue of work. Here all work before a call is done when the call is made."""

    number = 0  # among those that `stream()` created, in order, from 1

    def __init__(self, handle: int, finalizer: object = None, external: bool = False) -> None:
        self.handle = handle
        self.external = external
        self._worker: ThreadPoolExecutor | None = None
        self._pending: list[Future[None]] = []
        self._lock = threading.Lock()
        self._launched_at: int | None = None  # `_Launches.total` after its last launch
        _alive.add(self)

    def __int__(self) -> int:
        return self.handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self.handle)

    def __repr__(self) -> str:
        if self.handle in _NAMES:
            return _NAMES[self.handle]
        return f"<{'External ' if self.external else ''}CUDA stream {self.handle}>"

    def synchronize(self) -> None:
        """Wait until everything in this stream, callbacks included, is done."""
        self._finish()
        observer = operations.observer()
        if observer is not None:
            observer.synchronized(self)

    def _finish(self) -> None:
        """Wait until the callbacks are done."""
        self._launched_at = None
        with self._lock:
            pending, self._pending = self._pending, []
        for future in pending:
            future.result()

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Synchronize the stream at the end of the `with` block."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callback, arg: Any = None) -> None:
        """Call `callback(stream, status, arg)` on another thread, in order of registration.

        As with CUDA the callback must not launch kernels; an exception in it becomes a warning.
        """
        observer = operations.observer()
        if observer is not None:
            callback = observer.called_back(callback, self)
        self._submit(callback, arg)

    def _submit(self, callback: Callback, arg: Any) -> None:
        from concurrent.futures import ThreadPoolExecutor

        with self._lock:
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, thread_name_prefix="gpukit-stream")
            self._pending = [f for f in self._pending if not f.done()]
            self._pending.append(self._worker.submit(self._run, callback, arg))

    def _run(self, callback: Callback, arg: Any) -> None:
        try:
            callback(self, 0, arg)
        except Exception as error:
            warnings.warn(f"Exception in stream callback: {error}", RuntimeWarning, stacklevel=1)

    def async_done(self) -> asyncio.Future[Stream]:
        """Return an awaitable for the end of all work before it; its result is the stream."""
        import asyncio

        loop = asyncio.get_running_loop()
        future: asyncio.Future[Stream] = loop.create_future()

        def resolve(*_: object) -> None:
            if not future.done():
                future.set_result(self)

        observer = operations.observer()
        resolved = resolve if observer is None else observer.called_back(resolve, self)

        def callback(stream: Stream, status: int, arg: Any) -> None:
            loop.call_soon_threadsafe(resolved, stream, status, arg)

        self._submit(callback, None)
        return future


class _Launches:
    """The time in ns of launches in streams other than the default ones, which wait for all."""

    total = 0


def launched(stream: Any, began: int) -> None:
    """Record a launch that began at a time of `perf_counter_ns` and has just ended."""
    if _is_apart(stream):
        _Launches.total += time.perf_counter_ns() - began
        stream._launched_at = _Launches.total


def _is_apart(stream: Any) -> bool:
    return isinstance(stream, Stream) and stream.handle not in _NAMES


class Event:
    """A point in time in a stream. Times are real, from this machine's clock."""

    def __init__(self, handle: int = 0, finalizer: object = None, timing: bool = True) -> None:
        self.handle = handle or next(_handles)
        self.timing = timing
        self._recorded_ns: int | None = None
        self._stream: Any = DEFAULT

    def record(self, stream: Any = 0) -> None:
        """Record the time: everything before this call is done.

        Launches of other streams since this stream's last launch are not included.
        """
        self._stream = stream
        self._recorded_ns = time.perf_counter_ns()
        if _is_apart(stream) and stream._launched_at is not None:
            self._recorded_ns -= _Launches.total - stream._launched_at
        observer = operations.observer()
        if observer is not None:
            observer.recorded(self, stream)

    def query(self) -> bool:
        """Return True: work before the event is always done."""
        self._completed()
        return True

    def synchronize(self) -> None:
        """Return at once: work before the event is always done."""
        if _is_apart(self._stream):
            self._stream._launched_at = None
        self._completed()

    def _completed(self) -> None:
        observer = operations.observer()
        if observer is not None:
            observer.completed(self)

    def wait(self, stream: Any = 0) -> None:
        """Return at once: later work in the stream always finds the event done."""
        observer = operations.observer()
        if observer is not None:
            observer.awaited(self, stream)

    def elapsed_time(self, evtend: Event) -> float:
        """Return the milliseconds from this event to `evtend`."""
        return event_elapsed_time(self, evtend)

    def _time_ns(self, role: str) -> int:
        if not self.timing:
            raise CudaAPIError(
                _INVALID_HANDLE,
                f"elapsed_time: the {role} event was made with timing=False. "
                "Make it with cuda.event().",
            )
        if self._recorded_ns is None:
            raise CudaAPIError(
                _INVALID_HANDLE,
                f"elapsed_time: the {role} event was never recorded. Call record() on it first.",
            )
        self._completed()  # a GPU rejects the time of an event that is not done
        return self._recorded_ns


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Return the milliseconds between two recorded events."""
    return (evtend._time_ns("end") - evtstart._time_ns("start")) / 1e6


def event(timing: bool = True) -> Event:
    """Create an event. Only one created with `timing=True` has times."""
    return Event(timing=timing)


_default = Stream(DEFAULT)
_legacy = Stream(LEGACY)
_per_thread = Stream(PER_THREAD)


def stream() -> Stream:
    """Create a stream."""
    made = Stream(next(_handles))
    made.number = next(_numbers)
    return made


def default_stream() -> Stream:
    """Return the default stream."""
    return _default


def legacy_default_stream() -> Stream:
    """Return the legacy default stream."""
    return _legacy


def per_thread_default_stream() -> Stream:
    """Return the default stream of the calling thread."""
    return _per_thread


def external_stream(ptr: int) -> Stream:
    """Raise: a stream of another CUDA library needs a GPU."""
    raise errors.TargetError(
        f"external_stream: expected a GPU for the stream {ptr:#x}. External streams are "
        "unsupported in the simulator and on gpukit's CPU target: use cuda.stream()."
    )


def synchronize() -> None:
    """Wait until all launches and callbacks are done. Launches are done when they return."""
    for known in list(_alive):
        known._finish()
    observer = operations.observer()
    if observer is not None:
        observer.synchronized(None)
