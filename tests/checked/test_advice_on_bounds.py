"""Advice on out-of-bounds indices, in the names of the kernel."""

import numpy as np
import pytest

import gpukit
from gpukit import cuda
from tests.checked.advised import fixes
from tests.checked.plain_kernels import BLOCK, copy_unguarded_kernel, ones

HALF = BLOCK // 2


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
def either_kernel(x, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] or col < out.shape[1]:
        out[row, col] = x[row, col]


@cuda.jit
def both_kernel(x, out):
    col, row = cuda.grid(2)
    if row >= out.shape[0] and col >= out.shape[1]:
        return
    out[row, col] = x[row, col]


@cuda.jit
def mirror_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[-i]


@cuda.jit
def lax_kernel(x, out):
    i = cuda.grid(1)
    if i >= out.size + 1:
        return
    if i <= x.size:
        out[i] = x[i]


@cuda.jit
def gather_kernel(x, step, out):
    i = cuda.grid(1)
    if i < out.size:
        place = i * step
        out[i] = x[place + 1]


@cuda.jit
def factor_kernel(x, factor, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] * factor[row]


@cuda.jit
def walk_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        for k in range(out.size + 1):
            out[i] += x[k]


@cuda.jit
def parts_kernel(sums, c):
    i = cuda.grid(1)
    c[i] = sums[i]


@cuda.jit
def half_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        right = i + 1
        out[i] = x[right] if right >= 0 else 0


@cuda.jit
def free_kernel(x, out):
    i = cuda.grid(1)
    out[0] = x[i + 1]


@cuda.jit
def other_kernel(x, counts):
    i = cuda.grid(1)
    if i < counts.size:
        counts[i] = x[i]


@cuda.jit
def beside_kernel(x, out):
    out[0] = x[2 * cuda.grid(1)]


@cuda.jit
def pairs_kernel(x, out):
    first = 2 * cuda.grid(1)
    if first < x.shape[0]:
        out[first] = x[first]
        out[first + 1] = x[first + 1]


@cuda.jit
def swap_kernel(a, out):
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        out[row, col] = a[col, row]


@cuda.jit
def unfold_kernel(a, total):
    rows, columns = a.shape
    for k in range(cuda.grid(1), rows * columns, BLOCK):
        row, col = k // rows, k % rows
        cuda.atomic.add(total, 0, a[row, col])


@cuda.jit
def compact_kernel(ends, out):
    i = cuda.grid(1)
    if i < ends.size:
        out[ends[i]] = i


@cuda.jit
def fold_kernel(x, out):
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    if tid < HALF:
        out[tid] = tile[tid] + tile[BLOCK - tid]


@cuda.jit
def flat_kernel(x, out):
    column, row = cuda.grid(2)
    if row * out.shape[1] + column < out.size:
        out[row, column] = x[row]


def test_advice_for_a_bound_of_the_flat_index_is_to_guard_the_index_itself():
    x, out = ones(2), np.zeros((2, 1), np.float32)
    advice = fixes(flat_kernel, (1, 1), x, out, block=(4, 2))["out-of-bounds"]
    line = flat_kernel.py_func.__code__.co_firstlineno + 3
    assert advice.startswith("guard the access with `if column < out.shape[1]:` as well: ")
    assert f"in line {line} bounds a value computed from `column` and others" in advice


def test_advice_for_a_shared_array_that_is_too_small_is_to_enlarge_it():
    advice = fixes(reverse_kernel, 1, ones(BLOCK), ones(BLOCK))["out-of-bounds"]
    assert advice.startswith("make tile larger")


def outside(kernel, *arguments, block=BLOCK):
    return fixes(kernel, 1, *arguments, block=block)["out-of-bounds"]


def test_advice_for_a_thread_past_the_end_is_a_guard():
    advice = outside(copy_unguarded_kernel, ones(BLOCK - 1), ones(BLOCK))
    assert advice.startswith("guard the access with `if i < x.shape[0]:`; a grid often has more")


def test_advice_for_a_guard_of_only_the_first_element_is_to_guard_the_others():
    advice = outside(pairs_kernel, ones(5), ones(6))
    assert advice.startswith("guard `first + 1` (it is 5 here, one past the last index) as well")
    assert "`first < x.shape[0]` in line " in advice


def test_advice_for_an_index_bounded_along_another_axis_is_to_fix_the_index():
    advice = outside(swap_kernel, ones(3, 5), ones(3, 5), block=(8, 4))
    assert advice.startswith(
        "check which axis `col` runs along, and from which axis its bound is taken: "
    )


def test_advice_for_an_index_computed_by_a_division_names_the_division():
    advice = outside(unfold_kernel, ones(3, 7), ones(1))
    assert advice.startswith("check `row = k // rows` in line ")
    assert "another guard around the access would hide the mistake" in advice


def test_advice_for_an_index_read_from_an_array_is_not_a_thread_guard():
    advice = outside(compact_kernel, np.arange(1, 6), ones(5))
    assert advice.startswith("fix the index `ends[i]` (it is 5 here, one past the last index)")
    assert advice.endswith("a count is one more than the last index")


def test_advice_for_a_mirrored_index_is_not_to_enlarge_the_shared_array():
    advice = fixes(fold_kernel, 1, ones(BLOCK), ones(BLOCK))["out-of-bounds"]
    assert advice.startswith("fix how `BLOCK - tid` is computed (it is 32 here, one past")


