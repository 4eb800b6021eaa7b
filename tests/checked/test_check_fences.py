"""gpukit.check on ordering by fences and atomics: flags, locks, last-block patterns."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from tests.checked.reports import kinds

THREADS = 64


def ints(n):
    return np.zeros(n, np.int32)


# --- Flags within a block ------------------------------------------------------------------------


@cuda.jit
def handed_over_kernel(data, flag, out):
    tid = cuda.threadIdx.x
    if tid == 0:
        data[0] = 7
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    if tid == 40 and cuda.atomic.add(flag, 0, 0) == 1:
        cuda.threadfence()
        out[0] = data[0]


@cuda.jit
def handed_over_in_shared_memory_kernel(data, flag, out):
    s, ready = cuda.shared.array(1, np.int32), cuda.shared.array(1, np.int32)
    tid = cuda.threadIdx.x
    if tid == 0:
        ready[0] = 0
    cuda.syncthreads()
    if tid == 0:
        s[0] = 7
        cuda.threadfence_block()
        cuda.atomic.exch(ready, 0, 1)
    if tid == 40:
        if cuda.atomic.add(ready, 0, 0) == 1:
            out[0] = s[0]


@cuda.jit(device=True)
def hand_over(data, flag):
    data[0] = 7
    cuda.threadfence()
    cuda.atomic.exch(flag, 0, 1)


@cuda.jit
def waited_for_kernel(data, flag, out):
    tid = cuda.threadIdx.x
    if tid == 0:
        hand_over(data, flag)
    if tid == 40:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        out[0] = data[0]


@pytest.mark.parametrize(
    "kernel", [handed_over_kernel, handed_over_in_shared_memory_kernel, waited_for_kernel]
)
def test_flag_set_after_a_fence_publishes_data_to_a_reader_that_tests_it(kernel):
    out = ints(1)
    assert kinds(gpukit.check(kernel)[1, THREADS](ints(1), ints(1), out)) == []
    assert out[0] == 7


@cuda.jit
def value_ignored_kernel(data, flag, out):
    tid = cuda.threadIdx.x
    if tid == 0:
        hand_over(data, flag)
    if tid == 40:
        out[1] = cuda.atomic.add(flag, 0, 0)
        cuda.threadfence()
        out[0] = data[0]


@cuda.jit
def condition_left_kernel(data, flag, out):
    tid = cuda.threadIdx.x
    if tid == 0:
        hand_over(data, flag)
    if tid == 40:
        if cuda.atomic.add(flag, 0, 0) == 1:
            out[1] = 1
        out[0] = data[0]


@cuda.jit
def no_fence_kernel(data, flag, out):
    tid = cuda.threadIdx.x
    if tid == 0:
        data[0] = 7
        cuda.atomic.exch(flag, 0, 1)
    if tid == 40 and cuda.atomic.add(flag, 0, 0) == 1:
        cuda.threadfence()
        out[0] = data[0]


@cuda.jit
def fence_of_another_kernel(data, flag, out):
    tid = cuda.threadIdx.x
    if tid == 0:
        data[0] = 7
    if tid == 1:
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    if tid == 40 and cuda.atomic.add(flag, 0, 0) == 1:
        out[0] = data[0]


@cuda.jit
def read_by_another_kernel(data, flag, out):
    tid = cuda.threadIdx.x
    if tid == 0:
        hand_over(data, flag)
    seen = 0
    if tid == 40:
        seen = cuda.atomic.add(flag, 0, 0)
    if seen == 1 or tid == 50:
        out[tid] = data[0]


@pytest.mark.parametrize(
    "kernel",
    [
        value_ignored_kernel,
        condition_left_kernel,
        no_fence_kernel,
        fence_of_another_kernel,
        read_by_another_kernel,
    ],
)
@pytest.mark.costly
def test_flag_publishes_nothing_when_part_of_the_protocol_is_missing(kernel):
    report = gpukit.check(kernel)[1, THREADS](ints(1), ints(1), ints(THREADS))
    (found,) = [f for f in report.findings if f.severity == "error"]
    assert (found.kind, found.array) == ("global-race", "data")


# --- Locks ------------------------------------------------------------------------------------


@cuda.jit
def locked_kernel(total, lock, fenced):
    done = False
    while not done:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            total[0] += 1
            if fenced:
                cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)
            done = True


@pytest.mark.parametrize("blocks", [1, 3])
def test_lock_orders_the_accesses_it_protects(blocks):
    total = ints(1)
    assert kinds(gpukit.check(locked_kernel)[blocks, THREADS](total, ints(1), True)) == []
    assert total[0] == blocks * THREADS


@pytest.mark.parametrize("blocks", [1, 3])
def test_lock_released_without_a_fence_is_a_race(blocks):
    report = gpukit.check(locked_kernel)[blocks, THREADS](ints(1), ints(1), False)
    assert "global-race" in kinds(report)


# --- Last block to arrive ------------------------------------------------------------------------


@cuda.jit
def last_block_kernel(x, parts, count, total):
    is_last = cuda.shared.array(1, np.int32)
    tid, b = cuda.threadIdx.x, cuda.blockIdx.x
    cuda.atomic.add(parts, b, x[cuda.grid(1)])
    cuda.syncthreads()
    if tid == 0:
        cuda.threadfence()
        is_last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if is_last[0] and tid == 0:
        for k in range(cuda.gridDim.x):
            total[0] += parts[k]
        count[0] = 0


@cuda.jit
def last_thread_kernel(x, parts, count, total):
    tid = cuda.threadIdx.x
    parts[tid] = x[tid]
    cuda.threadfence()
    if cuda.atomic.add(count, 0, 1) == cuda.blockDim.x - 1:
        for k in range(cuda.blockDim.x):
            total[0] += parts[k]
        count[0] = 0


@pytest.mark.parametrize(("kernel", "blocks"), [(last_block_kernel, 5), (last_thread_kernel, 1)])
def test_last_to_arrive_may_read_what_all_others_wrote(kernel, blocks):
    x, count, total = np.ones(blocks * THREADS, np.int32), ints(1), ints(1)
    assert kinds(gpukit.check(kernel)[blocks, THREADS](x, ints(THREADS), count, total)) == []
    assert (total[0], count[0]) == (blocks * THREADS, 0)


@cuda.jit
def updated_by_the_last_kernel(scale, out, count):
    i = cuda.grid(1)
    out[i] = scale[0]
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
            scale[0] = 2


@cuda.jit
def updated_too_early_kernel(scale, out, count):
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
            scale[0] = 2
    cuda.syncthreads()
    out[i] = scale[0]


def test_last_block_may_write_what_all_others_read_before():
    n = 3 * THREADS
    assert (
        kinds(gpukit.check(updated_by_the_last_kernel)[3, THREADS](ints(1), ints(n), ints(1))) == []
    )


def test_last_block_must_not_write_what_others_read_afterwards():
    n = 3 * THREADS
    report = gpukit.check(updated_too_early_kernel)[3, THREADS](ints(1), ints(n), ints(1))
    assert kinds(report) == ["global-race"]
