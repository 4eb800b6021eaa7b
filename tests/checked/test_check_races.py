"""gpukit.check on races with earlier readers, and the accesses that findings name."""

import numba
import numpy as np
import pytest

import gpukit
from gpukit import cuda
from tests.checked.reports import kinds

BLOCK = 32


# --- Blocks that read what another block writes --------------------------------------------------


@cuda.jit
def add_right_kernel(a):
    i = cuda.grid(1)
    if i + cuda.blockDim.x < a.shape[0]:
        a[i] += a[i + cuda.blockDim.x]


@cuda.jit
def tree_kernel(a):
    i = cuda.grid(1)
    step = a.shape[0] // 2
    while step > 0:
        if i < step:
            a[i] += a[i + step]
        cuda.syncthreads()
        step //= 2


@cuda.jit
def smooth_kernel(a):
    i = cuda.grid(1)
    if 0 < i < a.shape[0] - 1:
        mean = (a[i - 1] + a[i] + a[i + 1]) / 3
    cuda.syncthreads()
    if 0 < i < a.shape[0] - 1:
        a[i] = mean


@pytest.mark.parametrize("kernel", [add_right_kernel, tree_kernel, smooth_kernel])
@pytest.mark.costly
def test_write_races_with_a_read_by_another_block_even_if_the_writer_reads_too(kernel):
    report = gpukit.check(kernel)[4, BLOCK](np.ones(4 * BLOCK))
    (found,) = [f for f in report.findings if f.kind == "global-race"]
    assert found.array == "a"


@pytest.mark.parametrize("kernel", [tree_kernel, smooth_kernel])
def test_read_and_write_by_one_block_is_no_global_race(kernel):
    assert kinds(gpukit.check(kernel)[1, BLOCK](np.ones(BLOCK))) == []


# --- More readers than shadow memory stores ------------------------------------------------------


@cuda.jit
def third_reader_kernel(out):
    s, tid = cuda.shared.array(8, np.float32), cuda.threadIdx.x
    if tid < 8:
        s[tid] = tid
    cuda.syncthreads()
    if tid == 0 or tid == 1 or tid == 40:
        out[tid] = s[5]
    cuda.syncwarp()
    if tid == 0:
        s[5] = 1


def test_reader_of_another_warp_races_after_two_readers_of_the_writers_warp():
    report = gpukit.check(third_reader_kernel)[1, 64](np.zeros(64, np.float32))
    assert kinds(report) == ["shared-race"]
    assert report.findings[0].threads == ((0, 0, 0), (40, 0, 0))


# --- Atomics and plain accesses ----------------------------------------------------------------


@cuda.jit
def atomic_first_kernel(s, out):
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(s, 0, 1)
    if cuda.threadIdx.x == 40:
        out[0] = s[0]


@cuda.jit
def atomic_last_kernel(s, out):
    if cuda.threadIdx.x == 0:
        s[0] = 7
    if cuda.threadIdx.x == 40:
        cuda.atomic.add(s, 0, 1)


@cuda.jit
def read_first_kernel(s, out):
    if cuda.threadIdx.x == 0:
        out[0] = s[0]
    if cuda.threadIdx.x == 40:
        cuda.atomic.add(s, 0, 1)


@pytest.mark.parametrize(
    ("kernel", "early", "late"),
    [
        (atomic_first_kernel, "atomically", "non-atomically"),
        (atomic_last_kernel, "non-atomically", "atomically"),
        (read_first_kernel, "non-atomically", "atomically"),
    ],
)
@pytest.mark.costly
def test_atomic_race_says_which_of_the_two_accesses_is_atomic(kernel, early, late):
    (found,) = gpukit.check(kernel)[1, 64](np.zeros(1, np.int32), np.zeros(1, np.int32)).findings
    one, _, two = found.message.partition("thread 40")
    assert found.kind == "atomic-race"
    assert early in one
    assert late in two


# --- Functions compiled before the check ---------------------------------------------------------


@numba.njit
def neighbour(tile, t):
    return tile[(t + 1) % 64]


@cuda.jit
def neighbours_kernel(out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    tile[t] = np.float32(t)
    out[t] = neighbour(tile, t)


def test_race_is_found_in_a_function_that_was_already_compiled():
    assert neighbour(np.arange(64), 63) == 0
    (found,) = gpukit.check(neighbours_kernel)[1, 64](np.zeros(64, np.float32)).errors
    assert found.kind == "shared-race"


@cuda.jit
def strided_writes_kernel(a):
    s = cuda.shared.array(128, np.int64)
    t = cuda.threadIdx.x
    s[t] = t
    if t < 32:
        s[2 * t] = -t
    cuda.syncthreads()
    a[t] = s[t]


def test_strided_overlapping_writes_are_a_race():
    (found,) = gpukit.check(strided_writes_kernel)[1, 64](np.zeros(64)).findings
    assert (found.kind, found.array) == ("shared-race", "s")


@cuda.jit
def sum_of_one_thread_kernel(a):
    s = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    s[t] = t
    if t < 1:
        total = 0
        for k in range(64):
            total += s[k]
        a[0] = total


def test_loop_of_one_thread_over_elements_that_others_write_is_a_race():
    (found,) = gpukit.check(sum_of_one_thread_kernel)[1, 64](np.zeros(1)).findings
    assert (found.kind, found.array) == ("shared-race", "s")
