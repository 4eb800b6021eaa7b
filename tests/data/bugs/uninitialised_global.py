"""Reads of device memory that was allocated and never filled: device_array does not mean zeros."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import Launch, blank, bug, correct, counts, reals, zeros

HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


def raw(*shape, dtype=np.float32):
    """Allocate device memory and leave it as it is."""
    return cuda.device_array(shape, dtype)


def cleared(*shape, dtype=np.float32):
    """Allocate device memory and fill it with zeros."""
    return cuda.to_device(zeros(*shape, dtype=dtype))


@cuda.jit
def accumulate_kernel(x, acc):
    """Is given zeros to add to."""
    i = cuda.grid(1)
    acc[i] += x[i]


correct(accumulate_kernel, lambda: (reals(N), cleared(N)), lambda x, acc: x, TWO)
bug(
    accumulate_kernel,
    "accumulate_raw",
    "uninitialised-global",
    """
Is given a fresh device_array to add to.
     acc[i] += x[i]  # BUG
""",
    arguments=lambda: (reals(N), raw(N)),
)


@cuda.jit
def histogram_kernel(x, hist):
    """Is given zeros to count in."""
    i = cuda.grid(1)
    cuda.atomic.add(hist, x[i], 1)


correct(
    histogram_kernel,
    lambda: (counts(N, 8), cleared(8, dtype=np.int32)),
    lambda x, hist: np.bincount(x, minlength=8),
    TWO,
)
bug(
    histogram_kernel,
    "histogram_raw",
    "uninitialised-global",
    """
Is given a fresh device_array to count in.
     cuda.atomic.add(hist, x[i], 1)  # BUG
""",
    arguments=lambda: (counts(N, 8), raw(8, dtype=np.int32)),
)


@cuda.jit
def momentum_kernel(gradient, rate, velocity, w):
    """Starts at rest."""
    i = cuda.grid(1)
    velocity[i] = np.float32(0.9) * velocity[i] - rate * gradient[i]
    w[i] += velocity[i]


def momentum(velocity):
    w = cuda.to_device(reals(N, seed=8))
    return reals(N), np.float32(0.1), velocity, w


correct(
    momentum_kernel,
    lambda: momentum(cleared(N)),
    lambda gradient, rate, velocity, w: w - rate * gradient,
    TWO,
)
bug(
    momentum_kernel,
    "momentum_raw",
    "uninitialised-global",
    """
Starts with the velocity that device_array_like happens to hold.
     velocity[i] = np.float32(0.9) * velocity[i] - rate * gradient[i]  # BUG
""",
    arguments=lambda: momentum(cuda.device_array_like(reals(N))),
)


def padded(values, fill):
    """Put values at the start of a longer device array, and perhaps fill the rest."""
    device = raw(N + 2)
    device[: len(values)].copy_to_device(values)
    if fill:
        device[len(values) :].copy_to_device(zeros(N + 2 - len(values)))
    return device


@cuda.jit
def smooth_kernel(x, out):
    """Reads padding that the host has filled."""
    i = cuda.grid(1)
    out[i] = (x[i] + x[i + 1] + x[i + 2]) / np.float32(3)


correct(
    smooth_kernel,
    lambda: (padded(reals(N), fill=True), blank(N)),
    lambda x, out: np.convolve(np.append(x[:N], [0, 0]), np.ones(3) / 3, "valid"),
    TWO,
)
bug(
    smooth_kernel,
    "smooth_raw_padding",
    "uninitialised-global",
    """
Reads the padding at the end, which the host never filled.
     out[i] = (x[i] + x[i + 1] + x[i + 2]) / np.float32(3)  # BUG
""",
    arguments=lambda: (padded(reals(N), fill=False), blank(N)),
)


@cuda.jit
def scratch_filled_kernel(x, scratch, out):
    """Fills all of them."""
    tid = cuda.threadIdx.x
    scratch[tid] = x[tid]
    cuda.syncthreads()
    out[tid] = scratch[tid] + scratch[tid ^ 1]


correct(
    scratch_filled_kernel,
    lambda: (reals(N), raw(N), blank(N)),
    lambda x, scratch, out: x + x.reshape(-1, 2)[:, ::-1].ravel(),
    Launch(1, N),
)
bug(
    scratch_filled_kernel,
    "scratch_half_filled",
    "uninitialised-global",
    """
Fills the even places of the scratch memory and reads both of each pair.
-    scratch[tid] = x[tid]
+    if tid % 2 == 0:
+        scratch[tid] = x[tid]
     cuda.syncthreads()
     out[tid] = scratch[tid] + scratch[tid ^ 1]  # BUG
""",
)
