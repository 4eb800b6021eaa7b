"""gpukit.check on many blocks: block order, cooperative grids, successive launches."""

import threading

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.checked import order, shadow_memory
from gpukit.compiler import checker_state
from tests.checked.plain_kernels import (
    BLOCK,
    N,
    count_kernel,
    fill_kernel,
    sum_kernel,
    unguarded_kernel,
)
from tests.checked.reports import kinds, line_of

# --- The order of blocks ---------------------------------------------------------------------


@cuda.jit
def slots_kernel(x, out, next_slot):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[cuda.atomic.add(next_slot, 0, 1)] = x[i]


def test_result_that_depends_on_block_order_is_a_warning():
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    report = gpukit.check(slots_kernel)[3, BLOCK](x, out, np.zeros(1, np.int32))
    (found,) = report.findings
    assert (found.kind, found.severity, found.array) == ("block-order", "warning", "out")
    assert found.line == line_of(slots_kernel, "cuda.atomic.add")


def test_runs_in_other_orders_do_not_change_the_results_of_the_launch():
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    slot = np.zeros(1, np.int32)
    gpukit.check(slots_kernel)[3, BLOCK](x, out, slot)
    np.testing.assert_array_equal(out, x)
    assert slot[0] == N


def test_single_block_is_run_once():
    x, out = np.arange(BLOCK, dtype=np.float32), np.zeros(BLOCK, np.float32)
    report = gpukit.check(slots_kernel)[1, BLOCK](x, out, np.zeros(1, np.int32))
    assert report.findings == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_atomic_sum_that_differs_only_by_rounding_is_not_reported(dtype):
    x = (1000 * np.random.default_rng(7).normal(size=1000)).astype(dtype)
    total = np.zeros(1, dtype)
    found = [f.kind for f in gpukit.check(sum_kernel)[32, BLOCK](x, total).findings]
    assert found == ([] if dtype is np.int32 else ["not-reproducible"])
    np.testing.assert_allclose(total[0], x.sum(dtype=np.float64), rtol=1e-3)


def test_launches_with_large_arguments_are_not_run_again(monkeypatch):
    monkeypatch.setattr(order, "MOST_BYTES", 8)
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    report = gpukit.check(slots_kernel)[3, BLOCK](x, out, np.zeros(1, np.int32))
    assert report.findings == []


# --- Cooperative grids -----------------------------------------------------------------------


