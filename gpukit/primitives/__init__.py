"""What kernels call that Numba has no name for: one instruction on a GPU, or none.

Each file says what its functions mean and runs them on the CPU targets, where every access is
checked and counted like any other. The file of the same name with `_gpu` behind it holds what a
GPU's compiler gets in their place; it imports nothing of gpukit, so that the compilers' process
(`gpukit.gpu_code`) can load it alone.

    wide         load4, store4: sixteen bytes at once
    unroll       unrolled: a loop written out
    tensor       products of small matrices by a warp, and the rounding that they ask for
    async_copy   copies to shared memory that nobody waits for
    warpgroup    products of matrices in shared memory by four warps (Hopper)
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from gpukit import target


def of_this_target(module: str, *functions: Any) -> Any:
    """Return functions in the form in which this target's kernels call them.

    Without a GPU they stay as they are. On one they are those of `<module>_gpu`, and these know
    what checked mode runs in their place (`on_cpu`). All know what a GPU's compiler gets in the
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
