"""float64 that comes into a kernel of float32 arrays from outside: constants and arguments."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, blank, bug, correct, reals

N = BLOCK - 14
ROOT = np.sqrt(2)
RATE = 0.01
RATE_32 = np.float32(0.01)


@cuda.jit
def diagonal_kernel(x, out):
    """Makes a float32 of it."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = np.float32(ROOT) * x[i]


correct(diagonal_kernel, lambda: (reals(N), blank(N)), lambda x, out: np.sqrt(2) * x)
bug(
    diagonal_kernel,
    "diagonal_numpy_constant",
    "float64",
    """
Uses a constant that NumPy computed, which is an np.float64.
-        out[i] = np.float32(ROOT) * x[i]
+        out[i] = ROOT * x[i]  # BUG
""",
)


@cuda.jit
def step_kernel(gradient, w):
    """Uses a constant that is a float32."""
    i = cuda.grid(1)
    if i < w.shape[0]:
        w[i] -= RATE_32 * gradient[i]


correct(
    step_kernel, lambda: (reals(N), reals(N, seed=8)), lambda gradient, w: w - RATE_32 * gradient
)
bug(
    step_kernel,
    "step_python_constant",
    "float64",
    """
Uses a constant of the module that is a Python float.
-        w[i] -= RATE_32 * gradient[i]
+        w[i] -= RATE * gradient[i]  # BUG
""",
)


@cuda.jit
def saxpy_kernel(alpha, x, y):
    """Is given alpha as np.float32."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] += alpha * x[i]


correct(
    saxpy_kernel,
    lambda: (np.float32(0.5), reals(N), reals(N, seed=8)),
    lambda alpha, x, y: y + alpha * x,
)
bug(
    saxpy_kernel,
    "saxpy_python_float",
    "float64",
    """
Is given alpha as a Python float, which becomes a float64 argument.
         y[i] += alpha * x[i]  # BUG
""",
    arguments=lambda: (0.5, reals(N), reals(N, seed=8)),
)
