"""Races between streams, byte by byte."""

import numpy as np
import pytest

from gpukit import cuda, target
from tests.checked.ordering.stream_programs import (
    N,
    copy_kernel,
    device,
    fill,
    fill_kernel,
    pinned,
    races,
)

pytestmark = pytest.mark.skipif(target.wanted() == "cuda", reason="only CPU launches are checked")


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


def test_disjoint_slices_of_one_array_do_not_race():
    def program():
        x = device()
        fill(x[: N // 2], cuda.stream())
        fill(x[N // 2 :], cuda.stream())

    assert races(program) == []


def test_overlapping_slices_race():
    def program():
        x = device()
        fill(x[: N // 2 + 1], cuda.stream())
        fill(x[N // 2 :], cuda.stream())

    assert races(program) == ["stream-race"]


def test_interleaved_elements_of_one_array_do_not_race():
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


def test_different_columns_of_a_matrix_do_not_race():
    def program():
        x = cuda.to_device(np.zeros((8, 8), np.float32))
        x.setitem((slice(None), slice(0, 4)), 1, stream=cuda.stream())
        x.setitem((slice(None), slice(4, 8)), 2, stream=cuda.stream())

    assert races(program) == []


def test_two_readers_do_not_race():
    def program():
        x = cuda.to_device(np.zeros(N, np.float32))
        copy_kernel[2, 128, cuda.stream()](x, device())
        copy_kernel[2, 128, cuda.stream()](x, device())

    assert races(program) == []


def test_atomics_of_two_streams_do_not_race_but_a_plain_write_does():
    def program(last):
        total = cuda.to_device(np.zeros(1, np.int32))
        tally_kernel[1, 32, cuda.stream()](total)
        last(total, cuda.stream())

    assert races(lambda: program(lambda t, s: tally_kernel[1, 32, s](t))) == []
    assert races(lambda: program(lambda t, s: fill_kernel[1, 1, s](t, 0))) == ["stream-race"]


def test_reused_memory_has_no_access_history():
    def program():
        for _ in range(50):
            fill(device(), cuda.stream())

    assert races(program) == []


def test_device_memory_may_be_freed_after_a_launch_is_enqueued():
    def program():
        x, s = device(), cuda.stream()
        fill(x, s)
        del x
        s.synchronize()

    assert races(program) == []
