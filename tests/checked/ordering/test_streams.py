"""Which operations CUDA puts in order, and which not: streams, events, copies, the host."""

from __future__ import annotations

import numpy as np
import pytest

import gpukit
from gpukit import cuda, target

pytestmark = pytest.mark.skipif(target.wanted() == "cuda", reason="the CPU's launches are watched")

N = 256


@cuda.jit
def fill_kernel(out, value):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = value


@cuda.jit
def copy_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]


@cuda.jit
def gather_kernel(x, out, start):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[start + i]


@cuda.jit
def tally_kernel(total):
    cuda.atomic.add(total, 0, 1)


@cuda.jit
def even_kernel(out, first):
    i = first + 2 * cuda.grid(1)
    if i < out.size:
        out[i] = i


def fill(array, stream=0):
    fill_kernel[2, 128, stream](array, 1)


def races(program):
    """Check a program; return the kinds of races that it has."""
    found = gpukit.check(program)().findings
    return [f.kind for f in found if f.kind in ("stream-race", "host-race")]


def device():
    return cuda.device_array(N, np.float32)


def pinned():
    made = cuda.pinned_array(N, np.float32)
    made[:] = 0
    return made


# --- The default streams -----------------------------------------------------------------------


@pytest.mark.parametrize("last", [0, "default_stream", "legacy_default_stream"])
def test_default_stream_waits_for_all_streams(last):
    def program():
        x = device()
        fill(x, cuda.stream())
        fill(x, getattr(cuda, last)() if last else 0)

    assert races(program) == []


def test_streams_wait_for_the_default_stream():
    def program():
        x = device()
        fill(x)
        fill(x, cuda.stream())

    assert races(program) == []


def test_default_stream_puts_others_in_order():
    def program():
        x, other = device(), device()
        fill(x, cuda.stream())
        fill(other)
        fill(x, cuda.stream())

    assert races(program) == []


def test_per_thread_default_stream_waits_for_the_legacy_one_only():
    def program(between):
        x, s = device(), cuda.stream()
        fill(x, s)
        if between:
            fill(device())
        fill(x, cuda.per_thread_default_stream())

    assert races(lambda: program(True)) == []
    assert races(lambda: program(False)) == ["stream-race"]


# --- Events ------------------------------------------------------------------------------------


def with_event(use):
    """Two launches on one array, with something done with an event in between."""

    def program():
        x, one, two, done = device(), cuda.stream(), cuda.stream(), cuda.event()
        fill(x, one)
        use(done, one, two)
        fill(x, two)

    return races(program)


def test_event_that_is_recorded_and_waited_for_orders_streams():
    assert with_event(lambda e, one, two: (e.record(one), e.wait(two))) == []


@pytest.mark.parametrize(
    "use",
    [
        lambda e, one, two: None,
        lambda e, one, two: e.record(one),
        lambda e, one, two: e.wait(two),
        lambda e, one, two: (e.wait(two), e.record(one)),
        lambda e, one, two: (e.record(two), e.wait(two)),
        lambda e, one, two: (e.record(one), e.wait(one)),
        lambda e, one, two: (e.record(one), e.record(two), e.wait(two)),
    ],
    ids=["none", "recorded", "waited", "too_early", "wrong_record", "wrong_wait", "overwritten"],
)
def test_event_that_misses_one_half_orders_nothing(use):
    assert with_event(use) == ["stream-race"]


@pytest.mark.parametrize(
    "use",
    [
        lambda e, one, two: (e.record(one), e.synchronize()),
        lambda e, one, two: e.record(one) or e.query(),
        lambda e, one, two: (e.record(one), cuda.event_elapsed_time(e, e)),
        lambda e, one, two: one.synchronize(),
        lambda e, one, two: cuda.synchronize(),
        lambda e, one, two: cuda.current_context().synchronize(),
        lambda e, one, two: cuda.default_stream().synchronize(),
        lambda e, one, two: one.auto_synchronize().__enter__() and one.synchronize(),
    ],
)
def test_host_that_waits_for_the_first_stream_orders_both(use):
    assert with_event(use) == []


def test_order_is_handed_on_by_a_third_stream():
    def program():
        x = device()
        one, two, three = (cuda.stream() for _ in range(3))
        first, second = cuda.event(), cuda.event()
        fill(x, one)
        first.record(one)
        first.wait(two)
        second.record(two)
        second.wait(three)
        fill(x, three)

    assert races(program) == []


