"""The oracle itself: Numba's arithmetic and CUDA's threads.

The tests of semantics in tests/compiler, which have expected results worked out by hand, also test
the oracle and are not repeated here.
"""

import itertools
import operator
from types import SimpleNamespace

import numpy as np
import pytest

from gpukit.compiler import intrinsics
from tests import oracle
from tests.oracle import arithmetic

cuda = SimpleNamespace(**intrinsics.namespace())
FULL = 0xFFFFFFFF
ORDERS = ("forward", "reverse", 1, 2)
DTYPES = [np.dtype(d) for d in ("?", "i1", "i4", "i8", "u1", "u4", "u8", "f4", "f8")]
TYPED = {
    "Add": operator.add,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "BitAnd": operator.and_,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
}


def run(kernel, grid, block, *args, **kwargs):
    """Run in every order, assert that the results are equal, and leave them in the arguments."""
    answers = []
    for order in ORDERS:
        answers.append([a.copy() if isinstance(a, np.ndarray) else a for a in args])
        oracle.launch(kernel, grid, block, *answers[-1], order=order, **kwargs)
    for argument, *found in zip(args, *answers, strict=True):
        for other in found:
            np.testing.assert_array_equal(other, found[0])
        if isinstance(argument, np.ndarray):
            argument[...] = found[0]


# Arithmetic


@pytest.mark.parametrize("op", TYPED)
def test_result_types_are_those_of_numba(op):
    from numba.core.registry import cpu_target
    from numba.np.numpy_support import as_dtype, from_dtype

    context = cpu_target.typing_context
    context.refresh()
    for a, b in itertools.product(DTYPES, DTYPES):
        if op in ("BitAnd", "LShift", "RShift") and "f" in a.kind + b.kind:
            continue
        if op == "Mod" and a.kind == b.kind == "b":
            continue
        types = (from_dtype(a), from_dtype(b))
        numbas = context.resolve_function_type(TYPED[op], types, {}).return_type
        assert arithmetic.result_dtype(op, a, b) == as_dtype(numbas), (op, a, b)


def test_int32_arithmetic_does_not_wrap_until_it_is_stored():
    total = arithmetic.binary("Add", np.int32(2**31 - 1), np.int32(1))
    assert total == 2**31
    assert arithmetic.cast(np.dtype(np.int32), total) == -(2**31)


def test_int64_arithmetic_wraps():
    assert arithmetic.binary("Add", 2**63 - 1, 1) == -(2**63)


def test_float32_and_float64_are_compared_in_float64():
    assert not arithmetic.compare("Eq", np.float32(0.1), 0.1)


# Threads


def race_kernel(out):
    tile = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    tile[t] = t
    out[t] = tile[(t + 1) % cuda.blockDim.x]


def test_a_race_gives_different_results_in_different_orders():
    answers = []
    for order in ORDERS:
        out = np.zeros(8, np.int32)
        oracle.launch(race_kernel, 1, 8, out, order=order)
        answers.append(out.tolist())
    assert answers[0] != answers[1]


def two_barriers_kernel(out):
    if cuda.threadIdx.x < 4:
        cuda.syncthreads()
    else:
        cuda.syncthreads()
    out[cuda.threadIdx.x] = 1


@pytest.mark.parametrize("order", ORDERS)
def test_threads_waiting_at_two_barriers_raise(order):
    with pytest.raises(oracle.BarrierDivergence, match=r"threads \[0, 1, 2, 3\] at syncthreads"):
        oracle.launch(two_barriers_kernel, 1, 8, np.zeros(8), order=order)


def shuffle_or_barrier_kernel(out):
    if cuda.threadIdx.x == 0:
        out[0] = cuda.shfl_sync(FULL, 1, 0)
    else:
        cuda.syncthreads()


def test_a_warp_operation_of_lanes_that_wait_at_a_barrier_raises():
    with pytest.raises(oracle.WarpDivergence, match="shfl_sync"):
        oracle.launch(shuffle_or_barrier_kernel, 1, 8, np.zeros(1))


def outside_mask_kernel(out):
    out[0] = cuda.ballot_sync(1, True)


