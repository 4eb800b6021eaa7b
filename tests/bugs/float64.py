"""float64 arithmetic in kernels whose arrays are float32: up to 64 times slower on a GPU."""

import math

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, reals

N = BLOCK - 14


@cuda.jit
def row_sums_plain_zero_kernel(a, out):
    """Starts the sum with 0.0, a float64, so every addition is one in float64."""
    row = cuda.grid(1)
    acc = 0.0  # BUG
    for k in range(a.shape[1]):
        acc += a[row, k]  # BUG
    out[row] = acc


@cuda.jit
def row_sums_kernel(a, out):
    """Starts it with np.float32(0)."""
    row = cuda.grid(1)
    acc = np.float32(0)
    for k in range(a.shape[1]):
        acc += a[row, k]
    out[row] = acc


case(
    row_sums_plain_zero_kernel, row_sums_kernel, "float64", Launch(1, 32),
    arguments=lambda: (reals(32, 5), blank(32)),
    expected=lambda a, out: a.sum(1),
)  # fmt: skip


@cuda.jit
def tenth_plain_literal_kernel(x, out):
    """Multiplies by the literal 0.1, which float32 cannot hold exactly."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = 0.1 * x[i]  # BUG


@cuda.jit
def tenth_kernel(x, out):
    """Multiplies by np.float32(0.1)."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = np.float32(0.1) * x[i]


case(
    tenth_plain_literal_kernel, tenth_kernel, "float64",
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: x / 10,
)  # fmt: skip


@cuda.jit
def average_integer_division_kernel(x, out):
    """Computes 1 / n from integers, which is a float64."""
    i = cuda.grid(1)
    share = 1 / x.shape[0]  # BUG
    if i < x.shape[0]:
        out[i] = x[i] * share  # BUG


@cuda.jit
def average_divided_by_size_kernel(x, out):
    """Divides by the size itself: float32 by int64 is a float64 too."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] / x.shape[0]  # BUG


@cuda.jit
def average_kernel(x, out):
    """Makes a float32 of the size first."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] / np.float32(x.shape[0])


for buggy in (average_integer_division_kernel, average_divided_by_size_kernel):
    case(
        buggy, average_kernel, "float64",
        arguments=lambda: (reals(N), blank(N)),
        expected=lambda x, out: x / N,
    )  # fmt: skip


@cuda.jit
def scale_by_root_kernel(x, out):
    """Takes the root of an integer, which is a float64."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] / math.sqrt(x.shape[0])  # BUG


@cuda.jit
def scale_by_float32_root_kernel(x, out):
    """Takes the root of a float32."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] / math.sqrt(np.float32(x.shape[0]))


case(
    scale_by_root_kernel, scale_by_float32_root_kernel, "float64",
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: x / np.sqrt(N),
)  # fmt: skip


@cuda.jit
def norm_power_kernel(x, out):
    """Writes the root as ** 0.5, with a float64 exponent."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = (x[i] * x[i]) ** 0.5  # BUG


@cuda.jit
def norm_kernel(x, out):
    """Writes it as math.sqrt of a float32."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = math.sqrt(x[i] * x[i])


case(
    norm_power_kernel, norm_kernel, "float64",
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: abs(x),
)  # fmt: skip


@cuda.jit
def wave_math_pi_kernel(x, out):
    """Multiplies by math.pi, a float64."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = math.sin(math.pi * x[i])  # BUG


@cuda.jit
def wave_kernel(x, out):
    """Multiplies by a float32 of it."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = math.sin(np.float32(math.pi) * x[i])


case(
    wave_math_pi_kernel, wave_kernel, "float64",
    arguments=lambda: (reals(N), blank(N)),
    expected=lambda x, out: np.sin(np.pi * x.astype(np.float64)),
)  # fmt: skip


@cuda.jit
def ramp_float_index_kernel(step, out):
    """Turns the index into a Python float, which is a float64."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = float(i) * step[0]  # BUG


@cuda.jit
def ramp_kernel(step, out):
    """Turns it into a float32."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = np.float32(i) * step[0]


case(
    ramp_float_index_kernel, ramp_kernel, "float64",
    arguments=lambda: (reals(1), blank(N)),
    expected=lambda step, out: np.arange(N) * step[0],
)  # fmt: skip
