"""Semantics of branches, device functions and strided loops, as in `test_semantics.py`."""

import numpy as np
import pytest

from gpukit import cuda, errors, target
from tests.compiler.agreement import run_both

FULL = 0xFFFFFFFF


def ints(n, start=-77):
    return np.full(n, start, np.int64)


# Branches


@cuda.jit
def nested_masks_kernel(a, out):
    t = cuda.threadIdx.x
    m = cuda.ballot_sync(FULL, a[t] > 2)
    got = 0
    if a[t] > 2:
        inner = cuda.ballot_sync(m, a[t] > 5)
        got = 1
        if a[t] > 5:
            got = 10 + cuda.popc(cuda.ballot_sync(inner, True))
        else:
            got += 100
        got += cuda.popc(cuda.ballot_sync(m, True)) * 1000
    cuda.syncthreads()
    out[t] = got


@pytest.mark.slow
def test_nested_branches_diverge_and_reconverge_lane_by_lane():
    _, out = run_both(nested_masks_kernel, 1, 8, np.arange(8), ints(8))
    assert out.tolist() == [0, 0, 0, 5101, 5101, 5101, 5012, 5012]


@cuda.jit
def uniform_branch_kernel(flag, out):
    t = cuda.threadIdx.x
    got = 0
    if flag[cuda.blockIdx.x] > 0:
        got = cuda.syncthreads_count(1 if t > 0 else 0)
    elif flag[cuda.blockIdx.x] < 0:
        got = -cuda.syncthreads_count(1 if t > 1 else 0)
    out[cuda.grid(1)] = got


def test_a_barrier_is_allowed_in_a_block_uniform_branch():
    _, out = run_both(uniform_branch_kernel, 3, 4, np.array([5, 0, -5]), ints(12))
    assert out.reshape(3, 4)[:, 3].tolist() == [3, 0, -2]


@cuda.jit
def short_circuit_kernel(a, out):
    t = cuda.threadIdx.x
    hit = t < a.size and a[t] > 0
    n = cuda.syncthreads_count(1 if hit else 0)
    if n > 2 and cuda.syncthreads_or(1 if t == 0 else 0):
        out[t] = n
    else:
        out[t] = -n


def test_and_evaluates_its_right_side_only_where_the_left_holds():
    _, out = run_both(short_circuit_kernel, 1, 4, np.array([1, 1, 0]), ints(4))
    assert out.tolist() == [-2] * 4


@cuda.jit
def choice_kernel(a, out):
    t = cuda.threadIdx.x
    out[t] = a[t] if t < a.size else cuda.blockDim.x * 10


def test_a_conditional_expression_evaluates_only_one_side():
    _, out = run_both(choice_kernel, 1, 4, np.array([7, 8]), ints(4))
    assert out.tolist() == [7, 8, 40, 40]


# Device functions


@cuda.jit(device=True)
def block_sum(tile, value):
    t = cuda.threadIdx.x
    tile[t] = value
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if t < step:
            tile[t] += tile[t + step]
        cuda.syncthreads()
        step //= 2
    total = tile[0]
    cuda.syncthreads()
    return total


@cuda.jit
def two_sums_kernel(a, out):
    tile = cuda.shared.array(8, np.int64)
    i = cuda.grid(1)
    out[i] = block_sum(tile, a[i]) * 1000 + block_sum(tile, a[i] * a[i])


def test_a_device_function_with_barriers_may_be_called_twice_in_one_expression():
    a = np.arange(16)
    _, out = run_both(two_sums_kernel, 2, 8, a, ints(16))
    sums = a.reshape(2, 8)
    wanted = sums.sum(axis=1) * 1000 + (sums**2).sum(axis=1)
    np.testing.assert_array_equal(out, np.repeat(wanted, 8))


@cuda.jit(device=True)
def collatz_steps(n):
    steps = 0
    while True:
        if n == 1:
            return steps
        if n % 2 == 0:
            n //= 2
            steps += 1
            continue
        n = 3 * n + 1
        steps += 1


@cuda.jit
def collatz_kernel(out):
    t = cuda.threadIdx.x
    steps = collatz_steps(t + 1)
    cuda.syncthreads()
    out[t] = steps


def test_a_device_function_may_return_from_an_endless_loop():
    (out,) = run_both(collatz_kernel, 1, 7, ints(7))
    assert out.tolist() == [0, 1, 7, 2, 5, 8, 16]


@cuda.jit(device=True)
def after_barrier(value):
    count = cuda.syncthreads_count(1 if value > 2 else 0)
    if value > 2:
        return count
    return -value


@cuda.jit
def returns_differ_kernel(out):
    t = cuda.threadIdx.x
    got = after_barrier(t)
    cuda.syncthreads()
    out[t] = got


def test_a_device_function_may_return_at_two_points_after_a_barrier():
    (out,) = run_both(returns_differ_kernel, 1, 5, ints(5))
    assert out.tolist() == [0, -1, -2, 2, 2]


# Strided loops


@cuda.jit
def stride_for_kernel(a, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] + 1


@cuda.jit
def stride_while_kernel(a, out):
    i = cuda.grid(1)
    while i < a.size:
        out[i] = a[i] + 1
        i += cuda.gridsize(1)


@cuda.jit
def stride_down_kernel(a, out):
    for i in range(a.size - 1 - cuda.grid(1), -1, -cuda.gridsize(1)):
        out[i] = a[i] + 1


STRIDED = (stride_for_kernel, stride_while_kernel, stride_down_kernel)


@pytest.mark.parametrize("kernel", STRIDED, ids=("for", "while", "down"))
@pytest.mark.parametrize("size", [0, 1, 11, 12, 13, 50])
@pytest.mark.costly
def test_grid_stride_loop_visits_every_element_once(kernel, size):
    a = np.arange(size)
    _, out = run_both(kernel, 3, 4, a, ints(size))
    np.testing.assert_array_equal(out, a + 1)


