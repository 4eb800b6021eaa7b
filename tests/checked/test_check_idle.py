"""Idle warps and blocks, which access no memory."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.checked.report import Report


@cuda.jit
def copy_kernel(x, out, first, last):
    i = cuda.grid(1)
    if first <= i < last:
        out[i] = x[i]


@cuda.jit
def one_warp_kernel(x, out, first, last):
    tid = cuda.threadIdx.x
    if tid < 32:
        acc = x[tid]
        acc += cuda.shfl_down_sync(0xFFFFFFFF, acc, 16)
        out[tid] = acc


def idle(kernel, first, last):
    x, out = np.ones(4 * 96, np.float32), np.zeros(4 * 96, np.float32)
    report = gpukit.check(kernel)[4, 96](x, out, first, last)
    return report.idle_warps


@pytest.mark.parametrize(
    ("first", "last", "count"),
    [
        (0, 384, 0),
        (0, 0, 12),
        (0, 96, 9),
        (0, 33, 10),
        (31, 33, 10),
        (352, 384, 11),
        (383, 384, 11),
    ],
)
def test_warp_is_idle_when_none_of_its_threads_accesses_memory(first, last, count):
    assert idle(copy_kernel, first, last) == count


def test_warps_that_skip_a_shuffle_are_idle():
    assert idle(one_warp_kernel, 0, 0) == 4 * 2


def test_idle_warps_survive_json_and_are_summed_over_launches():
    x, out = np.ones(96, np.float32), np.zeros(96, np.float32)
    one = gpukit.check(copy_kernel)[1, 96](x, out, 0, 32)
    assert Report.from_json(one.to_json()).idle_warps == 2
    assert Report.merge([one, one]).idle_warps == 4


@cuda.jit
def silent_kernel(n):
    if cuda.grid(1) < n:
        cuda.syncwarp()


@cuda.jit
def printing_kernel(n):
    if cuda.grid(1) < n:
        print(n)


@cuda.jit(device=True)
def prints(n):
    print(n)


@cuda.jit
def kernel_that_prints_in_a_device_function(n):
    if cuda.grid(1) < n:
        prints(n)


def test_block_is_idle_when_it_accesses_no_memory_and_prints_nothing():
    assert [f.kind for f in gpukit.check(silent_kernel)[1, 1](1).findings] == ["idle-threads"]


@pytest.mark.parametrize("kernel", [printing_kernel, kernel_that_prints_in_a_device_function])
def test_a_block_that_prints_is_not_idle(kernel):
    assert gpukit.check(kernel)[1, 1](1).findings == []
