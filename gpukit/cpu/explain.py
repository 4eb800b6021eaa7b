"""`gpukit.explain`: show the loops into which a kernel is compiled."""

from __future__ import annotations

from typing import Any

from gpukit.compiler import pipeline
from gpukit.cpu.launch import configure, marshal


def explain(kernel: Any, *arguments: Any, block: Any = None) -> str:
    """Return, as readable Python, the loops into which a kernel is compiled for these arguments.

    `block` is the block shape of the launch; without it the loops are for any shape. Accesses
    inside `check_range(...)` are bounds-checked once per row, before the loop over threadIdx.x.

    >>> import numpy as np
    >>> from gpukit import cuda
    >>> @cuda.jit
    ... def double(a):
    ...     i = cuda.grid(1)
    ...     if i < a.size:
    ...         a[i] = 2 * a[i]
    >>> print("\\n".join(explain(double, np.ones(5), block=128).splitlines()[-6:]))
            stop_1 = min(blockDim_x, a.size - blockIdx_x * blockDim_x)
            if 0 < stop_1:
                check_range('a[i]', 0, stop_1)
                for threadIdx_x in range(0, stop_1):
                    i = blockIdx_x * blockDim_x + threadIdx_x
                    a[i] = 2 * a[i]
    """
    kinds = tuple(marshal.numba_type(k) for k in marshal.pack(arguments).kinds)
    shape = (0, 0, 0) if block is None else configure.triple("block", block)
    return pipeline.explain(getattr(kernel, "py_func", kernel), kinds, shape)