@cuda.jit
def read_after_kernel(a, out):
    i = cuda.threadIdx.x
    while i < a.size:
        i += cuda.blockDim.x
    out[cuda.threadIdx.x] = i


@cuda.jit
def decremented_bound_kernel(a, out):
    i = 0
    while i < a[0]:
        a[0] -= 1
        out[0] = i
        i += 1


@cuda.jit
def decremented_shared_bound_kernel(a, out):
    bound = cuda.shared.array(1, np.int64)
    bound[0] = a[0]
    i = 0
    while i < bound[0]:
        bound[0] -= 1
        out[0] += 1
        i += 1


@pytest.mark.parametrize(
    "kernel", [read_after_kernel, decremented_bound_kernel, decremented_shared_bound_kernel]
)
@pytest.mark.costly
def test_a_while_loop_that_resembles_a_stride_ends_as_in_python(kernel):
    block = 4 if kernel is read_after_kernel else 1
    run_both(kernel, 1, block, np.full(10, 10), ints(4))


# Names and order of evaluation


@cuda.jit
def ping_pong_kernel(a, out):
    t = cuda.threadIdx.x
    first = cuda.shared.array(8, np.int64)
    second = cuda.shared.array(8, np.int64)
    source, target = first, second
    source[t] = a[t]
    cuda.syncthreads()
    for k in range(2 + cuda.blockIdx.x):
        target[t] = source[(t + 1) % 8] + 10
        cuda.syncthreads()
        source, target = target, source
    out[cuda.grid(1)] = source[t]


def test_two_shared_arrays_may_be_swapped_in_every_iteration():
    _, out = run_both(ping_pong_kernel, 2, 8, np.arange(8), ints(16))
    rounds = np.array([[2], [3]])
    np.testing.assert_array_equal(out.reshape(2, 8), (np.arange(8) + rounds) % 8 + 10 * rounds)


@cuda.jit
def compiler_names_kernel(out):
    thread = cuda.threadIdx.x
    mask = cuda.ballot_sync(FULL, thread > 2)
    threads, row_start, threadIdx_x, blockDim_x, kept_of = 1, 2, 3, 4, 5
    _block, _context, _args, _scratch, first_thread = 6, 7, 8, 9, 10
    kept = thread
    if thread > 2:
        alive = cuda.shfl_sync(mask, thread, 3)
    else:
        alive = 0
    cuda.syncthreads()
    out[thread] = kept * 1000 + alive * 100 + threads + row_start + threadIdx_x + blockDim_x
    out[thread] += kept_of + _block + _context + _args + _scratch + first_thread


def test_a_kernel_may_use_names_of_the_generated_code():
    (out,) = run_both(compiler_names_kernel, 1, 5, ints(5))
    assert out.tolist() == [55, 1055, 2055, 3355, 4355]


@cuda.jit
def changed_bound_kernel(n, out):
    seen = 0
    for k in range(n):
        n -= 1
        k += 100
        seen += k * cuda.syncthreads_count(1)
    out[cuda.threadIdx.x] = seen * 10 + n


def test_changing_the_bound_or_variable_of_a_range_loop_does_not_change_its_trip_count():
    (_, out) = run_both(changed_bound_kernel, 1, 2, 3, ints(2))
    assert out.tolist() == [2 * (100 + 101 + 102) * 10 + 0] * 2


@cuda.jit
def divergent_argument_kernel(n, out):
    t = cuda.threadIdx.x
    if t > 1:
        n = t * 10
    cuda.syncthreads()
    out[t] = n


def test_an_argument_reassigned_by_some_threads_changes_only_for_them():
    (_, out) = run_both(divergent_argument_kernel, 1, 4, 5, ints(4))
    assert out.tolist() == [5, 5, 20, 30]


@cuda.jit
def one_expression_kernel(out):
    t = cuda.threadIdx.x
    own = cuda.shared.array(4, np.int64)
    own[t] = t
    out[t] = own[t] * 1000 + cuda.atomic.add(own, t, 5) * 100 + cuda.syncthreads_count(1) + own[t]
    own[t] += cuda.syncthreads_count(1 if t > 0 else 0)
    out[t] += own[t] * 10000


def test_parts_of_an_expression_with_a_barrier_are_evaluated_from_left_to_right():
    (out,) = run_both(one_expression_kernel, 1, 4, ints(4))
    assert out.tolist() == [(t + 8) * 10000 + t * 1100 + 4 + t + 5 for t in range(4)]


@cuda.jit(device=True)
def weigh(a, b, c):
    cuda.syncthreads()
    return a + 10 * b + 100 * c


@cuda.jit(device=True)
def weigh_pair(pair, a):
    return weigh(a, *pair)


@cuda.jit
def weigh_kernel(triple, out):
    i = cuda.threadIdx.x
    out[i] = weigh(*triple) + weigh_pair((i, 2), 3)


def test_a_device_function_that_synchronizes_accepts_an_unpacked_tuple():
    out = np.full(5, np.nan)
    weigh_kernel[1, 5]((1, 2.5, 3), out)
    np.testing.assert_array_equal(out, 326 + 203 + 10 * np.arange(5))


@pytest.mark.skipif(target.wanted() == "cuda", reason="these are messages of gpukit's compiler")
@pytest.mark.parametrize("values", [(1, 2), (1, 2, 3, 4)])
def test_unpacking_a_tuple_of_the_wrong_length_is_refused(values):
    with pytest.raises(errors.CompileError, match="wrong tuple length"):
        weigh_kernel[1, 5](values, np.full(5, np.nan))
