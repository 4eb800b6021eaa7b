"""Unroll and jam of block-stride loops: the results are those of one iteration at a time."""

import numpy as np
import pytest

from gpukit import cuda, errors
from gpukit.compiler.emit import unroll_and_jam
from tests.compiler.texts import generated
from tests.safety.attempt import on_cpu

pytestmark = on_cpu

SIZES = [0, 1, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 3001]


@pytest.fixture
def jammed(monkeypatch):
    """Collect the compiler's decisions whether to unroll and jam a loop."""
    found = []
    pays = unroll_and_jam.pays

    def recorded(kernel, row):
        found.append(pays(kernel, row))
        return found[-1]

    monkeypatch.setattr(unroll_and_jam, "pays", recorded)
    monkeypatch.setenv("GPUKIT_CACHE", "0")
    return found


def ordered(x, start, step):
    """Return a hash of a thread's elements that depends on their order."""
    own = np.int64(0)
    with np.errstate(over="ignore"):
        for value in x[start::step]:
            own = own * np.int64(31) + value
    return own


def ordered_body(x, out):
    tid = cuda.threadIdx.x
    own = 0
    for i in range(tid, x.shape[0], cuda.blockDim.x):
        own = own * 31 + x[i]
    cuda.syncthreads()
    out[tid] = own


@pytest.mark.parametrize("block", [1, 7, 32, 33, 64, 65, 256])
@pytest.mark.parametrize("n", SIZES)
def test_each_thread_visits_its_elements_in_order(n, block):
    x, out = np.random.default_rng(n).integers(0, 1000, n), np.full(block, -1)
    cuda.jit(ordered_body)[1, block](x, out)
    np.testing.assert_array_equal(out, [ordered(x, t, block) for t in range(block)])


def test_a_loop_that_accumulates_is_unrolled_and_jammed(jammed):
    cuda.jit(ordered_body)[1, 32](np.arange(1000), np.zeros(32, np.int64))
    assert jammed == [True]


def copy_body(x, out):
    for i in range(cuda.threadIdx.x, x.shape[0], cuda.blockDim.x):
        out[i] = x[i]


def test_a_loop_that_only_copies_is_not_unrolled_and_jammed(jammed):
    x, out = np.arange(1000), np.full(1000, -1)
    cuda.jit(copy_body)[1, 32](x, out)
    np.testing.assert_array_equal(out, x)
    assert jammed == [False]


@cuda.jit
def argmax_kernel(x, step, out):
    """Find the index of a thread's largest element, from pairs of neighbours."""
    tid = cuda.threadIdx.x
    best, at = -1, -1
    for i in range(2 * tid, x.shape[0] - 1, 2 * cuda.blockDim.x):
        left = x[i]
        j = i + step
        right = x[j]
        if max(left, right) > best:
            best = max(left, right)
            at = i if left >= right else j
    cuda.syncthreads()
    out[tid, 0] = best
    out[tid, 1] = at


@pytest.mark.parametrize("n", [2, 3, 63, 64, 65, 255, 256, 257, 511, 513, 2049])
def test_values_derived_from_the_loop_index_are_right_in_every_iteration(n):
    x, out = np.random.default_rng(n).permutation(n), np.full((32, 2), -7)
    argmax_kernel[1, 32](x, 1, out)
    for t in range(32):
        pairs = range(2 * t, n - 1, 64)
        seen = [at for i in pairs for at in (i, i + 1)]
        at = max(seen, key=lambda k: x[k], default=-1)
        assert tuple(out[t]) == ((x[at], at) if seen else (-1, -1))


@cuda.jit
def plane_kernel(x, out):
    """Hash part of a row of x with each thread of a row of threads."""
    row = cuda.threadIdx.y
    own = 0
    for i in range(cuda.threadIdx.x, x.shape[1], cuda.blockDim.x):
        own = own * 31 + x[row, i]
    cuda.syncthreads()
    out[row, cuda.threadIdx.x] = own


@pytest.mark.parametrize("block", [(8, 3), (33, 2), (100, 4)])
@pytest.mark.parametrize("n", [1, 99, 100, 399, 400, 401, 1000])
def test_each_row_of_a_2d_block_strides_over_its_own_row(n, block):
    width, height = block
    x = np.random.default_rng(n).integers(0, 9, (height, n))
    out = np.full((height, width), -1)
    plane_kernel[1, block](x, out)
    right = [[ordered(x[row], t, width) for t in range(width)] for row in range(height)]
    np.testing.assert_array_equal(out, right)


