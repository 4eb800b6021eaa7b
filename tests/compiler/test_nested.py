"""Functions defined inside kernels: what they capture and where they may be used."""

import numpy as np
import pytest
from numba.extending import overload

from gpukit import cuda, target

own_compiler = pytest.mark.skipif(
    target.wanted() == "cuda", reason="gpukit's compiler supports more and has its own messages"
)
OFFSET = 100


def poisoned(shape, dtype=np.float64):
    return np.full(shape, np.nan, dtype)


# Captures


@cuda.jit
def index_function_kernel(a, out, width):
    col, row = cuda.grid(2)

    def at(r, c):
        return r * width + c

    if row < 3 and col < width:
        out[at(row, col)] = 2 * a[at(row, col)]
        out[at(row, col)] += at(0, col)


def test_a_nested_function_captures_the_kernels_arguments():
    a, out = np.arange(15.0), poisoned(15)
    index_function_kernel[(2, 2), (4, 2)](a, out, 5)
    np.testing.assert_array_equal(out, 2 * a + np.tile(np.arange(5), 3))


@cuda.jit
def thread_value_kernel(out):
    def twice_thread_index():
        return 2 * cuda.threadIdx.x + OFFSET

    out[cuda.threadIdx.x] = twice_thread_index()


def test_a_nested_function_reads_thread_indices_and_globals():
    out = poisoned(7)
    thread_value_kernel[1, 7](out)
    np.testing.assert_array_equal(out, 2 * np.arange(7) + 100)


@cuda.jit
def early_returns_kernel(a, out):
    def clipped(v, low=0.0, high=1.0):
        if v < low:
            return low
        if v > high:
            return high
        return v

    i = cuda.grid(1)
    if i < a.size:
        out[i, 0] = clipped(a[i])
        out[i, 1] = clipped(a[i], -1.0, 2.0)


def test_a_nested_function_may_have_defaults_and_early_returns():
    a = np.array([-3.0, -0.5, 0.25, 1.5, 9.0])
    out = poisoned((5, 2))
    early_returns_kernel[1, 8](a, out)
    np.testing.assert_array_equal(out.T, [a.clip(0, 1), a.clip(-1, 2)])


@cuda.jit
def lambda_kernel(a, out):
    scale = np.float32(3)
    thrice = lambda v: v * scale
    i = cuda.grid(1)
    if i < a.size:
        out[i] = thrice(a[i]) + (lambda v, w: v - w)(a[i], np.float32(1))


def test_a_kernel_may_define_and_call_lambdas():
    a, out = np.arange(5, dtype=np.float32), poisoned(5, np.float32)
    lambda_kernel[1, 5](a, out)
    np.testing.assert_array_equal(out, 4 * a - 1)


@cuda.jit
def own_names_kernel(a, out):
    v = 5.0

    def squared(v):
        w = v * v
        return w

    w = squared(3.0)
    out[0] = v
    out[1] = w
    out[2] = squared(a[0]) + squared(squared(2.0))


def test_parameters_and_variables_of_a_nested_function_are_local():
    out = poisoned(3)
    own_names_kernel[1, 1](np.array([1.5]), out)
    assert out.tolist() == [5.0, 9.0, 2.25 + 16.0]


@cuda.jit
def functions_in_functions_kernel(out):
    base = 7

    def outer(x):
        def inner(y):
            return 10 * x + y + base

        return inner(1) + inner(2)

    out[0] = outer(1)
    out[1] = outer(2) + outer(3)


def test_functions_nested_in_functions_keep_their_variables_separate():
    out = poisoned(2)
    functions_in_functions_kernel[1, 1](out)
    assert out.tolist() == [37.0, 57.0 + 77.0]


@cuda.jit
def in_a_loop_kernel(out):
    total = 0
    for k in range(5):

        def weighted(x):
            return k * x  # noqa: B023  (called in the same iteration)

        total += weighted(2)
    out[0] = total


def test_a_function_defined_in_a_loop_captures_the_loop_variable():
    out = poisoned(1)
    in_a_loop_kernel[1, 1](out)
    assert out[0] == 2 * (0 + 1 + 2 + 3 + 4)


@cuda.jit
def in_branches_kernel(a, out):
    i = cuda.threadIdx.x
    if a[i] < 0:

        def f(x):
            return -x

        out[i] = f(a[i])
    else:

        def f(x):
            return 10 * x

        out[i] = f(a[i])


def test_branches_may_define_different_functions_of_the_same_name():
    out = poisoned(4)
    in_branches_kernel[1, 4](np.array([-1.0, 2.0, -3.0, 4.0]), out)
    assert out.tolist() == [1.0, 20.0, 3.0, 40.0]


@cuda.jit
def conditions_kernel(a, out):
    def small(x):
        return x < 3

    i = cuda.threadIdx.x
    n = 0
    while small(n) and not (i == 2 and n == 1):
        n += 1
    out[i] = n if small(a[i]) else -n


def test_nested_functions_may_be_called_in_conditions():
    out = poisoned(4)
    conditions_kernel[1, 4](np.array([1, 5, 2, 7]), out)
    assert out.tolist() == [3.0, -3.0, 1.0, -3.0]


@cuda.jit
def one_expression_kernel(a, counter, out):
    i = cuda.threadIdx.x
    twice = lambda v: v + v
    out[i, 0] = twice(cuda.atomic.add(counter, 0, 1))
    out[i, 1] = twice(twice(a[i]) + i)
    out[i, 2] = (lambda v, w: w - v)(i, 10)
    out[i, 3] = twice(i) if twice(i) > 3 and i < 3 else twice(-i)


