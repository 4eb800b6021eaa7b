"""Semantics of barriers, branches and loops: compiled, interpreted and by hand.

`run_both` compares the compiled kernel with the oracle; the last line of each test has the
expected result, worked out by hand.
"""

import numpy as np
import pytest

from gpukit import cuda
from tests.compiler.agreement import run_both


def ints(n, start=-77):
    return np.full(n, start, np.int64)


# Early returns


@cuda.jit
def leave_before_barrier_kernel(a, out):
    tile = cuda.shared.array(8, np.int64)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    if t >= 5:
        return
    cuda.syncthreads()
    out[t] = tile[4 - t]


def test_a_barrier_does_not_wait_for_threads_that_have_returned():
    _, out = run_both(leave_before_barrier_kernel, 1, 8, np.arange(8), ints(8))
    assert out.tolist() == [4, 3, 2, 1, 0, -77, -77, -77]


@cuda.jit
def leave_inside_loop_kernel(out):
    t = cuda.threadIdx.x
    for k in range(6):
        if k == t:
            return
        out[t] = cuda.syncthreads_count(1)


def test_threads_may_return_one_by_one_from_a_loop_with_a_barrier():
    (out,) = run_both(leave_inside_loop_kernel, 1, 5, ints(5))
    assert out.tolist() == [-77, 4, 3, 2, 1]


@cuda.jit
def whole_block_returns_kernel(out):
    out[cuda.grid(1)] = 1
    if cuda.blockIdx.x == 0:
        return
    cuda.syncthreads()
    out[cuda.grid(1)] = 2


def test_a_whole_block_may_return_before_a_barrier():
    (out,) = run_both(whole_block_returns_kernel, 2, 3, ints(6))
    assert out.tolist() == [1, 1, 1, 2, 2, 2]


# Loops that contain a barrier


@cuda.jit
def break_loop_kernel(limit, out):
    tile = cuda.shared.array(4, np.int64)
    t = cuda.threadIdx.x
    tile[t] = t
    cuda.syncthreads()
    for k in range(10):
        got = tile[(t + 1) % 4]
        cuda.syncthreads()
        if k == limit[cuda.blockIdx.x]:
            break
        tile[t] = got + 10
        cuda.syncthreads()
    out[cuda.grid(1)] = tile[t]


def test_a_loop_that_contains_a_barrier_may_break():
    _, out = run_both(break_loop_kernel, 3, 4, np.array([0, 1, 2]), ints(12))
    assert out.tolist() == [0, 1, 2, 3, 11, 12, 13, 10, 22, 23, 20, 21]


@cuda.jit
def continue_above_kernel(out):
    t = cuda.threadIdx.x
    seen = 0
    for k in range(6):
        if k % 2 == 0:
            continue
        seen += cuda.syncthreads_count(1 if t < k else 0)
    out[t] = seen


def test_a_uniform_continue_before_a_barrier_skips_it():
    (out,) = run_both(continue_above_kernel, 1, 8, ints(8))
    assert out.tolist() == [1 + 3 + 5] * 8


@cuda.jit
def continue_below_kernel(out):
    t = cuda.threadIdx.x
    private = 0
    together = 0
    for k in range(4):
        together += cuda.syncthreads_count(1)
        if t % 2 == 0:
            continue
        private += k
    out[t] = 100 * together + private


def test_threads_that_continue_after_a_barrier_synchronize_at_the_next():
    (out,) = run_both(continue_below_kernel, 1, 4, ints(4))
    assert out.tolist() == [1600, 1606, 1600, 1606]


@cuda.jit
def until_none_has_work_kernel(a, out):
    t = cuda.threadIdx.x
    left = a[t]
    rounds = 0
    while cuda.syncthreads_or(1 if left > 0 else 0):
        left -= 3
        rounds += 1
    out[t, 0], out[t, 1] = rounds, left


def test_a_loop_over_a_vote_runs_as_long_as_any_thread_has_work():
    a = np.array([0, 1, 7, 2])
    _, out = run_both(until_none_has_work_kernel, 1, 4, a, ints((4, 2)))
    assert out.tolist() == [[3, -9], [3, -8], [3, -2], [3, -7]]


