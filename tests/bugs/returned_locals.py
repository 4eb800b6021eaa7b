"""Device functions that return memory of their own, which is gone by then."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, reals

N = BLOCK - 14
PAIR = np.dtype([("re", np.float32), ("im", np.float32)])


@cuda.jit(device=True)
def product(x, y):
    made = cuda.local.array(2, np.float32)
    made[0] = x * y
    made[1] = x + y
    return made  # BUG


@cuda.jit(device=True)
def product_into(made, x, y):
    made[0] = x * y
    made[1] = x + y


@cuda.jit
def product_and_sum_kernel(x, out):
    """Uses the local array of a device function after the call."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        both = product(x[i], np.float32(2))
        out[i] = both[0] + both[1]


@cuda.jit
def product_and_sum_own_kernel(x, out):
    """Makes the array that the device function fills."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        both = cuda.local.array(2, np.float32)
        product_into(both, x[i], np.float32(2))
        out[i] = both[0] + both[1]


case(
    product_and_sum_kernel, product_and_sum_own_kernel, "returned-local", Launch(1, BLOCK),
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: 3 * x + 2,
    parts=(product,),
)  # fmt: skip


@cuda.jit(device=True)
def square(x, y):
    z = cuda.local.array(1, PAIR)[0]
    z.re = x * x - y * y
    z.im = np.float32(2) * x * y
    return z  # BUG


@cuda.jit(device=True)
def square_parts(x, y):
    return x * x - y * y, np.float32(2) * x * y


@cuda.jit
def complex_square_kernel(x, out):
    """Gets a record that lies in the local array of a device function."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        z = square(x[i], np.float32(3))
        out[i] = z.re + z.im


@cuda.jit
def complex_square_parts_kernel(x, out):
    """Gets the two numbers."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        re, im = square_parts(x[i], np.float32(3))
        out[i] = re + im


case(
    complex_square_kernel, complex_square_parts_kernel, "returned-local", Launch(1, BLOCK),
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: x * x - 9 + 6 * x,
    parts=(square,),
)  # fmt: skip
