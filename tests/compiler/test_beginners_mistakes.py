"""Beginners' mistakes: each error message says what is wrong and what to write instead."""

import random
import statistics
import time
from types import SimpleNamespace

import numpy as np
import pytest

from gpukit import cuda, errors, target
from tests.compiler import texts

pytestmark = pytest.mark.skipif(
    target.wanted() == "cuda", reason="these are the messages of gpukit's own compiler"
)


def square(x):
    return x * x


@cuda.jit(device=True)
def twice(x):
    return 2 * x


@cuda.jit(device=True)
def nothing(x):
    x * 2


@cuda.jit(device=True)
def calls_square(x):
    return square(x)


@cuda.jit
def other_kernel(a):
    a[0] = 1


NAMES = {
    "square": square,
    "lesser": lambda x: x - 1,
    "twice": twice,
    "nothing": nothing,
    "calls_square": calls_square,
    "other_kernel": other_kernel,
    "random": random,
    "time": time,
    "board": np.zeros(4),
    "numbers": [1, 2, 3],
    "table": {1: 2},
    "thing": SimpleNamespace(x=1),
    "helper": np.poly1d,
    "expovariate": random.expovariate,
    "mean": statistics.mean,
}
DEVICE = "@cuda.jit(device=True)"

# Body of the kernel, parts of the message.
MISTAKES = {
    # what a kernel cannot call or use
    "a[0] = square(a[1])": ("square is a plain Python function", f"put {DEVICE} above def square"),
    "a[0] = lesser(a[1])": ("lesser is a plain", "write it with def"),
    "a[0] = mean(a)": ("mean", "of statistics", DEVICE),
    "a[0] = time.time()": ("time.time is a builtin function", "on the host"),
    "open('x')": ("open is a builtin function", "on the host"),
    "other_kernel[1, 1](a)": ("other_kernel is a kernel", "from the host"),
    "a[0] = table[1]": ("table is of the Python type dict", "NumPy array"),
    "a[0] = random.random()": ("random.random", "xoroshiro128p"),
    "a[0] = np.random.rand()": ("np.random.rand", "xoroshiro128p"),
    "a[0] = expovariate(1.0)": ("expovariate", "xoroshiro128p"),
    "i = 0\na[0] = twice(a[i], 3)": ("twice(x)", "too many"),
    "i = 0\na[0] = twice()": ("twice(x)", "missing", "'x'"),
    "a[0] = nothing(a[1])": ("nothing returns nothing", "add a return"),
    "i = 1\na[0] = a(i)": ("a is an array", "write a[i]"),
    "if a[0] < a.size():  # here\n    a[0] = 1": ("a.size is a value", "parentheses: a.size"),
    "i = cuda.threadIdx.x()": ("cuda.threadIdx.x cannot be called", "remove the parentheses"),
    # scalars and tuples
    "i = cuda.threadIdx + 1": ("cuda.threadIdx is (x, y, z)", "cuda.threadIdx.x"),
    "i = cuda.threadIdx + cuda.blockIdx * cuda.blockDim": ("is (x, y, z)",),
    "a[cuda.threadIdx] = 1": (
        "cuda.threadIdx is (x, y, z)",
        "What to do: name an axis: cuda.threadIdx.x",
    ),
    "i = cuda.threadIdx[0]": ("cannot be indexed", "cuda.threadIdx.x"),
    "cuda.threadIdx.x = 3": ("cannot set cuda.threadIdx.x",),
    "i = threadIdx.x": ("'threadIdx'", "write cuda.threadIdx"),
    "i = cuda.grid(2)\nif i < a.size:  # here\n    a[0] = 1": (
        "i is cuda.grid(2), the tuple (x, y)",
        "write x, y = cuda.grid(2), or cuda.grid(1)",
    ),
    "i = cuda.grid(2)\na[i] = 1": ("i is cuda.grid(2)",),
    "i = cuda.grid(3)\nj = i * 1.5": ("the tuple (x, y, z)",),
    "if cuda.grid(2) < 3:  # here\n    a[0] = 1": ("is the tuple (x, y)",),
    "i, j = cuda.grid(1)": ("cuda.grid(1)", "the 2 names before"),
    "if a[0] < a.shape:  # here\n    a[0] = 1": ("a.shape is a tuple", "a.shape[0]"),
    "n = a.shape\nif a[0] < n:  # here\n    a[0] = 1": ("n is a.shape, a tuple", "a.shape[0]"),
    "for k in 10:  # here\n    a[k] = 1": ("A loop cannot iterate over 10", "range(10)"),
    "a[0] = math.sqrt(a)": ("math.sqrt takes numbers", "a[i]"),
    "cuda.atomic.add(a[0], 0, a[1])": (
        "cuda.atomic.add takes an array",
        "a[0] is a number",
        "write cuda.atomic.add(a, 0, ...)",
    ),
    # expressions and statements
    "board[0] = a[0]": ("board is an array defined outside", "def bad_kernel(a, board)"),
    "board[0] += a[0]": ("board is an array defined outside",),
    "print('%d' % a[0])": ("format text", "print the parts"),
    "print('{}'.format(a[0]))": ("format text", "print the parts"),
    "i = cuda.grid(1)\nprint('i = ' + str(i))": ("format text", "print the parts"),
    "a[0] = a[1] ^ 2": ("exclusive or", "x ** 2"),
    "if a[0] > 3 & a[1]:  # here\n    a[0] = 1": ("bits of integers", "`and`"),
    "a.append(1)": ("a is an array and has no append", "write a[i] = ..."),
    "i = a.length": ("a is an array and has no length", "a.size"),
    "a[0] = a[1].astype(np.float32)": ("has no astype", "np.float32(a[1])"),
    "total += a[0]  # here\na[0] = total": ("total is used before", "total = 0"),
    "print(a[0], end='')": ("print in a kernel", "remove it"),
    "a[0] = (1, 2)": ("tuple cannot be stored", "one by one"),
    "t = (1, 2)\nt[0] = 3": ("tuple cannot be changed", "cuda.local.array"),
    "t = (1, 2.5)\nfor k in range(2):\n    a[k] = t[k]": (
        "elements of several types",
        "write them out",
    ),
    "z = np.complex64(a[1], 2.0)  # here\na[0] = z.real": (
        "np.complex64 takes one value",
        "np.complex64(complex(real, imaginary))",
    ),
    "a[0] = numbers[1]": ("numbers is of the Python type list",),
    "rows, cols = a.shape": ("a.shape", "the 2 names before"),
    "cuda.atomic.add(a, 1)": (
        "takes 3 arguments, got 2",
        "write cuda.atomic.add(array, index, value)",
    ),
    "a[0] = cuda.shfl_down_sync(a[0], 1)": ("got 2", "cuda.shfl_down_sync(mask, value, delta)"),
    # loops
    "while True:  # here\n    a[0] += 1": ("never ends", "break"),
    "if a[0] > 3:\n    while 1:  # here\n        a[0] += 1": ("never ends",),
    "while True:  # here\n    if a[0] == 0:\n        raise ValueError": ("never ends",),
    "while True:  # here\n    for k in range(3):\n        break": ("never ends",),
}