def test_a_lane_outside_its_own_mask_raises():
    with pytest.raises(oracle.WarpDivergence, match="not all in mask"):
        oracle.launch(outside_mask_kernel, 1, 2, np.zeros(1))


def absent_kernel(out):
    v = cuda.shfl_down_sync(FULL, cuda.threadIdx.x, 1) + 1
    if cuda.threadIdx.x < 3:
        out[cuda.threadIdx.x] = v
    else:
        out[3] = v


def test_storing_a_value_shuffled_from_an_inactive_lane_raises():
    with pytest.raises(oracle.UndefinedValue):
        oracle.launch(absent_kernel, 1, 4, np.zeros(4))


def width_kernel(out):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_sync_intrinsic(FULL, 2, t, 3, (24 << 8) | 31)[0]  # down 3, width 8


def test_a_shuffle_respects_its_width():
    out = np.zeros(32, np.int32)
    run(width_kernel, 1, 32, out)
    t = np.arange(32)
    np.testing.assert_array_equal(out, np.where(t % 8 < 5, t + 3, t))


def dynamic_kernel(out):
    words = cuda.shared.array(0, np.int32)
    halves = cuda.shared.array(0, np.int16)
    if cuda.threadIdx.x == 0:
        words[0] = 0x20001
    cuda.syncthreads()
    out[cuda.threadIdx.x] = halves[cuda.threadIdx.x]


def test_dynamic_shared_arrays_are_views_of_one_buffer():
    out = np.zeros(2, np.int32)
    run(dynamic_kernel, 1, 2, out, shared_bytes=4)
    assert out.tolist() == [1, 2]


def past_the_end_kernel(out):
    out[cuda.threadIdx.x] = 1


def test_an_index_outside_an_array_raises():
    with pytest.raises(oracle.OutOfBounds, match="index 3"):
        oracle.launch(past_the_end_kernel, 1, 4, np.zeros(3))


def grid_kernel(a, out):
    g = cuda.cg.this_grid()
    i = cuda.grid(1)
    a[i] = i + 1
    g.sync()
    out[i] = a[a.size - 1 - i]


def test_grid_sync_synchronizes_the_blocks():
    a, out = np.zeros(12, np.int32), np.zeros(12, np.int32)
    run(grid_kernel, 3, 4, a, out)
    np.testing.assert_array_equal(out, np.arange(12, 0, -1))


def masks_kernel(out):
    t = cuda.threadIdx.x
    if t % 3 == 0:
        out[t] = cuda.activemask()
    else:
        out[t] = cuda.activemask()


def test_activemask_has_the_lanes_at_the_same_call():
    out = np.zeros(6, np.uint32)
    run(masks_kernel, 1, 6, out)
    assert out.tolist() == [0b001001, 0b110110, 0b110110, 0b001001, 0b110110, 0b110110]


def wrap_kernel(out):
    cuda.atomic.inc(out, 0, 2)
    cuda.atomic.dec(out, 1, 2)


def test_atomic_inc_and_dec_wrap_at_their_limit():
    out = np.zeros(2, np.uint32)
    run(wrap_kernel, 1, 4, out)
    assert out.tolist() == [1, 2]


def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


def recursion_kernel(out):
    out[cuda.threadIdx.x] = factorial(cuda.threadIdx.x)


def test_device_functions_may_be_recursive():
    out = np.zeros(6, np.int64)
    run(recursion_kernel, 1, 6, out)
    assert out.tolist() == [1, 1, 2, 6, 24, 120]


def add_neighbour(value, more):
    return value + cuda.shfl_xor_sync(FULL, value, 1) + more


def call(function, kind, value):
    return function(value, kind(1))


def function_argument_kernel(out):
    i = cuda.threadIdx.x
    out[i] = call(add_neighbour, out.dtype.type, out[i])


def test_device_functions_may_be_passed_as_arguments():
    out = np.arange(32, dtype=np.float32)
    run(function_argument_kernel, 1, 32, out)
    assert out.tolist() == [i + (i ^ 1) + 1 for i in range(32)]
