"""`numba.cuda.target`: the contexts that other people's overloads and intrinsics are given."""

from __future__ import annotations

from gpukit.compiler.kernel_target import CUDATargetContext, CUDATypingContext

__all__ = ["CUDATargetContext", "CUDATypingContext"]
