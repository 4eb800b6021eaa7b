"""The sum of two vectors, one thread per element. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def zip_add_kernel(a, b, out):
    """Write a[i] + b[i] to out[i]."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    out[i] = b[i] + a[i]
