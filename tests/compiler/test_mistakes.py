"""What a beginner writes, and the words that help: what is wrong with it, and what to write.

The line that is refused ends in the comment `# here`.
"""

from __future__ import annotations

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
def shown(x):
    return square(x)


@cuda.jit
def other_kernel(a):
    a[0] = 1


NAMES = {
    "square": square,
    "lesser": lambda x: x - 1,
    "twice": twice,
    "nothing": nothing,
    "shown": shown,
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

# name, body of the kernel, words of the message
TABLE = [
    # what a kernel cannot call or use
    (
        "plain function",
        "a[0] = square(a[1])  # here",
        "square is a plain Python function",
        f"put {DEVICE} above def square",
    ),
    ("plain lambda", "a[0] = lesser(a[1])  # here", "lesser is a plain", "write it with def"),
    ("library function", "a[0] = mean(a)  # here", "mean", "of statistics", DEVICE),
    ("clock", "a[0] = time.time()  # here", "time.time is a builtin function", "on the host"),
    ("file", "open('x')  # here", "open is a builtin function", "on the host"),
    (
        "launch in a kernel",
        "other_kernel[1, 1](a)  # here",
        "other_kernel is a kernel",
        "from the host",
    ),
    (
        "dict from outside",
        "a[0] = table[1]  # here",
        "table is of the Python type dict",
        "NumPy array",
    ),
    ("random of Python", "a[0] = random.random()  # here", "random.random", "xoroshiro128p"),
    ("random of NumPy", "a[0] = np.random.rand()  # here", "np.random.rand", "xoroshiro128p"),
    ("random under a name", "a[0] = expovariate(1.0)  # here", "expovariate", "xoroshiro128p"),
    ("too many arguments", "i = 0\na[0] = twice(a[i], 3)  # here", "twice(x)", "too many"),
    ("too few arguments", "i = 0\na[0] = twice()  # here", "twice(x)", "missing", "'x'"),
    ("nothing returned", "a[0] = nothing(a[1])  # here", "nothing returns nothing", "add a return"),
    ("called array", "i = 1\na[0] = a(i)  # here", "a is an array", "write a[i]"),
    (
        "called size",
        "if a[0] < a.size():  # here\n    a[0] = 1",
        "a.size is a value",
        "brackets: a.size",
    ),
    (
        "called index",
        "i = cuda.threadIdx.x()  # here",
        "cuda.threadIdx.x cannot be called",
        "leave out the brackets",
    ),
    # one number or several
    (
        "sum of threadIdx",
        "i = cuda.threadIdx + 1  # here",
        "cuda.threadIdx is (x, y, z)",
        "cuda.threadIdx.x",
    ),
    ("whole formula", "i = cuda.threadIdx + cuda.blockIdx * cuda.blockDim  # here", "is (x, y, z)"),
    (
        "threadIdx as an index",
        "a[cuda.threadIdx] = 1  # here",
        "cuda.threadIdx is (x, y, z)",
        "What to do: name an axis: cuda.threadIdx.x",
    ),
    (
        "index of threadIdx",
        "i = cuda.threadIdx[0]  # here",
        "cannot be indexed",
        "cuda.threadIdx.x",
    ),
    ("set threadIdx", "cuda.threadIdx.x = 3  # here", "cannot set cuda.threadIdx.x"),
    ("threadIdx alone", "i = threadIdx.x  # here", "'threadIdx'", "write cuda.threadIdx"),
    (
        "grid(2) compared",
        "i = cuda.grid(2)\nif i < a.size:  # here\n    a[0] = 1",
        "i is cuda.grid(2), the tuple (x, y)",
        "write x, y = cuda.grid(2), or cuda.grid(1)",
    ),
    ("grid(2) as an index", "i = cuda.grid(2)\na[i] = 1  # here", "i is cuda.grid(2)"),
    ("grid(3) times two", "i = cuda.grid(3)\nj = i * 1.5  # here", "the tuple (x, y, z)"),
    ("grid(2) at once", "if cuda.grid(2) < 3:  # here\n    a[0] = 1", "is the tuple (x, y)"),
    ("grid(1) unpacked", "i, j = cuda.grid(1)  # here", "cuda.grid(1)", "the 2 values"),
    (
        "shape compared",
        "if a[0] < a.shape:  # here\n    a[0] = 1",
        "a.shape is a tuple",
        "a.shape[0]",
    ),
    (
        "shape in a variable",
        "n = a.shape\nif a[0] < n:  # here\n    a[0] = 1",
        "n is a.shape, a tuple",
        "a.shape[0]",
    ),
    (
        "loop over a number",
        "for k in 10:  # here\n    a[k] = 1",
        "A loop cannot iterate over 10",
        "range(10)",
    ),
    ("root of an array", "a[0] = math.sqrt(a)  # here", "math.sqrt takes numbers", "a[i]"),
    (
        "atomic without index",
        "cuda.atomic.add(a[0], 0, a[1])  # here",
        "cuda.atomic.add takes an array",
        "a[0] is a number",
        "write cuda.atomic.add(a, 0, ...)",
    ),
    # what is written and computed
    (
        "store outside",
        "board[0] = a[0]  # here",
        "board is an array from outside",
        "def bad_kernel(a, board)",
    ),
    ("sum into outside", "board[0] += a[0]  # here", "board is an array from outside"),
    ("percent", "print('%d' % a[0])  # here", "format text", "print the parts"),
    ("format", "print('{}'.format(a[0]))  # here", "format text", "print the parts"),
    ("str", "i = cuda.grid(1)\nprint('i = ' + str(i))  # here", "format text", "print the parts"),
    ("power", "a[0] = a[1] ^ 2  # here", "exclusive or", "x ** 2"),
    ("bits for and", "if a[0] > 3 & a[1]:  # here\n    a[0] = 1", "bits of integers", "`and`"),
    ("append", "a.append(1)  # here", "a is an array and has no append", "write a[i] = ..."),
    ("length", "i = a.length  # here", "a is an array and has no length", "a.size"),
    ("astype", "a[0] = a[1].astype(np.float32)  # here", "has no astype", "np.float32(a[1])"),
    ("no first value", "total += a[0]  # here\na[0] = total", "total is used before", "total = 0"),
    ("print to", "print(a[0], end='')  # here", "print in a kernel", "leave it out"),
    ("stored tuple", "a[0] = (1, 2)  # here", "tuple cannot be stored", "one by one"),
    (
        "changed tuple",
        "t = (1, 2)\nt[0] = 3  # here",
        "tuple cannot be changed",
        "cuda.local.array",
    ),
    (
        "mixed tuple",
        "t = (1, 2.5)\nfor k in range(2):\n    a[k] = t[k]  # here",
        "elements of several types",
        "write them out",
    ),
    (
        "complex of two parts",
        "z = np.complex64(a[1], 2.0)  # here\na[0] = z.real",
        "np.complex64 takes one value",
        "np.complex64(complex(real, imaginary))",
    ),
    ("list from outside", "a[0] = numbers[1]  # here", "numbers is of the Python type list"),
    ("axes of another number", "rows, cols = a.shape  # here", "a.shape", "the 2 values"),
    (
        "atomic without value",
        "cuda.atomic.add(a, 1)  # here",
        "takes 3 arguments, got 2",
        "write cuda.atomic.add(array, index, value)",
    ),
    (
        "shuffle without mask",
        "a[0] = cuda.shfl_down_sync(a[0], 1)  # here",
        "got 2",
        "cuda.shfl_down_sync(mask, value, delta)",
    ),
    # loops
    ("while True", "while True:  # here\n    a[0] += 1", "never ends", "break"),
    ("while 1 in a branch", "if a[0] > 3:\n    while 1:  # here\n        a[0] += 1", "never ends"),
    (
        "while True with a raise",
        "while True:  # here\n    if a[0] == 0:\n        raise ValueError",
        "never ends",
    ),
    (
        "break of another loop",
        "while True:  # here\n    for k in range(3):\n        break",
        "never ends",
    ),
]


@pytest.mark.parametrize(
    ("body", "says"), [(row[1], row[2:]) for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_mistake_is_named_in_the_words_of_the_kernel(body, says):
    kernel = texts.kernel_of(body, **NAMES)
    with pytest.raises(errors.CompileError) as caught:
        kernel[1, 4](np.zeros(4))
    text = str(caught.value)
    for words in says:
        assert words in text, f"{words!r} is not in the message:\n{text}"
    assert caught.value.source.endswith("# here"), text
    assert "What to do: " in text


def test_mistake_in_a_device_function_is_named_there():
    kernel = texts.kernel_of("a[0] = shown(a[1])", **NAMES)
    with pytest.raises(errors.CompileError, match="square is a plain Python function") as caught:
        kernel[1, 4](np.zeros(4))
    assert (caught.value.kernel, caught.value.source.strip()) == ("shown", "return square(x)")


LOOPS = [
    "while True:\n    if a[0] == 0:\n        break",
    "while True:\n    for k in range(3):\n        return",
    "while False:\n    a[0] = 1",
]


@pytest.mark.parametrize("body", LOOPS)
def test_loop_with_a_way_out_is_allowed(body):
    texts.kernel_of(body)[1, 1](np.zeros(4))


def test_tuple_of_places_is_allowed_as_an_index():
    a = np.zeros((2, 3))
    texts.kernel_of("at = cuda.grid(2)\na[at] = at[0]")[1, (2, 3)](a)
    np.testing.assert_array_equal(a, [[0, 0, 0], [1, 1, 1]])
