"""Collectives: sums and maxima of warps and of blocks of all sizes."""

import math

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.collectives import (
    WARP,
    block_all_max,
    block_all_sum,
    block_max,
    block_sum,
    block_tree_sum,
    warp_all_max,
    warp_all_sum,
    warp_max,
    warp_sum,
)
from tests import oracle

SIZES = [32, 64, 96, 256, 1024]
FLOATS = [np.float32, np.float64]
INTEGERS = [np.int32, np.int64]

sizes = pytest.mark.parametrize("size", SIZES)
floats = pytest.mark.parametrize("dtype", FLOATS)
all_dtypes = pytest.mark.parametrize("dtype", FLOATS + INTEGERS)


@cuda.jit
def block_kernel(x, sums, maxima):
    tid, warps = cuda.threadIdx.x, cuda.blockDim.x // WARP
    totals = cuda.shared.array(WARP, sums.dtype)
    largest = cuda.shared.array(WARP, maxima.dtype)
    total = block_sum(x[cuda.grid(1)], totals, tid, warps)
    best = block_max(x[cuda.grid(1)], largest, tid, warps)
    if tid == 0:
        sums[cuda.blockIdx.x] = total
        maxima[cuda.blockIdx.x] = best


@cuda.jit
def tree_kernel(x, out):
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(128, out.dtype)
    tile[tid] = x[cuda.grid(1)]
    block_tree_sum(tile, tid)
    out[cuda.grid(1)] = tile[0]


@cuda.jit
def rows_kernel(x, sums, maxima):
    """Compute the sum and maximum of a row of x with each row of the block, which is one warp."""
    lane, row = cuda.threadIdx.x, cuda.threadIdx.y
    total, best = warp_sum(x[row, lane]), warp_max(x[row, lane])
    if lane == 0:
        sums[row] = total
        maxima[row] = best


@cuda.jit
def all_threads_kernel(x, sums, maxima):
    """Use one shared array for two successive collectives."""
    i, tid, warps = cuda.grid(1), cuda.threadIdx.x, cuda.blockDim.x // WARP
    totals = cuda.shared.array(WARP, sums.dtype)
    sums[i] = block_all_sum(x[i], totals, tid, warps)
    maxima[i] = block_all_max(x[i], totals, tid, warps)


@cuda.jit
def all_lanes_kernel(x, sums, maxima):
    i = cuda.grid(1)
    sums[i] = warp_all_sum(x[i])
    maxima[i] = warp_all_max(x[i])


@cuda.jit
def softmax_kernel(x, out):
    """Use one shared array for two collectives and to broadcast their results."""
    tid, warps = cuda.threadIdx.x, cuda.blockDim.x // WARP
    totals = cuda.shared.array(WARP, out.dtype)
    value = x[cuda.grid(1)]
    best = block_max(value, totals, tid, warps)
    if tid == 0:
        totals[0] = best
    cuda.syncthreads()  # the maximum is written before others read it
    exponential = math.exp(value - totals[0])
    cuda.syncthreads()  # all have read it before block_sum writes the sums of warps
    total = block_sum(exponential, totals, tid, warps)
    if tid == 0:
        totals[0] = total
    cuda.syncthreads()  # the sum is written before others read it
    out[cuda.grid(1)] = exponential / totals[0]


@cuda.jit
def missing_barrier_kernel(x, out):
    tid, warps = cuda.threadIdx.x, cuda.blockDim.x // WARP
    totals = cuda.shared.array(WARP, out.dtype)
    first = block_sum(x[tid], totals, tid, warps)
    second = block_sum(x[tid] * x[tid], totals, tid, warps)
    if tid == 0:
        out[0] = first
        out[1] = second


def numbers(size, dtype, blocks=3):
    """Return random numbers of both signs, for `blocks` blocks."""
    rng = np.random.default_rng(size)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(-1000, 1000, blocks * size).astype(dtype)
    return rng.standard_normal(blocks * size).astype(dtype)


def poisoned(size, dtype):
    return np.full(size, np.nan if np.issubdtype(dtype, np.floating) else -77, dtype)


def of_blocks(x, size):
    """Return the sums and maxima of blocks of so many threads."""
    blocks = len(x) // size
    sums, maxima = poisoned(blocks, x.dtype), poisoned(blocks, x.dtype)
    block_kernel[blocks, size](x, sums, maxima)
    return sums, maxima