@cuda.jit
def bound_argument_kernel(x, n, out):
    own = 0
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x):
        own += x[i]
    cuda.syncthreads()
    out[cuda.threadIdx.x] = own


@pytest.mark.parametrize("block", [32, 100])
@pytest.mark.parametrize("n", [0, 1, 99, 400, 401, 1000])
def test_a_loop_bound_may_be_an_argument(n, block):
    x, out = np.arange(1000), np.full(block, -1)
    bound_argument_kernel[1, block](x, n, out)
    np.testing.assert_array_equal(out, [x[t:n:block].sum() for t in range(block)])


@pytest.mark.parametrize("size", [0, 1, 99, 399, 400, 401, 999])
def test_an_index_past_the_end_is_found_in_any_iteration(size):
    with pytest.raises(errors.OutOfBounds) as caught:
        bound_argument_kernel[1, 100](np.zeros(size), 1000, np.zeros(100))
    assert caught.value.array == "x"
    assert caught.value.index == (size,)
    assert caught.value.thread == (size % 100, 0, 0)


def literal_step_body(x, out):
    tid = cuda.threadIdx.x
    own = 0
    for i in range(tid, x.shape[0], 32):
        own = own * 31 + x[i]
    cuda.syncthreads()
    out[tid] = own


def test_a_loop_with_a_literal_step_is_unrolled_and_jammed(jammed):
    x, out = np.random.default_rng(16).integers(0, 1000, 1000), np.full(32, -1)
    cuda.jit(literal_step_body)[1, 32](x, out)
    np.testing.assert_array_equal(out, [ordered(x, t, 32) for t in range(32)])
    assert jammed == [True]


@cuda.jit
def large_step_kernel(n, out):
    """Count the iterations of loops with steps of 2 ** 60 and 2 ** 62, for 32 threads."""
    few, fewer = 0, 0
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x * 36028797018963968):
        few += 1 + (i < 0)
    for i in range(cuda.threadIdx.x, n, cuda.blockDim.x * 144115188075855872):
        fewer += 1 + (i < 0)
    cuda.syncthreads()
    out[cuda.threadIdx.x, 0] = few
    out[cuda.threadIdx.x, 1] = fewer


@pytest.mark.parametrize("n", [0, 5, 100, 2**60, 2**62, 2**62 + 2**61, 2**63 - 1])
def test_loops_whose_fourfold_step_overflows_64_bits_are_not_jammed(n, jammed):
    out = np.full((32, 2), -1)
    large_step_kernel[1, 32](n, out)
    for thread in range(32):
        right = [len(range(thread, n, step)) for step in (2**60, 2**62)]
        np.testing.assert_array_equal(out[thread], right)
    assert set(jammed) <= {False}


@cuda.jit
def negative_bound_kernel(x, n, out):
    tid = cuda.threadIdx.x
    own = 0
    for i in range(tid - 1000, n, cuda.blockDim.x):
        own = own * 3 + x[0] * i
    cuda.syncthreads()
    out[tid] = own


@pytest.mark.parametrize("n", [-(2**63), -(2**63) + 5, -1001, -1000, -990])
def test_a_loop_whose_end_is_far_below_its_start_runs_no_iteration(n, jammed):
    out = np.full(32, -1)
    negative_bound_kernel[1, 32](np.ones(1, np.int64), n, out)
    assert set(jammed) <= {True}
    assert out.tolist() == [*range(-1000, n), *[0] * 32][:32]


@cuda.jit
def empty_loop_kernel(x, out):
    tid = cuda.threadIdx.x
    for _ in range(tid, x.shape[0], cuda.blockDim.x):
        pass
    cuda.syncthreads()
    out[tid] = x[tid]


def test_a_loop_with_an_empty_body_compiles():
    x, out = np.arange(32), np.zeros(32, np.int64)
    empty_loop_kernel[1, 32](x, out)
    np.testing.assert_array_equal(out, x)


def test_copies_of_an_iteration_load_without_bounds_checks(jammed, monkeypatch):
    texts = generated(monkeypatch)
    cuda.jit(ordered_body)[1, 32](np.arange(1000), np.zeros(32, np.int64))
    unchecked = [line for text in texts for line in text.splitlines() if "memory_load(x" in line]
    assert jammed == [True]
    assert len(unchecked) >= 4
