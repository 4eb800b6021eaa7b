"""gpukit.check on loops that wait for another thread: endless waits end with a finding."""

import sys

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.compiler.lowering import waiting
from tests import interrupts


@cuda.jit
def never_given_back_kernel(total, lock):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    total[0] += 1
    cuda.threadfence()


@cuda.jit
def later_block_kernel(total, flag):
    if cuda.blockIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
    else:
        cuda.atomic.exch(flag, 0, 1)


@cuda.jit
def plain_flag_kernel(total, flag):
    if cuda.grid(1) == 0:
        while flag[0] == 0:
            pass
    if cuda.grid(1) == 40:
        flag[0] = 1


@cuda.jit
def with_barrier_kernel(total, flag):
    while cuda.atomic.add(flag, 0, 0) == 0:
        cuda.syncthreads()


@pytest.mark.parametrize(
    "kernel", [never_given_back_kernel, later_block_kernel, plain_flag_kernel, with_barrier_kernel]
)
@pytest.mark.costly
def test_endless_wait_is_stopped_with_a_finding_at_its_line(kernel):
    report = gpukit.check(kernel)[2, 64](np.zeros(1, np.int32), np.zeros(1, np.int32))
    (found,) = [f for f in report.findings if f.kind == "endless-wait"]
    assert found.source.startswith("while ")
    assert "1,000,000 iterations" in found.message


@cuda.jit
def one_round_each_kernel(total, lock):
    for _ in range(3):
        done = False
        while not done:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                total[0] += 1
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)
                done = True


def test_iterations_are_counted_separately_for_each_wait(monkeypatch):
    monkeypatch.setattr(waiting, "MOST_ROUNDS", 3)
    total = np.zeros(1, np.int32)
    assert gpukit.check(one_round_each_kernel)[2, 64](total, np.zeros(1, np.int32)).findings == []
    assert total[0] == 2 * 64 * 3


@cuda.jit
def endless_kernel(a, go):
    i = cuda.threadIdx.x
    a[0] = i
    while go == 1:
        a[i] += 1


@pytest.mark.skipif(
    sys.platform == "win32", reason="a process cannot send itself Ctrl-C on Windows"
)
def test_ctrl_c_names_the_line_and_prints_what_was_found_so_far(capsys):
    gpukit.check(endless_kernel)[1, 64](np.zeros(64, np.int32), 0)
    with pytest.raises(KeyboardInterrupt), interrupts.coming():
        gpukit.check(endless_kernel)[1, 64](np.zeros(64, np.int32), 1)
    stderr = capsys.readouterr().err
    assert "endless_kernel was stopped by Ctrl-C after 0 of its 1 blocks, in line" in stderr
    assert "a[i] += 1" in stderr
    assert "a[0] = i" in stderr


# --- Locks released after the loop that acquires them -------------------------------------------


@cuda.jit
def lock_kernel(m, total, x):
    i = cuda.grid(1)
    while cuda.atomic.cas(m, 0, 0, 1) != 0:
        pass
    total[0] += x[i]
    cuda.threadfence()
    cuda.atomic.exch(m, 0, 0)


@cuda.jit
def lock_in_for_kernel(m, total, x):
    i = cuda.grid(1)
    for _ in range(1):
        while cuda.atomic.cas(m, 0, 0, 1) != 0:
            pass
        total[0] += x[i]
        cuda.threadfence()
        cuda.atomic.exch(m, 0, 0)


@cuda.jit
def lock_and_loop_kernel(m, total, x):
    i = cuda.grid(1)
    if i < x.size:
        while cuda.atomic.cas(m, 0, 0, 1) != 0:
            pass
        if x[i] > 3:
            total[0] += x[i] - 1
        for k in range(2):
            total[0] += k if x[i] > 3 else x[i] * k
        cuda.threadfence()
        cuda.atomic.exch(m, 0, 0)


@cuda.jit
def lock_with_break_kernel(m, total, x):
    i = cuda.grid(1)
    while True:
        if cuda.atomic.cas(m, 0, 0, 1) == 0:
            break
    total[0] += x[i]
    cuda.threadfence()
    cuda.atomic.exch(m, 0, 0)


@cuda.jit(device=True)
def take(m):
    while cuda.atomic.cas(m, 0, 0, 1) != 0:
        pass


@cuda.jit(device=True)
def give(m):
    cuda.threadfence()
    cuda.atomic.exch(m, 0, 0)


@cuda.jit
def lock_of_functions_kernel(m, total, x):
    i = cuda.grid(1)
    take(m)
    total[0] += x[i]
    give(m)


@cuda.jit
def lock_of_a_block_kernel(m, total, x):
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(m, 0, 0, 1) != 0:
            pass
        for k in range(cuda.blockDim.x):
            total[0] += x[i + k]
        cuda.threadfence()
        cuda.atomic.exch(m, 0, 0)


@cuda.jit
def lock_of_a_warp_kernel(m, total, x):
    i = cuda.grid(1)
    if cuda.threadIdx.x % 32 == 0:
        while cuda.atomic.cas(m, 0, 0, 1) != 0:
            pass
        for k in range(32):
            total[0] += x[i + k]
        cuda.threadfence()
        cuda.atomic.exch(m, 0, 0)


@cuda.jit
def lock_without_fence_kernel(m, total, x):
    i = cuda.grid(1)
    while cuda.atomic.cas(m, 0, 0, 1) != 0:
        pass
    total[0] += x[i]
    cuda.atomic.exch(m, 0, 0)


BY_LANES = [
    lock_kernel,
    lock_in_for_kernel,
    lock_and_loop_kernel,
    lock_with_break_kernel,
    lock_of_functions_kernel,
]
BY_ONE = [lock_of_a_block_kernel, lock_of_a_warp_kernel]


def checked_sum(launch):
    total, x = np.zeros(1, np.int64), np.arange(1, 129)
    result = launch(np.zeros(1, np.int32), total, x)
    assert total[0] == x.sum()
    return result


@pytest.mark.parametrize("kernel", [*BY_LANES, *BY_ONE, lock_without_fence_kernel])
@pytest.mark.costly
def test_lock_gives_the_same_sum_plain_checked_and_profiled(kernel):
    checked_sum(kernel[2, 64])
    checked_sum(gpukit.check(kernel)[2, 64])
    checked_sum(gpukit.profile(kernel)[2, 64])


@pytest.mark.parametrize("kernel", BY_LANES)
def test_lock_taken_by_several_lanes_of_a_warp_is_noted(kernel):
    report = checked_sum(gpukit.check(kernel)[2, 64])
    (found,) = report.findings
    assert (found.kind, found.severity) == ("spin-lock", "info")
    assert found.source.startswith("while ")
    assert "7.0" in found.message
    assert (report.exit_code, report.blocks_run) == (0, 2)


@pytest.mark.parametrize("kernel", BY_ONE)
def test_lock_taken_by_one_thread_per_block_or_warp_has_no_findings(kernel):
    assert checked_sum(gpukit.check(kernel)[2, 64]).findings == []


def test_lock_in_blocks_of_one_thread_has_no_findings():
    report = gpukit.check(lock_kernel)[4, 1](
        np.zeros(1, np.int32), np.zeros(1, np.int64), np.arange(4)
    )
    assert report.findings == []


def test_lock_without_a_fence_races_and_is_noted():
    report = checked_sum(gpukit.check(lock_without_fence_kernel)[2, 64])
    assert {f.kind for f in report.findings} == {"global-race", "spin-lock"}
