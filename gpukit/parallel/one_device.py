"""Several tasks on one device: a stream with a priority for each, and who had the device when.

    timeline = parallel.run_tasks(
        parallel.Task("training", train_step, times=20),
        parallel.Task("requests", answer, arrivals=np.arange(20) * 0.05, priority=-1),
    )
    print(timeline)

Each call of a task, `train_step(stream)`, launches kernels in the stream of its task. On a GPU the
calls of different tasks run side by side, and free multiprocessors take blocks of the stream with
the highest priority; blocks that run are not interrupted. The CPU target runs one launch at a time
on all cores, so here a priority decides whose call is next: sharing saves no time, and a call waits
at least for the end of the one before it.

On a GPU a call starts when its stream reaches it, so that the wait for multiprocessors is part of
its time. Latencies, from arrival to end, mean the same everywhere.

Source: CUDA C++ Programming Guide, "Stream Priorities"
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gpukit import cuda, table, target
from gpukit.errors import GpukitError

NAP = 50e-6  # seconds after which the host looks for completed calls again


class Task(NamedTuple):
    """Work that is called several times: `times` in a row, or once at each of its `arrivals`.

    `work(stream)` launches kernels in the stream, or calls host functions with `stream=stream`.
    Arrivals are in seconds after the start, in ascending order. As in CUDA a lower `priority`
    goes first; 0 is the default, and GPUs know a few numbers below it.
    """

    name: str
    work: Callable[[Any], object]
    times: int | None = None
    arrivals: Sequence[float] | None = None
    priority: int = 0


class Span(NamedTuple):
    """A call of a task: when it arrived, when it began and ended, in seconds.

    Without arrivals a call arrives when the call before it in its task is done.
    """

    task: str
    number: int
    arrived: float
    start: float
    end: float


class TaskTimeline:
    """The calls of all tasks, `spans`, in the order of their starts; `print` shows a table."""

    def __init__(self, spans: Sequence[Span], priorities: dict[str, int]) -> None:
        self.spans = sorted(spans, key=lambda span: (span.start, span.end))
        self.priorities = priorities

    @property
    def rows(self) -> dict[str, list[Span]]:
        """The calls of each task, for `draw.task_chart`."""
        return {name: [s for s in self.spans if s.task == name] for name in self.priorities}

    @property
    def seconds(self) -> float:
        """The time until the last call has ended."""
        return max(span.end for span in self.spans)

    def waited(self, task: str) -> npt.NDArray[np.float64]:
        """Return for how many seconds each call of a task waited, from its arrival to its start."""
        return np.array([span.start - span.arrived for span in self.rows[task]])

    def latency(self, task: str) -> npt.NDArray[np.float64]:
        """Return the seconds of each call of a task from its arrival to its end."""
        return np.array([span.end - span.arrived for span in self.rows[task]])

    def __str__(self) -> str:
        """Return a row per task: its calls, the sum of their times, and their latencies."""
        lines = []
        for name, spans in self.rows.items():
            busy, latency = sum(span.end - span.start for span in spans), self.latency(name)
            figures = busy, float(np.median(latency)), float(latency.max())
            cells = [name, f"{self.priorities[name]}", f"{len(spans)}"]
            lines.append([*cells, *(f"{1e3 * figure:.2f} ms" for figure in figures)])
        headers = ["task", "priority", "calls", "busy", "median latency", "longest"]
        heads, rows = table.layout(headers, lines, right=[1, 2, 3, 4, 5])
        return "\n".join([*heads, *(line for row in rows for line in row)])


def run_tasks(*tasks: Task) -> TaskTimeline:
    """Run tasks side by side on the device of this process, and return who had it when.

    A call is ready when the call before it in its task is done (on a GPU the one before that, so
    that the stream never runs dry), and not before its arrival. Among calls that are ready the one
    of the highest priority goes first, then the one that has been ready for the longest time. An
    exception in a task ends all of them.
    """
    _check(tasks)
    with contextlib.closing(
        _DeviceClock() if target.active().name == "cuda" else _HostClock()
    ) as clock:
        queues = [_Queue(task, clock) for task in tasks]
        while unfinished := [queue for queue in queues if queue.left]:
            now = clock.now()
            ready = [queue for queue in unfinished if queue.ready(now)]
            if ready:
                min(ready, key=lambda queue: (queue.task.priority, queue.since)).call()
            else:
                _nap(unfinished, now)
        cuda.synchronize()
        spans = [span for queue in queues for span in queue.spans()]
    return TaskTimeline(spans, {task.name: task.priority for task in tasks})


def _nap(queues: Sequence[_Queue], now: float) -> None:
    """Sleep until the next arrival, or not for long where the device may be done before."""
    arrivals = [queue.since - now for queue in queues if queue.since > now]
    time.sleep(min(arrivals if len(arrivals) == len(queues) else [NAP, *arrivals]))


class _HostClock:
    """The host's clock: where launches are synchronous, a call is done when it returns."""

    ahead = 1  # calls of a task that are enqueued and not done, at most

    def __init__(self) -> None:
        self.begun = time.perf_counter()

    def now(self) -> float:
        """Return the seconds since the beginning."""
        return time.perf_counter() - self.begun

    def stream(self, _priority: int) -> Any:
        """Return a stream; the host alone decides what is next."""
        return cuda.stream()

    def mark(self, _stream: Any) -> Any:
        """Return a mark for the present in the stream."""
        return self.now()

    def passed(self, _mark: Any) -> bool:
        """Return whether the stream has come to a mark."""
        return True

    def seconds(self, mark: Any) -> float:
        """Return the time of a mark."""
        return float(mark)

    def close(self) -> None:
        """Do nothing: no stream needs to be destroyed."""


