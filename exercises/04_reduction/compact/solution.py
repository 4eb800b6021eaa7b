"""Stream compaction: the positive numbers of a vector, in order. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def compact_kernel(x, ends, out):
    """Write the positive numbers of x to out; ends[i] counts those up to x[i] itself."""
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        out[ends[i] - 1] = x[i]
