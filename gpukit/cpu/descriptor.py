"""`numba.cuda.descriptor`: the target of kernels, whose contexts third-party code requests."""

from __future__ import annotations

from gpukit.compiler.kernel_target import kernel_target as cuda_target

__all__ = ["cuda_target"]