class _DeviceClock:
    """Events of the device: a call is done when its stream has come to the event after it."""

    ahead = 2

    def __init__(self) -> None:
        self.first = cuda.event()
        self.first.record()
        self.first.synchronize()
        self.begun = time.perf_counter()
        self.handles: list[Any] = []

    def now(self) -> float:
        """Return the seconds since the beginning."""
        return time.perf_counter() - self.begun

    def stream(self, priority: int) -> Any:
        """Create a stream with a priority; the driver clamps it to those that the GPU has."""
        from cuda.bindings import driver

        status, handle = driver.cuStreamCreateWithPriority(0, priority)  # 0: like cuda.stream()
        if int(status) != 0:
            raise GpukitError(f"run_tasks: the driver created no stream: {status!r}.")
        self.handles.append(handle)
        return cuda.external_stream(int(handle))

    def mark(self, stream: Any) -> Any:
        """Record an event in the stream."""
        event = cuda.event()
        event.record(stream)
        return event

    def passed(self, mark: Any) -> bool:
        """Return whether the stream has come to an event."""
        return bool(mark.query())

    def seconds(self, mark: Any) -> float:
        """Return the time of an event."""
        return float(cuda.event_elapsed_time(self.first, mark)) / 1e3

    def close(self) -> None:
        """Destroy the streams, once what is in them is done."""
        from cuda.bindings import driver

        for handle in self.handles:
            driver.cuStreamDestroy(handle)


class _Queue:
    """The calls of a task that are left, and the marks around those that were enqueued."""

    def __init__(self, task: Task, clock: _HostClock | _DeviceClock) -> None:
        self.task, self.clock = task, clock
        self.stream = clock.stream(task.priority)
        self.arrivals = [0.0] * (task.times or 0)
        if task.arrivals is not None:
            self.arrivals = [float(arrival) for arrival in task.arrivals]
        self.left = len(self.arrivals)
        self.marks: list[tuple[Any, Any]] = []
        self.running: list[Any] = []  # marks after calls that may not be done
        self.since = self.arrivals[0]  # when the next call became ready, or will

    def ready(self, now: float) -> bool:
        """Return whether the next call may be enqueued."""
        self.running = [mark for mark in self.running if not self.clock.passed(mark)]
        return self.since <= now and len(self.running) < self.clock.ahead

    def call(self) -> None:
        """Enqueue the next call."""
        before = self.clock.mark(self.stream)
        self.task.work(self.stream)
        after = self.clock.mark(self.stream)
        self.marks.append((before, after))
        self.running.append(after)
        self.left -= 1
        if self.left:
            self.since = max(self.arrivals[-self.left], self.clock.now())

    def spans(self) -> list[Span]:
        """Return what was called, once all of it is done."""
        found: list[Span] = []
        for number, (arrival, marks) in enumerate(zip(self.arrivals, self.marks, strict=True)):
            start, end = map(self.clock.seconds, marks)
            if self.task.arrivals is None:
                arrival = min(found[-1].end, start) if found else 0.0
            found.append(Span(self.task.name, number, arrival, start, end))
        return found


def _check(tasks: Sequence[Task]) -> None:
    if not tasks:
        raise ValueError("run_tasks: expected at least one task.")
    names = [task.name for task in tasks]
    for task in tasks:
        where = f"run_tasks: task {task.name!r}"
        if names.count(task.name) > 1:
            raise ValueError(f"{where} is given twice. Give each task a name of its own.")
        if (task.times is None) == (task.arrivals is None):
            raise ValueError(f"{where}: expected either times or arrivals, and not both.")
        if task.times is not None and task.times < 1:
            raise ValueError(f"{where}: expected times to be 1 or more, got {task.times}.")
        if task.arrivals is not None:
            arrivals = np.asarray(task.arrivals, np.float64)
            if arrivals.ndim != 1 or not arrivals.size or not np.isfinite(arrivals).all():
                raise ValueError(f"{where}: expected arrivals to be a list of seconds.")
            if arrivals[0] < 0 or (np.diff(arrivals) < 0).any():
                raise ValueError(
                    f"{where}: expected arrivals from 0 on in ascending order, got "
                    f"{arrivals.tolist()}."
                )
