"""Semantics of warps, shared memory and atomics: compiled, interpreted and by hand."""

import numpy as np
import pytest

from gpukit import cuda
from tests.compiler.agreement import run_both

FULL = 0xFFFFFFFF


def ints(n, start=-77):
    return np.full(n, start, np.int64)


@cuda.jit
def four_shuffles_kernel(out):
    t = cuda.grid(1)
    out[t, 0] = cuda.shfl_sync(FULL, t, 3)
    out[t, 1] = cuda.shfl_up_sync(FULL, t, 2)
    out[t, 2] = cuda.shfl_down_sync(FULL, t, 2)
    out[t, 3] = cuda.shfl_xor_sync(FULL, t, 5)


def test_shuffles_read_the_named_lane_or_their_own_value_past_the_edge():
    (out,) = run_both(four_shuffles_kernel, 1, 64, ints((64, 4)))
    t = np.arange(64)
    lane, base = t % 32, t - t % 32
    wanted = (base + 3, np.where(lane < 2, t, t - 2), np.where(lane > 29, t, t + 2), t ^ 5)
    np.testing.assert_array_equal(out, np.stack(wanted, axis=1))


@cuda.jit
def shuffled_types_kernel(a, b, c, d, out):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_xor_sync(FULL, a[t], 1) + cuda.shfl_xor_sync(FULL, b[t], 1)
    out[t] += cuda.shfl_xor_sync(FULL, c[t], 1) + cuda.shfl_xor_sync(FULL, d[t], 1)


def test_shuffles_pass_32_and_64_bit_integers_and_floats():
    parts = (
        np.arange(32, dtype=np.int32),
        np.arange(32) * 2**40,
        np.arange(32, dtype=np.float32) / 8,
        np.arange(32) / 64,
    )
    *_, out = run_both(shuffled_types_kernel, 1, 32, *parts, np.full(32, np.nan))
    np.testing.assert_array_equal(out, sum(p.astype(float) for p in parts)[np.arange(32) ^ 1])


@cuda.jit
def branch_shuffle_kernel(out):
    t = cuda.threadIdx.x
    odd = cuda.ballot_sync(FULL, t % 2 == 1)
    got = -1
    if t % 2 == 1:
        got = cuda.shfl_sync(odd, t * 10, 31)
    out[t] = got


def test_a_shuffle_in_a_divergent_branch_uses_the_active_lanes():
    (out,) = run_both(branch_shuffle_kernel, 1, 32, ints(32))
    assert out.tolist() == [-1, 310] * 16


@cuda.jit
def warp_trips_kernel(out):
    t = cuda.threadIdx.x
    v = t
    k = 0
    while k < t // 32:
        v += cuda.shfl_sync(FULL, v, 0)
        k += 1
    out[t] = v


