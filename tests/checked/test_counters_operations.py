"""Integer and special operations and shuffles of a profile against manual counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from gpukit.checked.counters import Counts

THREADS = 40  # a whole warp and a part of one
WARPS = 2


def counted(kernel: Any, *arguments: Any, launch: Any = (1, THREADS)) -> Counts:
    return gpukit.profile(kernel)[launch](*arguments).total


def ones(dtype: Any = np.float32) -> np.ndarray:
    return np.ones(THREADS, dtype)


@cuda.jit
def grid_kernel(out):
    out[cuda.grid(1)] = 1


def test_index_of_a_thread_takes_a_product_and_a_sum() -> None:
    assert counted(grid_kernel, ones())["operations_integer"] == 2 * THREADS


@cuda.jit
def recomputed_kernel(out, n):
    t = cuda.threadIdx.x
    low = t * 2 + n
    if low < 40:
        out[low % 40] = low << 1 | ~t
        out[low % 40] = min(low, t, n)


def test_operators_count_where_the_source_has_them_even_if_recomputed() -> None:
    inside = sum(2 * t + 3 < 40 for t in range(THREADS))
    found = counted(recomputed_kernel, ones(np.int32), 3)["operations_integer"]
    assert found == 2 * THREADS + THREADS + inside * (4 + 3)


@cuda.jit
def compared_kernel(out, n):
    t = cuda.threadIdx.x
    flag = 0 <= t < n
    out[t] = flag and not out[t] > 0.5


def test_each_comparison_of_a_chain_counts_and_those_of_floats_do_not() -> None:
    assert counted(compared_kernel, ones(), 7)["operations_integer"] == 2 * THREADS


@cuda.jit
def loop_kernel(out, n):
    t = cuda.threadIdx.x
    if t < 5:
        for k in range(n // 2, n * 3):
            out[t] = k


def test_range_counts_once_and_each_iteration_moves_and_compares_its_variable() -> None:
    rounds = 3 * 3 - 3 // 2
    found = counted(loop_kernel, ones(), 3)
    assert found["operations_integer"] == THREADS + 5 * 2 + 5 * rounds * 2


@cuda.jit
def striding_kernel(out, n):
    i = cuda.threadIdx.x
    while i < n:
        out[i] = 0
        i += cuda.blockDim.x


def test_while_loop_counts_its_comparisons_and_sums() -> None:
    found = counted(striding_kernel, np.ones(100, np.float32), 100)
    assert found["operations_integer"] == 100 * 2 + THREADS


@cuda.jit(device=True)
def wrapped(i, n):
    return (i + 1) % n


@cuda.jit
def calling_kernel(out):
    t = cuda.threadIdx.x
    out[t] = wrapped(wrapped(t, 7), 5)


def test_operations_of_device_functions_count_at_each_call() -> None:
    assert counted(calling_kernel, ones())["operations_integer"] == 4 * THREADS


@cuda.jit
def bits_kernel(out, x):
    t = cuda.threadIdx.x
    out[t] = cuda.popc(x[t]) + abs(-t)


def test_functions_of_bits_and_absolute_values_count_once() -> None:
    x = np.ones(THREADS, np.int32)
    assert counted(bits_kernel, ones(), x)["operations_integer"] == 4 * THREADS


@cuda.jit
def squared_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = x[t] * x[t] + x[t] ** 2


def test_arithmetic_on_floats_is_neither_of_integers_nor_special() -> None:
    found = counted(squared_kernel, ones(), ones())
    assert found["operations_integer"] == found["operations_special"] == 0


@cuda.jit
def special_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = math.exp(x[t]) / math.sqrt(x[t]) + math.floor(x[t])


@cuda.jit
def pairs_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = math.tanh(x[t]) + math.pow(x[t], 0.5) + x[t] ** x[t] + math.fabs(x[t])


@cuda.jit
def divided_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = x[t] // 2 + t // 2 + (t % 3) / 4


@cuda.jit
def rooted_kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = cuda.rsqrt(x[t]) + np.log(x[t]) * (1 / 3)


@pytest.mark.parametrize(
    ("kernel", "each"),
    [(special_kernel, 3), (pairs_kernel, 6), (divided_kernel, 2), (rooted_kernel, 2)],
)
def test_special_operations_count_once_or_twice_by_function(kernel: Any, each: int) -> None:
    assert counted(kernel, ones(), ones())["operations_special"] == each * THREADS


@cuda.jit
def exchanging_kernel(x, out):
    t = cuda.threadIdx.x
    v = x[t]
    for step in range(3):
        v += cuda.shfl_xor_sync(0xFFFFFFFF, v, 1 << step)
    cuda.syncwarp()
    some = cuda.any_sync(0xFFFFFFFF, v > 1)
    cuda.ballot_sync(0xFFFFFFFF, v > 2)
    out[t] = v + some


def test_shuffles_and_votes_count_once_per_warp_and_syncwarp_does_not() -> None:
    found = counted(exchanging_kernel, np.ones(64), np.ones(64), launch=(1, 64))
    assert found["shuffles"] == 2 * (3 + 1 + 1)


@cuda.jit
def partly_exchanging_kernel(x, out):
    t = cuda.threadIdx.x
    if t < 32:
        out[t] = cuda.shfl_sync(0xFFFFFFFF, x[t], 0)


def test_a_warp_without_lanes_at_a_shuffle_does_not_count() -> None:
    assert counted(partly_exchanging_kernel, ones(), ones())["shuffles"] == 1


def test_shuffles_of_a_warp_sum_count_for_each_warp_of_each_block() -> None:
    from gpukit.kernels.reduce import sum as total

    profiles = gpukit.profile(lambda: total(np.ones(5000, np.float32)))()
    assert all(p.total["shuffles"] % 5 == 0 for p in profiles)


@cuda.jit
def masked_loop_kernel(out):
    t = cuda.threadIdx.x
    if t < 3:
        for k in range(4):
            out[t] = k


def test_threads_outside_a_loop_do_not_count_its_iterations() -> None:
    found = gpukit.profile(masked_loop_kernel)[1, THREADS](ones())
    heads = [c for c in found.lines.values() if c["operations_integer"] == 3 * 4 * 2]
    assert [(c["warp_steps"], c["thread_steps"]) for c in heads] == [(4, 12)]