@pytest.mark.parametrize("body", MISTAKES)
def test_a_mistake_is_explained_in_terms_of_the_kernel(body):
    text = texts.refusal(texts.kernel_of(body, **NAMES), body, errors.CompileError)
    assert [part for part in (*MISTAKES[body], "What to do: ") if part not in text] == [], text


def test_a_mistake_in_a_device_function_is_reported_at_its_line():
    kernel = texts.kernel_of("a[0] = calls_square(a[1])", **NAMES)
    with pytest.raises(errors.CompileError, match="square is a plain Python function") as caught:
        kernel[1, 4](np.zeros(4))
    assert (caught.value.kernel, caught.value.source.strip()) == (
        "calls_square",
        "return square(x)",
    )


LOOPS = [
    "while True:\n    if a[0] == 0:\n        break",
    "while True:\n    for k in range(3):\n        return",
    "while False:\n    a[0] = 1",
]


@pytest.mark.parametrize("body", LOOPS)
def test_a_while_true_loop_with_an_exit_is_allowed(body):
    texts.kernel_of(body)[1, 1](np.zeros(4))


def test_the_tuple_from_cuda_grid_is_allowed_as_an_index():
    a = np.zeros((2, 3))
    texts.kernel_of("at = cuda.grid(2)\na[at] = at[0]")[1, (2, 3)](a)
    np.testing.assert_array_equal(a, [[0, 0, 0], [1, 1, 1]])
