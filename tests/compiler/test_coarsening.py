"""Coarsening: adjacent blocks run as one up to the first barrier, with the same results."""

import numpy as np
import pytest

from gpukit import cuda, errors
from gpukit.compiler import pipeline
from gpukit.compiler.lowering import coarsening
from tests.safety.attempt import on_cpu

pytestmark = on_cpu

BLOCK = 64


@cuda.jit
def sums_kernel(x, out):
    """Sum the elements over which each block strides; thread 0 of each block writes the sum."""
    tid = cuda.threadIdx.x
    parts = cuda.shared.array(BLOCK, np.int64)
    own = 0
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        own += x[i]
    parts[tid] = own
    half = BLOCK // 2
    while half > 0:
        cuda.syncthreads()
        if tid < half:
            parts[tid] += parts[tid + half]
        half //= 2
    if tid == 0:
        out[cuda.blockIdx.x] = parts[0]


def sums(x, blocks):
    """Return the reference for `sums_kernel`."""
    block = np.arange(x.size) // BLOCK % blocks
    return np.bincount(block, x, blocks).astype(np.int64)


def coarsened_steps(kernel):
    return coarsening.run(pipeline.front(kernel.py_func), (BLOCK, 1, 1))


@pytest.mark.parametrize("blocks", [1, 2, 15, 16, 17, 63, 64, 65, 200])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 8191, 100_003])
@pytest.mark.costly
def test_each_block_sums_the_elements_over_which_it_strides(blocks, n):
    x = np.random.default_rng(n).integers(-1000, 1000, n)
    out = np.full(blocks, -7)
    sums_kernel[blocks, BLOCK](x, out)
    np.testing.assert_array_equal(out, sums(x, blocks))
    assert coarsened_steps(sums_kernel) == 2


@cuda.jit
def rows_kernel(x, out):
    """Sum one row of x with each row of blocks."""
    row = cuda.blockIdx.y
    own = 0
    for i in range(cuda.grid(1), x.shape[1], cuda.gridsize(1)):
        own += i
    own = cuda.shfl_sync(0xFFFFFFFF, own, 5)
    if cuda.threadIdx.x == 9:
        out[row, cuda.blockIdx.x] = own + 1000 * x[row, cuda.blockIdx.x]


def test_merged_blocks_belong_to_one_row_of_the_grid():
    x = np.arange(3 * 500).reshape(3, 500)
    out = np.full((3, 5), -1)
    rows_kernel[(5, 3), 32](x, out)
    for row in range(3):
        for block in range(5):
            lane_5 = np.arange(32 * block + 5, 500, 160).sum()
            assert out[row, block] == lane_5 + 1000 * x[row, block]
    assert coarsened_steps(rows_kernel) > 0


@cuda.jit
def last_seen_kernel(x, out):
    """Write the last positive index that the opposite lane of the warp visited."""
    last = -1
    seen = 0
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        if x[i] > 0:
            last = i
        seen += 1
    last = cuda.shfl_xor_sync(0xFFFFFFFF, last, 31)
    out[cuda.grid(1), 0] = last
    out[cuda.grid(1), 1] = seen


@pytest.mark.parametrize("blocks", [1, 16, 45])
@pytest.mark.costly
def test_variables_set_in_the_merged_loop_keep_their_values_after_it(blocks):
    x = np.random.default_rng(blocks).integers(0, 2, 5003)
    out = np.full((blocks * 32, 2), -9)
    last_seen_kernel[blocks, 32](x, out)
    step = blocks * 32
    for thread in range(step):
        mine, opposite = np.arange(thread, 5003, step), np.arange(thread ^ 31, 5003, step)
        marked = opposite[x[opposite] > 0]
        assert out[thread, 0] == (marked[-1] if marked.size else -1)
        assert out[thread, 1] == mine.size


@cuda.jit
def counted_kernel(x, out):
    """Count down a block-uniform variable that was set before the loop."""
    times = x.shape[0] // 100
    own = 0
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        own += times
    rounds = 0
    while times > 0:
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, 1)
        times -= 1
        rounds += 1
    out[cuda.grid(1)] = rounds


def test_each_merged_block_starts_with_its_own_uniform_variables():
    out = np.full(20 * 32, -1)
    counted_kernel[20, 32](np.zeros(300), out)
    assert (out == 3).all()


@cuda.jit
def counted_by_block_kernel(x, out):
    """Count down a variable that each block sets to a different number after the loop."""
    times = x.shape[0] // 100
    own = 0
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        own += times
    times += cuda.blockIdx.x
    rounds = 0
    while times > 0:
        own += cuda.shfl_down_sync(0xFFFFFFFF, own, 1)
        times -= 1
        rounds += 1
    out[cuda.grid(1)] = rounds


