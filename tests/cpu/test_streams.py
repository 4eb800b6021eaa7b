"""Streams run callbacks in order, events measure real time."""

import asyncio
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from gpukit import cuda, errors
from gpukit.cpu import streams
from gpukit.cpu.driver_errors import CudaAPIError


def test_elapsed_time_is_the_real_time_in_milliseconds():
    start, end = streams.event(), streams.event()
    before = time.perf_counter_ns()
    start.record()
    time.sleep(0.02)
    end.record()
    after = time.perf_counter_ns()
    assert 20 <= start.elapsed_time(end) <= (after - before) / 1e6


@pytest.fixture
def clock(monkeypatch):
    """A fake clock, advanced by `wait(milliseconds)`."""

    def wait(milliseconds):
        fake.now += milliseconds * 10**6

    fake = SimpleNamespace(now=0, wait=wait, perf_counter_ns=lambda: fake.now)
    monkeypatch.setattr(streams, "time", fake)
    return fake


def launch(clock, stream, milliseconds):
    """Simulate a launch of so many milliseconds."""
    began = clock.now
    clock.wait(milliseconds)
    streams.launched(stream, began)


def test_events_recorded_in_a_later_loop_have_the_times_of_their_launches(clock):
    several = [streams.stream() for _ in range(4)]
    starts, ends = ([streams.event() for _ in several] for _ in range(2))
    for k, stream in enumerate(several):
        starts[k].record(stream)
        launch(clock, stream, 10 + k)
    for end, stream in zip(ends, several, strict=True):
        end.record(stream)
    assert [a.elapsed_time(b) for a, b in zip(starts, ends, strict=True)] == [10, 11, 12, 13]
    assert starts[0].elapsed_time(ends[-1]) == 46


def test_an_event_after_host_work_is_recorded_when_it_is_called(clock):
    stream, start, end = streams.stream(), streams.event(), streams.event()
    launch(clock, stream, 5)
    clock.wait(100)
    start.record(stream)
    launch(clock, stream, 7)
    end.record(stream)
    assert start.elapsed_time(end) == 7


@pytest.mark.parametrize("wait", [0, 1, 2], ids=["stream", "event", "device"])
def test_an_event_after_a_synchronize_has_the_current_time(clock, wait):
    one, other = streams.stream(), streams.stream()
    first, start, end = streams.event(), streams.event(), streams.event()
    launch(clock, one, 5)
    first.record(one)
    launch(clock, other, 100)
    (one.synchronize, first.synchronize, streams.synchronize)[wait]()
    start.record(one)
    launch(clock, one, 7)
    end.record(one)
    assert start.elapsed_time(end) == 7


@pytest.mark.parametrize("waiting", [0, streams.default_stream()], ids=str)
def test_events_of_the_default_stream_wait_for_launches_of_all_streams(clock, waiting):
    start, end = streams.event(), streams.event()
    launch(clock, waiting, 1)
    start.record(waiting)
    launch(clock, streams.stream(), 20)
    end.record(waiting)
    assert start.elapsed_time(end) == 20


@cuda.jit
def spinning_kernel(rounds, out):
    for k in range(rounds):
        out[0] += k % 3


def test_launches_report_their_duration_to_their_stream():
    out, one, other = np.zeros(1, np.int64), cuda.stream(), cuda.stream()
    first, second = cuda.event(), cuda.event()
    spinning_kernel[1, 1, one](1, out)
    spinning_kernel[1, 1, other](10**7, out)  # some milliseconds on any machine
    first.record(one)
    second.record(other)
    assert cuda.event_elapsed_time(first, second) > 1


def test_elapsed_time_backwards_is_negative():
    first, second = streams.event(), streams.event()
    first.record()
    second.record()
    assert streams.event_elapsed_time(second, first) <= 0


def test_elapsed_time_of_an_unrecorded_event_is_refused():
    start, end = streams.event(), streams.event()
    start.record()
    with pytest.raises(CudaAPIError, match="end event was never recorded"):
        start.elapsed_time(end)


def test_elapsed_time_of_an_event_without_timing_is_refused():
    start = streams.event(timing=False)
    start.record()
    with pytest.raises(CudaAPIError, match="timing=False"):
        start.elapsed_time(start)


def test_an_event_is_complete_as_soon_as_it_is_recorded():
    event = streams.event()
    event.record()
    event.wait()
    event.synchronize()
    assert event.query()


def test_callbacks_run_in_order_on_another_thread():
    seen = []
    stream = streams.stream()
    for i in range(5):
        stream.add_callback(lambda s, status, arg: seen.append((s, status, arg)), i)
    stream.add_callback(lambda *_: seen.append(threading.current_thread()))
    stream.synchronize()
    assert seen[:5] == [(stream, 0, i) for i in range(5)]
    assert seen[5] is not threading.current_thread()


def test_async_done_returns_the_stream():
    async def wait(stream):
        return await asyncio.gather(*(stream.async_done() for _ in range(3)))

    stream = streams.stream()
    assert asyncio.run(wait(stream)) == [stream] * 3


def test_auto_synchronize_waits_for_callbacks():
    seen = []
    with streams.stream().auto_synchronize() as stream:
        stream.add_callback(lambda *_: seen.append(1))
    assert seen == [1]


def test_synchronize_waits_for_the_callbacks_of_every_stream():
    seen = []
    stream = streams.stream()
    stream.add_callback(lambda *_: time.sleep(0.01))
    stream.add_callback(lambda *_: seen.append(1))
    streams.synchronize()
    assert seen == [1]


def test_default_streams_have_cudas_handles_and_names():
    defaults = streams.default_stream(), streams.legacy_default_stream()
    assert [int(s) for s in defaults] == [0, 1]
    assert int(streams.per_thread_default_stream()) == 2
    assert repr(defaults[0]) == "<Default CUDA stream>"


def test_streams_have_distinct_handles():
    assert int(streams.stream()) != int(streams.stream())


def test_an_external_stream_is_refused_with_advice():
    with pytest.raises(errors.TargetError, match=r"use cuda\.stream"):
        streams.external_stream(0x1234)
