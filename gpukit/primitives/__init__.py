"""Device functions that Numba lacks: 16-byte accesses, int8 dot products, tensor cores and copies.

Each file defines its functions and runs them on the CPU targets, where every access is
checked and counted like any other. The file of the same name with the suffix `_gpu` holds the code
for a GPU's compiler; it imports nothing of gpukit, so that the compilers' process
(`gpukit.gpu_code`) can load it alone.

    vectorized   load4, store4: 16-byte vectorized access (float4)
    unroll       unrolled: an unrolled loop
    dot4         dot4: the dot product of four int8 and four int8, added to an int32 (dp4a)
    tensor       products of small matrices by a warp (tensor cores), and the rounding they need
    async_copy   asynchronous copies to shared memory (cp.async)
    warpgroup    products of matrices in shared memory by four warps (Hopper)
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from gpukit import target


def of_this_target(module: str, *functions: Any) -> Any:
    """Return functions in the form in which this target's kernels call them.

    Without a GPU they stay as they are. On one they are those of `<module>_gpu`, which record
    what checked mode runs instead (`on_cpu`). All record what a GPU's compiler gets in the
    process of `gpukit.gpu_code` (`on_gpu`: a file, and a name in it).
    """
    found = functions
    if target.active().name == "cuda":
        there = importlib.import_module(f"{__name__}.{module}_gpu")
        found = tuple(getattr(there, function.__name__) for function in functions)
        for form, function in zip(found, functions, strict=True):
            form.on_cpu = function
    file = Path(__file__).with_name(f"{module}_gpu.py")
    for form, function in zip(found, functions, strict=True):
        form.on_gpu = (str(file), function.__name__)
    return found