# --- Bytes -------------------------------------------------------------------------------------


def test_disjoint_slices_of_one_array_do_not_clash():
    def program():
        x = device()
        fill(x[: N // 2], cuda.stream())
        fill(x[N // 2 :], cuda.stream())

    assert races(program) == []


def test_slices_that_share_an_element_clash():
    def program():
        x = device()
        fill(x[: N // 2 + 1], cuda.stream())
        fill(x[N // 2 :], cuda.stream())

    assert races(program) == ["stream-race"]


def test_interleaved_elements_of_one_array_do_not_clash():
    def program(second):
        x = device()
        even_kernel[1, N, cuda.stream()](x, 0)
        even_kernel[1, N, cuda.stream()](x, second)

    assert races(lambda: program(1)) == []
    assert races(lambda: program(0)) == ["stream-race"]


def test_launch_reads_only_the_elements_that_it_loads():
    def program(start):
        x, out, h = cuda.to_device(np.zeros(2 * N, np.float32)), device(), pinned()
        gather_kernel[2, 128, cuda.stream()](x, out, start)
        x[:N].copy_to_device(h, stream=cuda.stream())
        cuda.synchronize()

    assert races(lambda: program(N)) == []
    assert races(lambda: program(N - 1)) == ["stream-race"]


def test_columns_of_a_matrix_do_not_clash_with_others():
    def program():
        x = cuda.to_device(np.zeros((8, 8), np.float32))
        x.setitem((slice(None), slice(0, 4)), 1, stream=cuda.stream())
        x.setitem((slice(None), slice(4, 8)), 2, stream=cuda.stream())

    assert races(program) == []


def test_two_readers_do_not_clash():
    def program():
        x = cuda.to_device(np.zeros(N, np.float32))
        copy_kernel[2, 128, cuda.stream()](x, device())
        copy_kernel[2, 128, cuda.stream()](x, device())

    assert races(program) == []


def test_atomics_of_two_streams_do_not_clash_but_a_plain_write_does():
    def program(last):
        total = cuda.to_device(np.zeros(1, np.int32))
        tally_kernel[1, 32, cuda.stream()](total)
        last(total, cuda.stream())

    assert races(lambda: program(lambda t, s: tally_kernel[1, 32, s](t))) == []
    assert races(lambda: program(lambda t, s: fill_kernel[1, 1, s](t, 0))) == ["stream-race"]


def test_memory_used_again_has_no_past():
    def program():
        for _ in range(50):
            fill(device(), cuda.stream())

    assert races(program) == []


# --- Copies ------------------------------------------------------------------------------------


def test_pageable_memory_may_be_overwritten_behind_an_asynchronous_upload():
    def program():
        x, s = np.zeros(N, np.float32), cuda.stream()
        d = cuda.to_device(x, stream=s)
        x[:] = 1
        fill(d, s)

    assert races(program) == []


def test_upload_of_pageable_memory_is_still_unordered_with_other_streams():
    def program():
        d = cuda.to_device(np.zeros(N, np.float32), stream=cuda.stream())
        fill(d, cuda.stream())

    assert races(program) == ["stream-race"]


def test_download_to_pageable_memory_waits_for_its_stream():
    def program():
        x, s = device(), cuda.stream()
        fill(x, s)
        x.copy_to_host(stream=s)
        fill(x, cuda.stream())

    assert races(program) == []


def test_download_without_a_stream_waits_for_all_streams():
    def program():
        x, h = device(), pinned()
        fill(x, cuda.stream())
        x.copy_to_host(h)
        assert h[0] == 1

    assert races(program) == []


def test_array_bound_to_a_stream_downloads_on_it():
    def program():
        h, s = pinned(), cuda.stream()
        x = cuda.device_array(N, np.float32, stream=s)
        fill(x, s)
        x.copy_to_host(h)
        h.sum()

    assert races(program) == ["host-race"]


def test_copy_between_device_arrays_belongs_to_its_stream():
    def program(s):
        x, y = device(), device()
        fill(x, s)
        y.copy_to_device(x, stream=s)
        fill(y, cuda.stream())

    assert races(lambda: program(cuda.stream())) == ["stream-race"]


def test_element_of_a_device_array_is_a_copy_that_waits():
    def program():
        x, h, s = device(), pinned(), cuda.stream()
        x.copy_to_device(h, stream=s)
        x[0]
        h[:] = 1

    assert races(program) == []


def test_array_interface_synchronizes_the_stream_it_names():
    def program():
        s = cuda.stream()
        x = cuda.device_array(N, np.float32, stream=s)
        fill(x, s)
        fill(cuda.as_cuda_array(Foreign(x.__cuda_array_interface__)), cuda.stream())

    assert races(program) == []


class Foreign:
    def __init__(self, interface):
        self.__cuda_array_interface__ = interface


def test_memset_on_a_stream_is_an_operation_of_it():
    def program():
        x = device()
        cuda.driver.device_memset(x, 0, x.nbytes, cuda.stream())
        fill(x, cuda.stream())

    assert races(program) == ["stream-race"]


# --- Arguments of launches, reductions, array functions ----------------------------------------


def test_numpy_argument_is_copied_back_before_the_launch_returns():
    def program():
        x, s = np.zeros(N, np.float32), cuda.stream()
        d = device()
        fill(d, s)
        fill(x, s)
        fill(d, cuda.stream())

    assert races(program) == []


def test_pinned_argument_that_is_only_an_input_may_be_read():
    def program(hint):
        h, s = pinned(), cuda.stream()
        copy_kernel[2, 128, s](hint(h), device())
        h.sum()
        s.synchronize()

    assert races(lambda: program(cuda.In)) == []
    assert races(lambda: program(cuda.InOut)) == ["host-race"]


def test_pinned_input_of_an_array_function_may_be_read():
    add = cuda.vectorize(["float32(float32, float32)"])(lambda a, b: a + b)

    def program():
        h, s = pinned(), cuda.stream()
        x = cuda.to_device(np.ones(N, np.float32), stream=s)
        add(x, x, stream=s)
        out = cuda.pinned_array(N, np.float32)
        add(h, h, out=out, stream=s)
        h.sum()
        s.synchronize()

    assert races(program) == []


def test_result_of_a_reduction_is_waited_for():
    add = cuda.reduce(lambda a, b: a + b)

    def program():
        x, h, s = device(), pinned(), cuda.stream()
        x.copy_to_device(h, stream=s)
        add(x, stream=s)
        h[:] = 1

    assert races(program) == []


def test_reduction_into_device_memory_is_work_of_its_stream():
    add = cuda.reduce(lambda a, b: a + b)

    def program():
        x, s = cuda.to_device(np.ones(N, np.float32)), cuda.stream()
        res = cuda.to_device(np.zeros(1, np.float32))
        add(x, res=res, stream=s)
        fill(res, cuda.stream())

    assert races(program) == ["stream-race"]


# --- Memory that goes away ---------------------------------------------------------------------


def test_device_memory_may_be_freed_behind_a_launch():
    def program():
        x, s = device(), cuda.stream()
        fill(x, s)
        del x
        s.synchronize()

    assert races(program) == []


def test_streams_and_events_may_be_dropped_with_work_in_flight():
    def program():
        x = device()
        s = cuda.stream()
        fill(x, s)
        del s
        fill(x, cuda.stream())

    assert races(program) == ["stream-race"]


def test_mapping_that_ends_before_its_launch_is_done_is_a_warning():
    def program(wait):
        a, s = np.zeros(N, np.float32), cuda.stream()
        with cuda.mapped(a, stream=s) as d:
            fill(d, s)
            if wait:
                s.synchronize()

    found = gpukit.check(program)(False).findings
    assert [(f.kind, f.severity) for f in found] == [("host-race", "warning")]
    assert races(lambda: program(True)) == []


# --- Many --------------------------------------------------------------------------------------


def test_a_pair_of_lines_in_a_loop_is_one_finding():
    def program():
        x, streams = device(), [cuda.stream() for _ in range(4)]
        for _ in range(5):
            for s in streams:
                fill(x, s)

    report = gpukit.check(program)()
    assert [f.kind for f in report.findings] == ["stream-race"]


def test_a_function_without_a_launch_is_checked_for_its_copies():
    def program():
        x, h, s = device(), pinned(), cuda.stream()
        x.copy_to_device(h, stream=s)
        s.synchronize()

    report = gpukit.check(program)()
    assert report.findings == []
    assert report.notes == ["The order of the copies on 1 stream was checked."]
