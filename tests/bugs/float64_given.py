"""float64 that comes into a kernel of float32 arrays from outside: constants and arguments."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, blank, case, reals

N = BLOCK - 14
ROOT = np.sqrt(2)
RATE = 0.01
RATE_32 = np.float32(0.01)


@cuda.jit
def diagonal_numpy_constant_kernel(x, out):
    """Uses a constant that NumPy computed, which is an np.float64."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = ROOT * x[i]  # BUG


@cuda.jit
def diagonal_kernel(x, out):
    """Makes a float32 of it."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = np.float32(ROOT) * x[i]


case(
    diagonal_numpy_constant_kernel, diagonal_kernel, "float64",
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: np.sqrt(2) * x,
)  # fmt: skip


@cuda.jit
def step_python_constant_kernel(gradient, w):
    """Uses a constant of the module that is a Python float."""
    i = cuda.grid(1)
    if i < w.shape[0]:
        w[i] -= RATE * gradient[i]  # BUG


@cuda.jit
def step_kernel(gradient, w):
    """Uses a constant that is a float32."""
    i = cuda.grid(1)
    if i < w.shape[0]:
        w[i] -= RATE_32 * gradient[i]


case(
    step_python_constant_kernel, step_kernel, "float64",
    arguments=lambda: (reals(N), reals(N, seed=8)),
    expected=lambda gradient, w: w - RATE_32 * gradient,
)  # fmt: skip


@cuda.jit
def saxpy_python_float_kernel(alpha, x, y):
    """Is given alpha as a Python float, which becomes a float64 argument."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] += alpha * x[i]  # BUG


@cuda.jit
def saxpy_kernel(alpha, x, y):
    """Is given alpha as np.float32."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] += alpha * x[i]


case(
    saxpy_python_float_kernel, saxpy_kernel, "float64",
    arguments=lambda: (0.5, reals(N), reals(N, seed=8)),
    fixed_arguments=lambda: (np.float32(0.5), reals(N), reals(N, seed=8)),
    expected=lambda alpha, x, y: y + alpha * x,
)  # fmt: skip
