"""Streams run callbacks in order, events take true times."""

import asyncio
import threading
import time

import pytest

from gpukit import errors
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


def test_elapsed_time_backwards_is_negative():
    first, second = streams.event(), streams.event()
    first.record()
    second.record()
    assert streams.event_elapsed_time(second, first) <= 0


def test_elapsed_time_of_an_event_never_recorded_says_so():
    start, end = streams.event(), streams.event()
    start.record()
    with pytest.raises(CudaAPIError, match="end event was never recorded"):
        start.elapsed_time(end)


def test_elapsed_time_of_an_event_without_timing_says_so():
    start = streams.event(timing=False)
    start.record()
    with pytest.raises(CudaAPIError, match="timing=False"):
        start.elapsed_time(start)


def test_an_event_is_done_as_soon_as_it_is_recorded():
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


def test_async_done_gives_the_stream():
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
    made = streams.default_stream(), streams.legacy_default_stream()
    assert [int(s) for s in made] == [0, 1]
    assert int(streams.per_thread_default_stream()) == 2
    assert repr(made[0]) == "<Default CUDA stream>"


def test_streams_are_told_apart_by_their_handles():
    assert int(streams.stream()) != int(streams.stream())


def test_an_external_stream_is_refused_with_what_to_do():
    with pytest.raises(errors.TargetError, match=r"make one with cuda\.stream"):
        streams.external_stream(0x1234)