@sizes
@floats
@pytest.mark.costly
def test_block_sum_adds_up_all_threads(size, dtype):
    x = numbers(size, dtype)
    rows = x.reshape(3, size).tolist()
    tolerance = size * np.finfo(dtype).eps * np.abs(x).reshape(3, size).sum(axis=1)
    error = np.abs(of_blocks(x, size)[0] - [math.fsum(row) for row in rows])
    assert (error <= tolerance).all()


@sizes
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.costly
def test_block_sum_of_integers_is_exact(size, dtype):
    x = numbers(size, dtype)
    expected = x.reshape(3, size).sum(axis=1)
    np.testing.assert_array_equal(of_blocks(x, size)[0], expected)


def test_block_sum_of_integers_wraps():
    x = np.full(64, 2**31 - 1, np.int32)
    assert of_blocks(x, 64)[0] == x.sum(dtype=np.int32)


@sizes
@all_dtypes
def test_block_max_is_the_maximum_of_all_threads(size, dtype):
    x = numbers(size, dtype)
    expected = x.reshape(3, size).max(axis=1)
    np.testing.assert_array_equal(of_blocks(x, size)[1], expected)


@all_dtypes
@pytest.mark.parametrize("at", [0, 1, 31, 32, 63, 64, 95])
def test_block_max_of_negative_numbers_is_right_at_any_position(at, dtype):
    x = -2 - np.abs(numbers(96, dtype, blocks=1))
    x[at] = -1
    assert of_blocks(x, 96)[1] == -1


@floats
def test_block_max_of_minus_infinities_is_minus_infinity(dtype):
    assert of_blocks(np.full(96, -np.inf, dtype), 96)[1] == -np.inf


@floats
@pytest.mark.parametrize("at", [0, 1, 31, 32, 63, 64, 95])
def test_a_nan_at_any_position_propagates_to_sum_and_maximum(at, dtype):
    x = np.full(96, np.inf, dtype)
    x[at] = np.nan
    assert np.isnan(of_blocks(x, 96)).all()


@floats
def test_block_sum_of_negative_zeros_is_a_negative_zero(dtype):
    (total,) = of_blocks(np.full(96, -0.0, dtype), 96)[0]
    assert (total, np.signbit(total)) == (0, True)


def test_block_max_of_zeros_of_both_signs_is_zero():
    assert of_blocks(np.array([-0.0, 0.0] * 48, np.float32), 96)[1] == 0


@all_dtypes
def test_all_threads_may_read_the_result_of_block_tree_sum(dtype):
    x = numbers(128, dtype)
    out = poisoned(len(x), dtype)
    tree_kernel[3, 128](x, out)
    expected = np.repeat(x.reshape(3, 128).astype(np.float64).sum(axis=1), 128)
    np.testing.assert_allclose(out, expected, rtol=128 * np.finfo(np.float32).eps)


@all_dtypes
@pytest.mark.parametrize("rows", [1, 3, 32])
@pytest.mark.costly
def test_every_warp_has_its_own_result(rows, dtype):
    x = numbers(WARP, dtype, blocks=rows).reshape(rows, WARP)
    sums, maxima = poisoned(rows, dtype), poisoned(rows, dtype)
    rows_kernel[1, (WARP, rows)](x, sums, maxima)
    np.testing.assert_allclose(sums, x.sum(axis=1), rtol=0, atol=1e-4)
    np.testing.assert_array_equal(maxima, x.max(axis=1))


for_all = pytest.mark.parametrize(
    ("kernel", "group"), [(all_threads_kernel, 96), (all_lanes_kernel, 32)], ids=["block", "warp"]
)


