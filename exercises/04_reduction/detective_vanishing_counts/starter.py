"""How often each brightness occurs. The task is in task.md."""

from gpukit import cuda


@cuda.jit
def count_kernel(values, counts):
    """Add to counts[v] how often v occurs in values. Two lines are wrong."""
    i = cuda.grid(1)
    if i < counts.size:
        counts[values[i]] += 1
