"""What a launch is told to do about a finding: what mends that kernel, in its own names."""

import numpy as np

import gpukit
from gpukit import cuda

BLOCK, HALF = 32, 16


@cuda.jit
def sum_kernel(x, total):
    i = cuda.grid(1)
    if i < x.shape[0]:
        total[0] += x[i]


@cuda.jit
def smooth_kernel(a):
    i = cuda.grid(1)
    if 0 < i < a.shape[0] - 1:
        a[i] = a[i - 1] + a[i + 1]


@cuda.jit
def reverse_kernel(x, out):
    tile = cuda.shared.array(HALF, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    out[tid] = tile[BLOCK - 1 - tid]


@cuda.jit
def last_column_kernel(table, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = table[i, -1]


@cuda.jit
def bins_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        counts[values[i]] += 1


def fixes(kernel, blocks, *arguments):
    report = gpukit.check(kernel)[blocks, BLOCK](*arguments)
    return {found.kind: found.fix for found in report.findings}


def ones(*shape):
    return np.ones(shape, np.float32)


def test_a_sum_by_all_blocks_is_told_its_atomic():
    advice = fixes(sum_kernel, 3, ones(3 * BLOCK - 1), ones(1))["global-race"]
    assert "`cuda.atomic.add(total, 0, x[i])`" in advice
    assert "syncthreads" not in advice


def test_a_stencil_in_place_is_told_to_write_to_another_array():
    assert "write to another array" in fixes(smooth_kernel, 3, ones(90))["global-race"]
    assert "write to another array" in fixes(smooth_kernel, 1, ones(29))["warp-race"]


def test_a_shared_array_that_is_too_small_is_told_to_grow():
    advice = fixes(reverse_kernel, 1, ones(BLOCK), ones(BLOCK))["out-of-bounds"]
    assert advice.startswith("make tile larger")


def test_an_index_of_minus_one_is_not_guarded_with_a_number():
    advice = fixes(last_column_kernel, 1, ones(7, 3), ones(7))["negative-index"]
    assert advice.startswith("write `table.shape[1] - 1`")


def test_counts_at_places_that_are_read_are_told_their_atomic():
    values, counts = np.zeros(90, np.uint8), np.zeros(4, np.int32)
    advice = fixes(bins_kernel, 3, values, counts)["global-race"]
    assert "`cuda.atomic.add(counts, values[i], 1)`" in advice