def of_all_threads(kernel, x):
    """Return the sum and maximum that each thread gets, in blocks of 96 threads."""
    sums, maxima = poisoned(len(x), x.dtype), poisoned(len(x), x.dtype)
    kernel[len(x) // 96, 96](x, sums, maxima)
    return sums, maxima


@for_all
@all_dtypes
@pytest.mark.costly
def test_every_thread_gets_the_sum_of_its_group(kernel, group, dtype):
    x = numbers(96, dtype)
    rows = x.reshape(-1, group)
    expected = np.repeat(rows.astype(np.float64).sum(axis=1), group)
    atol = group * np.finfo(np.float32).eps * np.abs(rows).sum(axis=1).max()
    np.testing.assert_allclose(of_all_threads(kernel, x)[0], expected, rtol=0, atol=atol)


@for_all
@floats
def test_the_sums_of_all_threads_are_bit_identical(kernel, group, dtype):
    sums = of_all_threads(kernel, numbers(96, dtype))[0].reshape(-1, group)
    np.testing.assert_array_equal(sums, np.repeat(sums[:, :1], group, axis=1))


@for_all
@all_dtypes
def test_every_thread_gets_the_maximum_of_its_group(kernel, group, dtype):
    x = numbers(96, dtype)
    expected = np.repeat(x.reshape(-1, group).max(axis=1), group)
    np.testing.assert_array_equal(of_all_threads(kernel, x)[1], expected)


@for_all
@floats
@pytest.mark.parametrize("at", [0, 1, 31])
def test_a_nan_propagates_to_every_thread_of_its_group(kernel, group, at, dtype):
    x = np.full(96, np.inf, dtype)
    x[at] = np.nan
    for found in of_all_threads(kernel, x):
        np.testing.assert_array_equal(np.isnan(found), np.arange(96) < group)


@sizes
@pytest.mark.costly
def test_every_thread_gets_the_sum_of_a_block_of_any_size(size):
    x = numbers(size, np.int32)
    sums, maxima = poisoned(len(x), np.int32), poisoned(len(x), np.int32)
    all_threads_kernel[3, size](x, sums, maxima)
    np.testing.assert_array_equal(sums, np.repeat(x.reshape(3, size).sum(axis=1), size))


@sizes
@floats
@pytest.mark.costly
def test_one_array_may_be_used_by_two_collectives_with_barriers_between(size, dtype):
    x = numbers(size, dtype)
    out = poisoned(len(x), dtype)
    softmax_kernel[3, size](x, out)
    exponentials = np.exp(x.reshape(3, size).astype(np.float64))
    expected = (exponentials / exponentials.sum(axis=1, keepdims=True)).ravel()
    np.testing.assert_allclose(out, expected, rtol=size * np.finfo(dtype).eps)


def test_the_oracle_agrees_bit_for_bit():
    x = numbers(96, np.float32)
    sums, maxima = poisoned(3, np.float32), poisoned(3, np.float32)
    oracle.launch(block_kernel, 3, 96, x, sums, maxima)
    np.testing.assert_array_equal(of_blocks(x, 96), [sums, maxima])


# ---- checker and counters -------------------------------------------------------------------


@pytest.mark.watched
@sizes
def test_the_checker_finds_nothing_in_a_block_of_any_size(size):
    sums, maxima = cuda.device_array(3, np.float32), cuda.device_array(3, np.float32)
    report = gpukit.check(block_kernel)[3, size](numbers(size, np.float32), sums, maxima)
    assert report.findings == []


@pytest.mark.watched
@sizes
def test_the_checker_finds_nothing_if_barriers_separate_two_uses_of_an_array(size):
    x = numbers(size, np.float32)
    report = gpukit.check(softmax_kernel)[3, size](x, cuda.device_array(3 * size, np.float32))
    assert report.findings == []


@for_all
def test_the_checker_finds_nothing_in_collectives_for_all_threads(kernel, group):
    sums, maxima = cuda.device_array(96, np.float32), cuda.device_array(96, np.float32)
    assert gpukit.check(kernel)[1, 96](numbers(96, np.float32), sums, maxima).findings == []


def test_the_checker_finds_nothing_in_a_tree_sum():
    out = cuda.device_array(3 * 128, np.float32)
    report = gpukit.check(tree_kernel)[3, 128](numbers(128, np.float32), out)
    assert report.findings == []


def test_the_checker_finds_nothing_in_a_2d_block_of_warps():
    x = numbers(WARP, np.float32).reshape(3, WARP)
    sums, maxima = cuda.device_array(3, np.float32), cuda.device_array(3, np.float32)
    report = gpukit.check(rows_kernel)[1, (WARP, 3)](x, sums, maxima)
    assert report.findings == []


def test_reusing_an_array_without_a_barrier_is_a_race():
    report = gpukit.check(missing_barrier_kernel)[1, 96](
        numbers(96, np.float32), np.zeros(2, np.float32)
    )
    assert {finding.kind for finding in report.findings} == {"shared-race"}


@pytest.mark.watched
@floats
def test_floats_are_added_in_their_own_dtype(dtype):
    outputs = np.zeros(3, dtype), np.zeros(3, dtype)
    found = gpukit.profile(block_kernel)[3, 96](numbers(96, dtype), *outputs).total
    assert found.flops == found[f"flops_{np.dtype(dtype).name}"] == 3 * (5 * 96 + 2)
