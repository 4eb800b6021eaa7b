import numba as nb
from numba import cuda


@cuda.jit
def fahrenheit_kernel(celsius, fahrenheit):
    i = cuda.grid(1)
    if i < celsius.size:
        fahrenheit[i] = celsius[i] * nb.float32(1.8) + nb.float32(32.0)
