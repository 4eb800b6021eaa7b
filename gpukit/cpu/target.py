"""`numba.cuda.target`: the contexts passed to third-party overloads and intrinsics."""

from __future__ import annotations

from gpukit.compiler.kernel_target import CUDATargetContext, CUDATypingContext

__all__ = ["CUDATargetContext", "CUDATypingContext"]