def test_advice_names_an_off_by_one_guard():
    advice = outside(lax_kernel, ones(BLOCK - 1), ones(BLOCK))
    assert advice.startswith("guard the access with `if i < x.shape[0]:`: `i <= x.size` in line ")
    assert advice.endswith(f"lets {BLOCK - 1} through")


def test_advice_for_a_computed_index_inside_a_guard_is_to_fix_its_computation():
    advice = outside(gather_kernel, ones(BLOCK), 2, ones(BLOCK))
    assert advice.startswith("check `i < out.size` in line ")
    assert f"how `place + 1` is computed (it is {BLOCK + 1} here" in advice
    assert "another guard around the access would hide the mistake" in advice


def test_advice_for_an_index_guarded_by_another_size_is_to_fix_the_index():
    advice = outside(factor_kernel, ones(2, 5), ones(1), ones(2, 5), block=(8, 4))
    assert advice.startswith("fix the index if another variable belongs to this axis")
    assert "`row < out.shape[0]` in line" in advice


def test_advice_for_or_in_a_guard_is_and():
    advice = outside(either_kernel, ones(1, 5), ones(1, 5))
    assert advice.startswith("replace `or` with `and` in line ")


def test_advice_for_and_before_an_early_return_is_or():
    advice = outside(both_kernel, ones(1, 5), ones(1, 5))
    assert advice.startswith("replace `and` with `or` in line ")


def test_advice_for_a_negated_index_is_a_mirrored_index():
    advice = fixes(mirror_kernel, 1, ones(4), ones(4), block=4)["negative-index"]
    assert advice.startswith("write `x.shape[0] - 1 - i` to count from the end")


def test_advice_for_a_loop_index_that_runs_too_far_names_the_loop():
    assert outside(walk_kernel, ones(9), ones(9)).startswith("end the loop in line ")


def test_advice_for_an_index_bounded_only_from_below_adds_the_upper_bound():
    advice = outside(half_kernel, ones(BLOCK), ones(BLOCK))
    assert advice.startswith("guard the access with `if right < x.shape[0]:` as well: `right >= 0`")


def test_advice_names_a_thread_index_without_a_bound():
    advice = outside(free_kernel, ones(BLOCK), ones(1))
    assert advice.startswith("guard the access: nothing bounds `i`")


def test_advice_for_a_one_dimensional_launch_names_a_guard_by_another_array():
    advice = outside(other_kernel, ones(BLOCK - 1), ones(BLOCK))
    assert advice.startswith("guard the access with `if i < x.shape[0]:`: `i < counts.size` in")


def test_advised_guard_uses_the_smallest_array_that_the_index_accesses():
    report = gpukit.check(parts_kernel)[1, BLOCK](ones(4 * 5), ones(5))
    advice = [f.fix for f in report.findings if f.kind == "out-of-bounds"]
    assert len(advice) == 2
    assert all(fix.startswith("guard the access with `if i < c.shape[0]:`") for fix in advice)


def test_advice_for_an_unguarded_computed_index_is_to_fix_it_first():
    advice = outside(beside_kernel, ones(BLOCK), ones(1))
    assert advice.startswith("fix how `2 * cuda.grid(1)` is computed")
    assert "only if elements outside are to be skipped" in advice


def test_advice_for_index_minus_one_is_the_size_minus_one():
    advice = fixes(last_column_kernel, 1, ones(7, 3), ones(7))["negative-index"]
    assert advice.startswith("write `table.shape[1] - 1`")


@cuda.jit
def merged_guard_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size and x[0] > 0:
        out[i] = 1
    else:
        out[i] = 0


@cuda.jit
def turned_round_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        return
    out[i] = x[i]


@cuda.jit
def not_both_kernel(x, out):
    i = cuda.grid(1)
    if not (0 <= i < x.size and x[0] > 0):
        out[i] = 0


@cuda.jit
def not_beyond_kernel(x, out):
    i = cuda.grid(1)
    if not i > x.size:
        out[i] = x[i]


@cuda.jit
def otherwise_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size and x[0] > 0:
        out[i] = 1
    elif x[0] > -1:
        out[i] = 0


@pytest.mark.parametrize("kernel", [merged_guard_kernel, not_both_kernel, otherwise_kernel])
def test_a_bound_that_is_one_of_several_conditions_bounds_nothing_where_not_all_hold(kernel):
    advice = outside(kernel, ones(BLOCK - 1), ones(BLOCK - 1))
    assert advice.startswith("nest the conditions of line ")
    assert "from below only" not in advice
    assert advice.endswith("runs where not all of them hold, and so also in the threads outside")


def test_an_access_where_its_guard_does_not_hold_is_to_be_moved_or_taken_out():
    advice = outside(turned_round_kernel, ones(BLOCK - 1), ones(BLOCK - 1))
    assert advice.startswith("take the access out, or put it where `i < x.size` in line ")


def test_a_negated_condition_that_lets_one_too_many_pass_is_named():
    advice = outside(not_beyond_kernel, ones(BLOCK - 1), ones(BLOCK - 1))
    assert "`i > x.size` in line " in advice
    assert advice.endswith(f"lets {BLOCK - 1} through")


@cuda.jit
def clamp_kernel(x, out):
    i = min(cuda.grid(1), x.size - 1)
    out[i] = x[i]


def test_advice_for_an_empty_array_is_to_let_no_thread_in():
    advice = fixes(clamp_kernel, 1, ones(0), ones(0))["out-of-bounds"]
    assert advice.startswith("let no thread reach the access where x has no elements")
