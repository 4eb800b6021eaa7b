"""A GPU classroom that needs no GPU: `from gpukit import cuda`, and Numba CUDA kernels run.

The names below without a class load on first use: importing gpukit imports no numba.
"""

import importlib
from typing import Any

from gpukit.errors import (
    ArgumentError,
    BarrierDivergence,
    CheckFailed,
    CheckWarning,
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
    "check", "cuda", "explain", "play", "profile", "standin", "ArgumentError", "BarrierDivergence",
    "CheckFailed", "CheckWarning", "CompileError", "GpukitError", "Invalid", "KernelError",
    "KernelTypeError", "LaunchError", "OutOfBounds", "SourceError", "TargetError", "Unsupported",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "explain":
        return importlib.import_module("gpukit.cpu.explain").explain
    if name in ("check", "play", "profile"):
        return getattr(importlib.import_module(f"gpukit.checked.{name}"), name)
    if name in ("cuda", "standin"):
        return importlib.import_module(f"gpukit.{name}")
    raise AttributeError(f"module 'gpukit' has no attribute {name!r}")
