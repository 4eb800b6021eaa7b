"""Stand-in for Numba's NVVM module: the CPU target compiles with Numba's own LLVM instead."""

from __future__ import annotations

from gpukit.cpu.driver_errors import NvvmError, NvvmSupportError

__all__ = ["NvvmError", "NvvmSupportError", "get_supported_ccs", "is_available"]


def is_available() -> bool:
    """Return False: NVIDIA's compiler is not used."""
    return False


def get_supported_ccs() -> tuple[tuple[int, int], ...]:
    """Return the compute capabilities that NVIDIA's compiler supports: none."""
    return ()