def test_arguments_of_a_one_expression_function_are_evaluated_once():
    a, counter, out = np.array([3.0, 1.0, 4.0, 1.0]), np.zeros(1, np.int64), poisoned((4, 4))
    one_expression_kernel[1, 4](a, counter, out)
    i = np.arange(4)
    assert counter[0] == 4
    assert sorted(out[:, 0]) == [0, 2, 4, 6]
    np.testing.assert_array_equal(out[:, 1], 4 * a + 2 * i)
    np.testing.assert_array_equal(out[:, 2], 10 - i)
    np.testing.assert_array_equal(out[:, 3], [0, -2, 4, -6])


# Synchronization


@cuda.jit
def barrier_in_function_kernel(a, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x

    def exchanged(x, j):
        tile[t] = x
        cuda.syncthreads()
        y = tile[j]
        cuda.syncthreads()
        return y

    back = exchanged(a[t], 63 - t)
    out[t] = back + exchanged(10 * back, (t + 1) % 64)


def test_a_nested_function_may_contain_barriers():
    a, out = np.random.default_rng(1).random(64), poisoned(64)
    barrier_in_function_kernel[1, 64](a, out)
    np.testing.assert_array_equal(out, a[::-1] + np.roll(10 * a[::-1], -1))


@cuda.jit
def shuffle_in_function_kernel(a, out):
    def summed(v):
        for d in (16, 8, 4, 2, 1):
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
        return v

    t = cuda.threadIdx.x
    total = summed(a[t])
    if t % 32 == 0:
        out[t // 32] = total


def test_a_nested_function_may_shuffle():
    a, out = np.arange(96), poisoned(3)
    shuffle_in_function_kernel[1, 96](a, out)
    np.testing.assert_array_equal(out, a.reshape(3, 32).sum(axis=1))


@cuda.jit
def index_by_shuffle_kernel(a, out):
    t = cuda.threadIdx.x
    out[cuda.shfl_xor_sync(0xFFFFFFFF, t, 1)] = a[t]
    out[cuda.shfl_xor_sync(0xFFFFFFFF, t, 1)] += 100 * t


def test_a_shuffle_may_be_the_index_of_an_assignment_target():
    a, out = np.arange(32.0) + 1, poisoned(32)
    index_by_shuffle_kernel[1, 32](a, out)
    swapped = np.arange(32) ^ 1
    np.testing.assert_array_equal(out, a[swapped] + 100 * swapped)


# Functions as arguments


@cuda.jit(device=True)
def call(func, *args):
    return func(*args)


@cuda.jit(device=True)
def square(x):
    return x * x


@cuda.jit(device=True)
def counted(*args):
    if len(args) == 1:
        return args[0]
    return args[0] + 10 * args[1]


@cuda.jit
def function_arguments_kernel(a, out):
    offset = 3
    out[0] = call(lambda x, y: x - y + offset, a[0], a[1])
    out[1] = call(square, a[2])
    out[2] = counted(a[0]) + counted(a[1], a[2] + 1)
    out[3] = call(lambda f, x: f(f(x)), square, a[2])


@pytest.mark.slow
def test_functions_are_passed_to_device_functions_with_star_arguments():
    a, out = np.array([2.0, 5.0, 3.0]), poisoned(4)
    function_arguments_kernel[1, 1](a, out)
    assert out.tolist() == [2 - 5 + 3, 9.0, 2 + 5 + 10 * 4, 81.0]


@cuda.jit(device=True)
def call_three_times(func, x):
    return func(x) + func(x, high=2.0) + func(low=-1.0, v=x)


@cuda.jit
def keywords_kernel(a, out):
    def clipped(v, low=0.0, high=1.0):
        return min(max(v, low), high)

    i = cuda.threadIdx.x
    out[i] = call_three_times(clipped, a[i])


def test_a_function_passed_as_an_argument_accepts_keywords_and_defaults():
    a, out = np.array([-3.0, -0.5, 0.25, 1.5, 9.0]), poisoned(5)
    keywords_kernel[1, 5](a, out)
    np.testing.assert_array_equal(out, a.clip(0, 1) + a.clip(0, 2) + a.clip(-1, 1))


@cuda.jit(device=True)
def device_with_inner(x):
    def inner(y):
        return y + cuda.threadIdx.x

    return inner(x) * inner(1)


@cuda.jit
def calls_device_with_inner_kernel(out):
    i = cuda.threadIdx.x
    out[i] = device_with_inner(i)


def test_device_functions_may_define_nested_functions():
    out = poisoned(5)
    calls_device_with_inner_kernel[1, 5](out)
    i = np.arange(5)
    np.testing.assert_array_equal(out, 2 * i * (i + 1))


def reduced(f, a, b):
    raise NotImplementedError


@overload(reduced)
def _reduced(f, a, b):
    return lambda f, a, b: f(f(a, b), b)


@own_compiler
def test_functions_passed_to_overloads_carry_their_captured_constants():
    @cuda.jit
    def kernel(a, out):
        weight = 4
        out[0] = reduced(lambda x, y: weight * x + y, a[0], a[1])

    out = poisoned(1)
    kernel[1, 1](np.array([2.0, 5.0]), out)
    assert out[0] == 4 * (4 * 2 + 5) + 5
