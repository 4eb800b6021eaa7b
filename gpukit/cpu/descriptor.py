"""`numba.cuda.descriptor`: the target of kernels, whose contexts other people's code asks for."""

from __future__ import annotations

from gpukit.compiler.kernel_target import kernel_target as cuda_target

__all__ = ["cuda_target"]
