"""Celsius to Fahrenheit, one thread per element. The task is in task.md."""

import numpy as np

from gpukit import cuda


@cuda.jit
def fahrenheit_kernel(celsius, fahrenheit):
    """Write celsius[i] * 1.8 + 32 to fahrenheit[i]."""
    i = cuda.grid(1)
    # The grid consists of whole blocks, so its last threads may be past the end.
    if i < celsius.shape[0]:
        fahrenheit[i] = celsius[i] * np.float32(1.8) + np.float32(32)