def test_uniform_variables_of_merged_blocks_are_separate():
    out = np.full(20 * 32, -1)
    counted_by_block_kernel[20, 32](np.zeros(300), out)
    np.testing.assert_array_equal(out, 3 + np.arange(20 * 32) // 32)


@cuda.jit
def local_array_kernel(x, out):
    """Use a local array across a barrier after the loop."""
    mine = cuda.local.array(40, np.int64)
    own = 0
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        own += x[i]
    cuda.syncthreads()
    for k in range(40):
        mine[k] = own + k
    cuda.syncthreads()
    total = 0
    for k in range(40):
        total += mine[39 - k]
    out[cuda.grid(1)] = total


def test_local_arrays_after_the_loop_take_the_memory_of_one_block():
    x = np.random.default_rng(4).integers(0, 100, 20_000)
    out = np.full(100 * BLOCK, -1)
    local_array_kernel[100, BLOCK](x, out)
    own = np.bincount(np.arange(20_000) % out.size, x, out.size).astype(np.int64)
    np.testing.assert_array_equal(out, 40 * own + 780)
    assert coarsened_steps(local_array_kernel) == 2


@cuda.jit
def lanes_kernel(x, out):
    """Write each thread's lane and lane mask, read around a barrier after the loop."""
    own = 0
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        own += x[i]
    lane = cuda.laneid
    cuda.syncthreads()
    out[cuda.grid(1), 0] = lane
    out[cuda.grid(1), 1] = cuda.lanemask_lt()
    out[cuda.grid(1), 2] = own


@pytest.mark.parametrize("block", [7, 32, 33, 40])
@pytest.mark.costly
def test_lanes_are_numbered_from_the_first_thread_of_each_block(block):
    x, blocks = np.arange(3000), 17
    out = np.full((blocks * block, 3), -1)
    lanes_kernel[blocks, block](x, out)
    lanes = np.tile(np.arange(block) % 32, blocks)
    np.testing.assert_array_equal(out[:, 0], lanes)
    np.testing.assert_array_equal(out[:, 1], 2**lanes - 1)
    sums = np.bincount(np.arange(3000) % len(out), x, len(out))
    np.testing.assert_array_equal(out[:, 2], sums)
    assert coarsened_steps(lanes_kernel) > 0


@cuda.jit
def block_start_kernel(x, out):
    """Stride over x from a start that depends on the block."""
    own = 0
    for i in range(cuda.threadIdx.x + cuda.blockIdx.x, x.shape[0], 32):
        own += x[i]
    own += cuda.shfl_down_sync(0xFFFFFFFF, own, 16)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = own


def test_a_kernel_that_reads_its_thread_index_before_synchronizing_is_not_coarsened():
    x, out = np.arange(1000), np.zeros(33, np.int64)
    block_start_kernel[33, 32](x, out)
    expected = [x[b::32].sum() + x[b + 16 :: 32].sum() for b in range(33)]
    np.testing.assert_array_equal(out, expected)
    assert coarsened_steps(block_start_kernel) == 0


@cuda.jit
def shared_kernel(x, out):
    """Count in shared memory before the first barrier."""
    counts = cuda.shared.array(1, np.int64)
    counts[0] = 0
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(counts, 0, x[i])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = counts[0]


def test_a_kernel_that_uses_shared_memory_before_synchronizing_is_not_coarsened():
    assert coarsened_steps(shared_kernel) == 0


@pytest.mark.parametrize("spare", [0, 17, BLOCK - 1])
@pytest.mark.costly
def test_an_error_in_a_merged_block_names_the_block_and_thread_of_the_launch(spare, monkeypatch):
    monkeypatch.setenv("GPUKIT_THREADS", "1")
    with pytest.raises(errors.OutOfBounds) as caught:
        past_kernel[100, BLOCK](np.zeros(5 * BLOCK + spare, np.int64), 100 * BLOCK)
    assert caught.value.block == (5, 0, 0)
    assert caught.value.thread == (spare, 0, 0)
    assert caught.value.index == (5 * BLOCK + spare,)


@cuda.jit
def past_kernel(x, n):
    """Read x up to n, whatever its size."""
    own = 0
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        own += x[i]
    cuda.syncthreads()
    if own < 0:
        x[0] = own


def test_an_error_after_the_barrier_names_its_block(monkeypatch):
    monkeypatch.setenv("GPUKIT_THREADS", "1")
    with pytest.raises(errors.OutOfBounds) as caught:
        sums_kernel[40, BLOCK](np.ones(10_000, np.int64), np.zeros(37, np.int64))
    assert caught.value.block == (37, 0, 0)
    assert caught.value.thread == (0, 0, 0)