def test_each_warp_shuffles_as_often_as_its_trip_count_says():
    (out,) = run_both(warp_trips_kernel, 1, 96, ints(96))
    t = np.arange(96)
    added = np.array([0, 32, 64 + 128])[t // 32]
    np.testing.assert_array_equal(out, t + added)


@cuda.jit
def lanes_leave_kernel(out):
    t = cuda.threadIdx.x
    k = 0
    seen = 0
    m = cuda.ballot_sync(FULL, k < t % 4)
    while k < t % 4:
        k += 1
        seen += cuda.popc(cuda.ballot_sync(m, True))
        m = cuda.ballot_sync(m, k < t % 4)
    out[t] = seen


def test_lanes_leave_a_loop_one_by_one_while_the_others_continue():
    (out,) = run_both(lanes_leave_kernel, 1, 8, ints(8))
    assert out.tolist() == [0, 6, 6 + 4, 6 + 4 + 2] * 2


@cuda.jit
def warp_sum_kernel(a, out):
    i = cuda.grid(1)
    v = a[i]
    step = 16
    while step > 0:
        v += cuda.shfl_down_sync(FULL, v, step)
        step //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, v)


def test_warp_reduction_by_shuffles_sums_every_warp():
    a = np.arange(192)
    _, out = run_both(warp_sum_kernel, 2, 96, a, np.zeros(1, np.int64))
    assert out.tolist() == [a.sum()]


@cuda.jit
def partial_warp_kernel(out):
    t = cuda.threadIdx.x
    here = cuda.ballot_sync(FULL, True)
    got = cuda.shfl_down_sync(FULL, t, 1)
    if (here >> (cuda.laneid + 1)) & 1 == 0:
        got = -1
    out[t, 0], out[t, 1] = cuda.popc(here), got


def test_last_warp_of_a_block_has_only_the_lanes_that_exist():
    (out,) = run_both(partial_warp_kernel, 1, 35, ints((35, 2)))
    assert out[[0, 30, 32, 33, 34]].tolist() == [[32, 1], [32, 31], [3, 33], [3, 34], [3, -1]]


@cuda.jit
def votes_kernel(a, out):
    t = cuda.threadIdx.x
    out[t, 0] = 1 if cuda.all_sync(FULL, a[t] > 0) else 0
    out[t, 1] = 1 if cuda.any_sync(FULL, a[t] > 0) else 0
    out[t, 2] = 1 if cuda.eq_sync(FULL, a[t] > 0) else 0
    out[t, 3] = cuda.ballot_sync(FULL, a[t] > 0)


@pytest.mark.parametrize(
    ("a", "wanted"),
    [([1, 1, 1], [1, 1, 1, 7]), ([0, 1, 0], [0, 1, 0, 2]), ([0, 0, 0], [0, 0, 1, 0])],
)
@pytest.mark.costly
def test_votes_consider_only_existing_lanes(a, wanted):
    _, out = run_both(votes_kernel, 1, 3, np.array(a), ints((3, 4)))
    assert out.tolist() == [wanted] * 3


@cuda.jit
def match_kernel(a, out):
    t = cuda.threadIdx.x
    out[t, 0] = cuda.match_any_sync(FULL, a[t])
    _, same = cuda.match_all_sync(FULL, a[t] // 10)
    out[t, 1] = 1 if same else 0


def test_match_finds_the_lanes_with_the_same_value():
    _, out = run_both(match_kernel, 1, 4, np.array([1, 2, 1, 3]), ints((4, 2)))
    assert out.tolist() == [[5, 1], [2, 1], [5, 1], [8, 1]]


@cuda.jit
def top_bit_kernel(out):
    t = cuda.threadIdx.x
    out[t] = cuda.ballot_sync(FULL, t == 31)


def test_ballot_is_a_signed_32_bit_integer():
    (out,) = run_both(top_bit_kernel, 1, 32, ints(32))
    assert out.tolist() == [-(2**31)] * 32


@cuda.jit
def linear_order_kernel(out):
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    t = x + cuda.blockDim.x * (y + cuda.blockDim.y * z)
    out[t, 0] = cuda.laneid
    out[t, 1] = cuda.shfl_sync(FULL, z * 100 + y * 10 + x, 5)


def test_lanes_of_a_3d_block_follow_x_then_y_then_z():
    (out,) = run_both(linear_order_kernel, 1, (3, 5, 4), ints((60, 2)))
    t = np.arange(60)
    np.testing.assert_array_equal(out[:, 0], t % 32)
    np.testing.assert_array_equal(out[:, 1], np.where(t < 32, 12, 221))


@cuda.jit
def grid_2d_kernel(out):
    col, row = cuda.grid(2)
    width, height = cuda.gridsize(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = row * 1000 + col * 10 + (width - height)


def test_grid_of_two_dimensions_gives_x_first():
    (out,) = run_both(grid_2d_kernel, (2, 3), (4, 2), ints((5, 7)))
    row, col = np.indices((5, 7))
    np.testing.assert_array_equal(out, row * 1000 + col * 10 + 2)


@cuda.jit
def same_line_kernel(out):
    a, b = cuda.shared.array(4, np.int32), cuda.shared.array(4, np.int32)
    t = cuda.threadIdx.x
    a[t], b[t] = t, 10 * t
    cuda.syncthreads()
    out[t] = a[3 - t] + b[3 - t]


def test_two_shared_arrays_on_one_line_are_distinct():
    (out,) = run_both(same_line_kernel, 1, 4, ints(4))
    assert out.tolist() == [33, 22, 11, 0]


@cuda.jit
def dynamic_views_kernel(out):
    words = cuda.shared.array(0, np.int32)
    floats = cuda.shared.array(0, np.float32)[4:]
    t = cuda.threadIdx.x
    words[t] = t * 10
    floats[t] = t / 2
    cuda.syncthreads()
    out[t] = words[3 - t] + floats[3 - t]


def test_arrays_of_dynamic_shared_memory_are_views_of_one_buffer():
    (out,) = run_both(dynamic_views_kernel, 1, 4, np.full(4, np.nan), shared_bytes=32)
    assert out.tolist() == [31.5, 21.0, 10.5, 0.0]


@cuda.jit
def shared_count_kernel(a, out):
    bins = cuda.shared.array(4, np.int32)
    t = cuda.threadIdx.x
    if t < 4:
        bins[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, a[cuda.grid(1)], 1)
    cuda.syncthreads()
    if t < 4:
        cuda.atomic.add(out, (t,), bins[t])


def test_shared_histogram_is_merged_by_global_atomics():
    a = np.arange(60) ** 2 % 4
    _, out = run_both(shared_count_kernel, 3, 20, a, np.zeros(4, np.int64))
    np.testing.assert_array_equal(out, np.bincount(a, minlength=4))


@cuda.jit
def old_value_kernel(counter, out):
    t = cuda.grid(1)
    ticket = cuda.atomic.add(counter, 0, 1)
    out[ticket] = 1
    cuda.syncthreads()
    cuda.atomic.max(counter, 1, t)
    cuda.atomic.min(counter, 2, -t)
    cuda.atomic.cas(counter, 3, 0, 5)


def test_atomics_return_the_old_value():
    counter, out = run_both(old_value_kernel, 2, 5, np.zeros(4, np.int64), ints(10))
    assert counter.tolist() == [10, 9, -9, 5]
    assert out.tolist() == [1] * 10


@cuda.jit
def int_types_kernel(a, out):
    t = cuda.threadIdx.x
    out[t] = a[0] + cuda.threadIdx.x + (a[0] - 1 + t) // -2


def test_sum_of_int32_values_is_64_bits_wide_and_division_rounds_down():
    a = np.array([2**31 - 1], np.int32)
    _, out = run_both(int_types_kernel, 1, 3, a, ints(3))
    big = 2**31 - 1
    assert out.tolist() == [big + t + (big - 1 + t) // -2 for t in range(3)]


@cuda.jit
def float_types_kernel(a, out):
    t = cuda.threadIdx.x
    out[t, 0] = a[t] * 3
    out[t, 1] = a[t] * np.float32(3)


def test_float32_times_an_integer_is_float64_and_times_a_float32_is_not():
    a = np.array([0.1, 0.7], np.float32)
    _, out = run_both(float_types_kernel, 1, 2, a, np.full((2, 2), np.nan))
    np.testing.assert_array_equal(out[:, 0], a.astype(np.float64) * 3)
    np.testing.assert_array_equal(out[:, 1], a * np.float32(3))
