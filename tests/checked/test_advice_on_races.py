"""Advice on races: a fix for the kernel at hand, in its own names."""

import numpy as np

import gpukit
from gpukit import cuda
from tests.checked.advised import fixes
from tests.checked.plain_kernels import BLOCK, ones


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
def bins_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        counts[values[i]] += 1


def test_advice_for_a_sum_by_all_blocks_is_an_atomic():
    advice = fixes(sum_kernel, 3, ones(3 * BLOCK - 1), ones(1))["global-race"]
    assert "`cuda.atomic.add(total, 0, x[i])`" in advice
    assert "syncthreads" not in advice


def test_advice_for_an_in_place_stencil_is_a_second_array():
    assert "write to another array" in fixes(smooth_kernel, 3, ones(90))["global-race"]
    assert "write to another array" in fixes(smooth_kernel, 1, ones(29))["warp-race"]


def test_advice_for_a_histogram_is_an_atomic():
    values, counts = np.zeros(90, np.uint8), np.zeros(4, np.int32)
    advice = fixes(bins_kernel, 3, values, counts)["global-race"]
    assert "`cuda.atomic.add(counts, values[i], 1)`" in advice


@cuda.jit
def insert_kernel(keys, slots, where):
    i = cuda.grid(1)
    if i < keys.size:
        key = keys[i]
        p = key % slots.size
        while True:
            if slots[p] == key:
                break
            if cuda.atomic.cas(slots, p, -1, key) == -1:
                break
            p = (p + 1) % slots.size
        where[i] = p


def test_advice_for_a_plain_read_racing_with_an_atomic_of_its_warp_is_an_atomic():
    arguments = np.arange(BLOCK) % 5, np.full(64, -1), np.zeros(BLOCK, np.int64)
    (found,) = gpukit.check(insert_kernel)[1, BLOCK](*arguments).findings
    assert "one of them atomically and the other not" in found.message
    assert "syncwarp" not in found.message + found.fix
    assert "`cuda.atomic.add(slots, p, 0)`" in found.fix