@cuda.jit
def neighbours_kernel(x, out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    x[i] = i
    grid.sync()
    out[i] = x[(i + BLOCK) % x.shape[0]]


@cuda.jit
def neighbours_unsynced_kernel(x, out):
    i = cuda.grid(1)
    x[i] = i
    out[i] = x[(i + BLOCK) % x.shape[0]]


def test_grid_sync_orders_the_blocks():
    x, out = np.zeros(96, np.int32), np.zeros(96, np.int32)
    assert gpukit.check(neighbours_kernel)[3, BLOCK](x, out).findings == []
    np.testing.assert_array_equal(out, (np.arange(96) + BLOCK) % 96)


def test_blocks_race_without_grid_sync():
    report = gpukit.check(neighbours_unsynced_kernel)[3, BLOCK](np.zeros(96), np.zeros(96))
    assert kinds(report) == ["global-race"]
    assert report.findings[0].blocks[0] != report.findings[0].blocks[1]


def test_cooperative_launch_of_more_blocks_than_can_be_resident_is_an_error():
    n = 10_000 * BLOCK
    report = gpukit.check(neighbours_kernel)[10_000, BLOCK](np.zeros(n), np.zeros(n))
    assert kinds(report) == ["launch-refused"]


@cuda.jit
def leaving_kernel(out):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    if i >= BLOCK + 8:
        return
    out[i] = 1
    grid.sync()


def test_threads_of_a_later_block_that_have_left_before_grid_sync_are_named():
    found = gpukit.check(leaving_kernel)[2, BLOCK](np.zeros(2 * BLOCK)).findings[0]
    assert (found.kind, found.blocks) == ("barrier-after-return", ((1, 0, 0),))
    assert found.message.startswith("Threads 8-31 of block 1 returned before `grid.sync()`")


# --- Successive launches ---------------------------------------------------------------------


def test_launches_in_sequence_do_not_race():
    x = np.zeros(96, np.int32)
    checker = gpukit.check(fill_kernel)[3, BLOCK]
    assert [checker(x).findings for _ in range(50)] == [[]] * 50


def test_findings_are_reproducible():
    def once():
        return gpukit.check(neighbours_unsynced_kernel)[3, BLOCK](np.zeros(96), np.zeros(96))

    first = once()
    assert [once().findings for _ in range(5)] == [first.findings] * 5


def test_findings_do_not_change_when_the_epoch_counter_wraps(monkeypatch):
    first = gpukit.check(unguarded_kernel)[3, BLOCK](np.zeros(N), np.zeros(1, np.int32))
    monkeypatch.setattr(shadow_memory.MEMORY, "epoch", checker_state.LAST_EPOCH - 9)
    found = []
    for _ in range(6):
        report = gpukit.check(unguarded_kernel)[3, BLOCK](np.zeros(N), np.zeros(1, np.int32))
        found.append(report.findings)
    assert shadow_memory.MEMORY.epoch < checker_state.LAST_EPOCH - 9
    assert found == [first.findings] * 6


@cuda.jit
def three_readers_kernel(a, out):
    """Three threads read a[0], then the first of them writes it."""
    tid = cuda.threadIdx.x
    if tid == 0:
        out[0] = a[0]
    if tid == 1:
        out[1] = a[0]
    if tid == 3:
        out[3] = a[0]
    if tid == 0:
        a[0] = 5


def test_stale_shadow_memory_does_not_change_findings(monkeypatch):
    def found():
        return gpukit.check(three_readers_kernel)[1, BLOCK](np.zeros(1), np.zeros(4)).findings

    first, rng = found(), np.random.default_rng(0)
    assert first
    monkeypatch.setattr(shadow_memory.MEMORY, "epoch", 100_000)
    for _ in range(20):
        epochs = rng.integers(0, shadow_memory.MEMORY.epoch, (6, 2, 400)) << checker_state.EPOCH
        flags = (
            rng.integers(0, 1 << checker_state.EPOCH, epochs.shape) & ~checker_state.UNINITIALISED
        )
        monkeypatch.setattr(shadow_memory.MEMORY, "free", list(epochs | flags))
        assert found() == first


def test_two_python_threads_may_check_concurrently():
    wanted = gpukit.check(neighbours_unsynced_kernel)[3, BLOCK](np.zeros(96), np.zeros(96))
    wrong = []

    def work(kernel, findings):
        for _ in range(20):
            report = gpukit.check(kernel)[3, BLOCK](np.zeros(96), np.zeros(96))
            if report.findings != findings:
                wrong.append(report)

    workers = [
        threading.Thread(target=work, args=(neighbours_unsynced_kernel, wanted.findings)),
        threading.Thread(target=work, args=(neighbours_kernel, [])),
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_check_after_a_profile_of_atomics_is_not_affected_by_it():
    x = np.arange(700, dtype=np.int32) % 40
    for _ in range(3):  # the next launch reuses the shadow cells of this one
        out = np.zeros(40, np.int32)
        assert kinds(gpukit.check(count_kernel)[3, 256](x, out)) == []
        gpukit.profile(count_kernel)[3, 256](x, out)


@cuda.jit
def store_first_kernel(a):
    a[cuda.threadIdx.x] = cuda.blockIdx.x


def test_kernel_that_begins_with_a_store_is_recorded_block_by_block():
    (found,) = gpukit.check(store_first_kernel)[8, 32](np.zeros(32)).findings
    assert (found.kind, found.array) == ("global-race", "a")