@cuda.jit
def loaded_trips_kernel(trips, out):
    t = cuda.threadIdx.x
    total = 0
    for k in range(trips[cuda.blockIdx.x]):
        total += cuda.syncthreads_count(1 if t > k else 0)
    out[cuda.grid(1)] = total


def test_a_trip_count_loaded_from_memory_may_differ_between_blocks():
    _, out = run_both(loaded_trips_kernel, 3, 4, np.array([0, 1, 3]), ints(12))
    assert out.reshape(3, 4)[:, 0].tolist() == [0, 3, 3 + 2 + 1]


@cuda.jit
def carried_kernel(a, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    acc = np.float32(0)
    for k in range(0, a.size, cuda.blockDim.x):
        tile[t] = a[k + t]
        cuda.syncthreads()
        for j in range(cuda.blockDim.x):
            acc += tile[j] * np.float32(t)
        cuda.syncthreads()
    out[t] = acc


def test_an_accumulator_lives_across_the_barriers_of_a_loop():
    a = np.arange(48, dtype=np.float32)
    _, out = run_both(carried_kernel, 1, 16, a, np.full(16, np.nan, np.float32))
    np.testing.assert_array_equal(out, np.arange(16) * a.sum())


@cuda.jit
def else_kernel(out):
    for k in range(4):
        cuda.syncthreads()
        if k == cuda.blockIdx.x + 2:
            break
    else:
        k = 100
    out[cuda.grid(1)] = k


def test_the_else_of_a_loop_with_a_barrier_runs_unless_the_loop_breaks():
    (out,) = run_both(else_kernel, 3, 2, ints(6))
    assert out.tolist() == [2, 2, 3, 3, 100, 100]


@cuda.jit
def nested_loops_kernel(out):
    t = cuda.threadIdx.x
    total = 0
    for i in range(1 + cuda.blockIdx.x):
        k = i
        while k >= 0:
            total += cuda.syncthreads_count(1 if t >= k else 0)
            k -= 1
        for j in range(t % 3):
            total += 100
    out[cuda.grid(1)] = total


def test_a_loop_may_contain_loops_with_and_without_barriers():
    (out,) = run_both(nested_loops_kernel, 2, 4, ints(8))
    assert out.tolist() == [4, 104, 204, 4, 11, 211, 411, 11]


# Variables


@cuda.jit
def assigned_in_branch_kernel(a, out):
    t = cuda.threadIdx.x
    if a[t] % 2 == 0:
        kept = a[t] // 2
    else:
        kept = 3 * a[t] + 1
    cuda.syncthreads()
    out[t] = kept


def test_variable_first_assigned_in_a_branch_is_read_after_a_barrier():
    _, out = run_both(assigned_in_branch_kernel, 1, 4, np.arange(4), ints(4))
    assert out.tolist() == [0, 4, 1, 10]


@cuda.jit
def tuple_kernel(a, out):
    t = cuda.threadIdx.x
    pair = (a[t], np.float32(t) / np.float32(2))
    left, right = t, a.size - t
    cuda.syncthreads()
    left, right = right, left
    cuda.syncthreads()
    out[t] = pair[0] * 100 + left * 10 + right + pair[1]


def test_tuple_of_two_types_and_a_swap_live_across_barriers():
    a = np.arange(4)
    _, out = run_both(tuple_kernel, 1, 4, a, np.full(4, np.nan))
    np.testing.assert_array_equal(out, a * 100 + (4 - a) * 10 + a + a / 2)


@cuda.jit
def view_kernel(a, out):
    t = cuda.threadIdx.x
    row = a[t]
    tail = row[1:]
    cuda.syncthreads()
    tail[0] += cuda.syncthreads_count(1)
    out[t] = row[1] * 10 + tail.size


def test_views_of_an_array_live_across_a_barrier():
    a, out = run_both(view_kernel, 1, 3, np.arange(12).reshape(3, 4), ints(3))
    assert out.tolist() == [43, 83, 123]


@cuda.jit
def widths_kernel(a, out):
    t = cuda.threadIdx.x
    v = a[t]
    if t % 2:
        v = v * 2**33
    cuda.syncthreads()
    out[t] = v


def test_a_variable_of_int32_and_int64_values_keeps_64_bits_across_a_barrier():
    _, out = run_both(widths_kernel, 1, 2, np.array([3, 3], np.int32), ints(2))
    assert out.tolist() == [3, 3 * 2**33]


@cuda.jit
def local_array_kernel(out):
    mine = cuda.local.array(3, np.int32)
    t = cuda.threadIdx.x
    for k in range(3):
        mine[k] = 10 * t + k
    cuda.syncthreads()
    mine[t % 3] += cuda.syncthreads_count(1)
    out[t] = mine[0] + mine[1] * 100 + mine[2] * 10000


def test_local_arrays_stay_private_to_a_thread_across_barriers():
    (out,) = run_both(local_array_kernel, 1, 3, ints(3))
    assert out.tolist() == [20103, 121410, 252120]


@cuda.jit
def views_of_local_arrays_kernel(out):
    t = cuda.threadIdx.x
    mine = cuda.local.array(4, np.int64)
    for k in range(4):
        mine[k] = 10 * t + k
    again = mine
    rest = again[1:]
    cuda.syncthreads()
    out[t] = 100 * again[0] + rest[2]


def test_views_of_local_arrays_stay_private_to_a_thread_across_barriers():
    (out,) = run_both(views_of_local_arrays_kernel, 1, 5, ints(5))
    assert out.tolist() == [1000 * t + 10 * t + 3 for t in range(5)]


@cuda.jit
def two_local_arrays_kernel(out):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(4, np.int64)
    old = cuda.local.array(2, np.int64)
    new = cuda.local.array(2, np.int64)
    for k in range(2):
        old[k] = new[k] = t + k
    for turn in range(3):
        tile[t] = new[0]
        cuda.syncthreads()
        for k in range(2):
            old[k] = new[k]
            new[k] = 10 * old[k] + tile[3 - t]
        cuda.syncthreads()
    out[t] = 10000 * old[0] + new[1]


def test_two_local_arrays_and_a_shared_one_stay_distinct_across_barriers():
    (out,) = run_both(two_local_arrays_kernel, 1, 4, ints(4))
    # new[0]: 0 1 2 3, then 3 12 21 30, then 60 141 222 303; new[1] begins one higher.
    assert out.tolist() == [601903, 1412632, 2223361, 3034090]


@cuda.jit
def loop_variable_kernel(out):
    t = cuda.threadIdx.x
    last = -1
    for k in range(2 + cuda.blockIdx.x):
        last = k * 10 + t
        cuda.syncthreads()
    out[cuda.grid(1), 0], out[cuda.grid(1), 1] = k, last


def test_loop_variable_is_read_after_a_loop_with_a_barrier():
    (out,) = run_both(loop_variable_kernel, 2, 2, ints((4, 2)))
    assert out.tolist() == [[1, 10], [1, 11], [2, 20], [2, 21]]


@cuda.jit
def one_name_kernel(out):
    t = cuda.threadIdx.x
    total = 0
    for i in range(2):
        total += cuda.syncthreads_count(1 if i == t else 0)
    for i in range(t, 6, 3):
        total += 100 * i
    cuda.syncthreads()
    i = t * 1000
    cuda.syncthreads()
    out[t] = total + i


def test_loops_with_and_without_barriers_and_a_variable_may_use_one_name():
    (out,) = run_both(one_name_kernel, 1, 3, ints(3))
    assert out.tolist() == [2 + 300, 2 + 500 + 1000, 2 + 700 + 2000]


@cuda.jit
def read_after_kernel(n, out):
    i = cuda.grid(1)
    k, total = i, 0
    for k in range(n):
        total += k * i
    out[i] = total + 100 * k


@pytest.mark.parametrize(
    ("n", "expected"), [(0, [0, 100, 200]), (1, [0, 0, 0]), (3, [200, 203, 206])]
)
def test_a_loop_variable_that_is_read_later_keeps_its_value(n, expected):
    (out,) = run_both(read_after_kernel, 1, 3, n, ints(3))[-1:]
    assert out.tolist() == expected
