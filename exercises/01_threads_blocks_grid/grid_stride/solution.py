"""The squares of a long vector, computed by a small grid. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def square_kernel(x, out):
    """Write x[i] * x[i] to out[i], with any number of threads."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i] * x[i]