@cuda.jit
def store_against_atomic_kernel(out):
    i = cuda.threadIdx.x
    cuda.atomic.add(out, i // 2, 1)
    out[(i + 2) // 2] = i


def test_advice_for_a_plain_write_racing_with_an_atomic_of_its_warp_is_an_atomic():
    advice = fixes(store_against_atomic_kernel, 1, np.zeros(BLOCK, np.int32))
    assert "`cuda.atomic.exch(out, (i + 2) // 2, value)`" in advice["warp-race"]


@cuda.jit
def leave_early_kernel(out):
    i = cuda.threadIdx.x
    k = 0
    while k < i:
        out[k + 1] = k
        k += out[k] + 1


@cuda.jit
def break_early_kernel(out):
    i = cuda.threadIdx.x
    for k in range(BLOCK):
        if k > i:
            break
        out[k] = out[k + 1]


def test_no_barrier_is_advised_in_a_loop_with_divergent_exits():
    for kernel in (leave_early_kernel, break_early_kernel):
        report = gpukit.check(kernel)[1, BLOCK](np.zeros(64, np.int32))
        races = [f.fix for f in report.findings if f.kind.endswith("race")]
        assert races
        barriers = [
            fix for fix in races if "sync" in fix and "same number of iterations" not in fix
        ]
        assert barriers == []


@cuda.jit
def sum_in_loop_kernel(x, out):
    lane = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(lane, x.size, 32):
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(0xFFFFFFFF, x[k], step)
            step //= 2
    out[lane] = total


def test_advice_for_a_shuffle_in_a_divergent_loop_is_to_move_it_out_of_that_loop():
    advice = fixes(sum_in_loop_kernel, 1, ones(40), ones(BLOCK))["warp-mask"]
    line = sum_in_loop_kernel.py_func.__code__.co_firstlineno + 4
    assert advice.startswith(f"move the call out of the loop of line {line},")


@cuda.jit
def row_sums_kernel(x, out):
    row, lane = cuda.grid(1) // 32, cuda.laneid
    if lane < x.shape[1]:
        for k in range(row + 1):
            total = cuda.shfl_xor_sync(0xFFFFFFFF, x[k, lane], 16)
            out[row, lane] = total


def test_advice_for_lanes_masked_off_by_an_if_does_not_name_a_uniform_loop():
    rows = np.ones((1, 7), np.float32)
    advice = fixes(row_sums_kernel, 1, rows, np.empty_like(rows))["warp-mask"]
    line = row_sums_kernel.py_func.__code__.co_firstlineno + 3
    assert advice.startswith(f"move the call out of the `if` of line {line},")


@cuda.jit
def tree_kernel(x):
    tid, half = cuda.threadIdx.x, BLOCK // 2
    while half > 0:
        if tid < half:
            x[tid] += x[tid + half]
        if half >= 32:
            cuda.syncthreads()
        half //= 2


def test_barrier_skipped_by_some_iterations_does_not_count_as_ordering_them():
    advice = fixes(tree_kernel, 1, ones(BLOCK))["warp-race"]
    assert "end the loop's body with `cuda.syncwarp()`" in advice


@cuda.jit
def count_with_read_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, values[i], counts[values[i]] + 1)


@cuda.jit
def count_from_old_kernel(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        old = counts[values[i]]
        cuda.atomic.add(counts, values[i], old + 1)


@cuda.jit
def highest_with_read_kernel(values, highest):
    i = cuda.grid(1)
    cuda.atomic.max(highest, 0, max(highest[0], values[i]))


@cuda.jit
def claim_kernel(slots):
    i = cuda.grid(1)
    free = slots[i % 4]
    cuda.atomic.cas(slots, i % 4, free, i)


def atomic_race(kernel, *arguments):
    return fixes(kernel, 3, *arguments)["atomic-race"]


def test_an_atomic_that_is_passed_the_element_it_adds_to_is_told_to_pass_the_rest():
    advice = atomic_race(count_with_read_kernel, np.zeros(90, np.uint8), np.zeros(4, np.int32))
    assert advice.startswith("pass `cuda.atomic.add` only what is to be added, without `counts[")
    assert "syncthreads" not in advice


def test_an_atomic_that_is_passed_what_the_line_before_read_is_told_to_leave_it_out():
    advice = atomic_race(count_from_old_kernel, np.zeros(90, np.uint8), np.zeros(4, np.int32))
    assert advice.startswith("leave `old`, the value from before, out of the update")


def test_an_atomic_maximum_with_the_element_itself_is_told_that_it_reads_it():
    values, highest = np.arange(3 * BLOCK, dtype=np.int32), np.zeros(1, np.int32)
    advice = atomic_race(highest_with_read_kernel, values, highest)
    assert advice.startswith("do not pass `highest[0]` to `cuda.atomic.max`")


def test_the_value_that_a_compare_and_swap_expects_is_not_to_be_left_out():
    assert "leave `free`" not in atomic_race(claim_kernel, np.zeros(4, np.int32))


WIDE = 2 * BLOCK


@cuda.jit
def wide_tree_kernel(x, total):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(WIDE, np.float32)
    tile[t] = x[t]
    cuda.syncthreads()
    gap = WIDE // 2
    while gap:
        if t + gap < WIDE:
            tile[t] += tile[t + gap]
        cuda.syncthreads()
        gap //= 2
    if t == 0:
        total[0] = tile[0]


def test_advice_for_too_many_threads_of_a_tree_is_to_check_which_threads_write():
    advice = fixes(wide_tree_kernel, 1, ones(WIDE), ones(1), block=WIDE)["shared-race"]
    assert advice.startswith("check which threads write: the barrier in the loop separates its")
    assert "no thread may write an element that another one reads" in advice


@cuda.jit
def every_lane_kernel(x, out):
    row = cuda.grid(1) // 32
    if row < out.size:
        out[row] = x[cuda.grid(1)]


@cuda.jit
def last_lane_kernel(x, out):
    for k in range(3):
        out[k] = x[cuda.threadIdx.x]


def test_advice_for_lanes_that_write_one_element_is_to_let_one_write():
    advice = fixes(every_lane_kernel, 1, np.arange(BLOCK) + 0.5, ones(1))["global-race"]
    assert advice.startswith("let only one of the threads write it")
    assert "loop" not in advice


def test_advice_for_a_write_in_a_loop_mentions_its_iterations():
    advice = fixes(last_lane_kernel, 1, np.arange(BLOCK) + 0.5, ones(3))["global-race"]
    assert advice.endswith("iterations, end the loop's body with `cuda.syncthreads()`")


@cuda.jit
def shifting_kernel(x):
    i = cuda.threadIdx.x
    if i < x.size - 1:
        x[i] = x[i + 1]


def test_advice_for_an_update_in_place_says_who_must_reach_its_barrier():
    found = fixes(shifting_kernel, 1, np.arange(64) + 0.5, block=64)
    assert all("all threads of the block" in f or "all lanes" in f for f in found.values())
