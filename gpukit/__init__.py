"""A GPU classroom that needs no GPU: `from gpukit import cuda`, and Numba CUDA kernels run.

`cuda`, `explain` and `standin` load on first use: importing gpukit imports no numba.
"""

import importlib
from typing import Any

from gpukit.errors import (
    ArgumentError,
    BarrierDivergence,
    CompileError,
    GpukitError,
    Invalid,
    KernelError,
    KernelTypeError,
    LaunchError,
    OutOfBounds,
    SourceError,
    TargetError,
    Unsupported,
)

__version__ = "0.1.0"
__all__ = [
    "cuda", "explain", "standin", "ArgumentError", "BarrierDivergence", "CompileError",
    "GpukitError", "Invalid", "KernelError", "KernelTypeError", "LaunchError", "OutOfBounds",
    "SourceError", "TargetError", "Unsupported",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "explain":
        return importlib.import_module("gpukit.cpu.explain").explain
    if name in ("cuda", "standin"):
        return importlib.import_module(f"gpukit.{name}")
    raise AttributeError(f"module 'gpukit' has no attribute {name!r}")
