"""Copies, arguments, reductions and array functions: what synchronizes, with which stream."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda, target
from tests.checked.ordering.stream_programs import N, copy_kernel, device, fill, pinned, races
from tests.foreign import OnGpu

pytestmark = pytest.mark.skipif(target.wanted() == "cuda", reason="only CPU launches are checked")


def test_pageable_memory_may_be_overwritten_after_an_asynchronous_upload():
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


def test_reading_an_element_of_a_device_array_is_a_synchronous_copy():
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
        fill(cuda.as_cuda_array(OnGpu(x)), cuda.stream())

    assert races(program) == []


def test_memset_on_a_stream_is_an_operation_of_it():
    def program():
        x = device()
        cuda.driver.device_memset(x, 0, x.nbytes, cuda.stream())
        fill(x, cuda.stream())

    assert races(program) == ["stream-race"]


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


def test_reduction_to_the_host_is_synchronous():
    add = cuda.reduce(lambda a, b: a + b)

    def program():
        x, h, s = device(), pinned(), cuda.stream()
        x.copy_to_device(h, stream=s)
        add(x, stream=s)
        h[:] = 1

    assert races(program) == []


def test_reduction_into_device_memory_is_ordered_by_its_stream():
    add = cuda.reduce(lambda a, b: a + b)

    def program():
        x, s = cuda.to_device(np.ones(N, np.float32)), cuda.stream()
        res = cuda.to_device(np.zeros(1, np.float32))
        add(x, res=res, stream=s)
        fill(res, cuda.stream())

    assert races(program) == ["stream-race"]


def test_unmapping_memory_that_a_launch_still_uses_is_a_warning():
    def program(wait):
        a, s = np.zeros(N, np.float32), cuda.stream()
        with cuda.mapped(a, stream=s) as d:
            fill(d, s)
            if wait:
                s.synchronize()

    found = gpukit.check(program)(False).findings
    assert [(f.kind, f.severity) for f in found] == [("host-race", "warning")]
    assert races(lambda: program(True)) == []


def test_a_function_without_a_launch_is_checked_for_its_copies():
    def program():
        x, h, s = device(), pinned(), cuda.stream()
        x.copy_to_device(h, stream=s)
        s.synchronize()

    report = gpukit.check(program)()
    assert report.findings == []
    assert report.notes == ["The order of the copies on 1 stream was checked."]
