"""The errors that host code written for Numba's CUDA driver interface may catch."""

from __future__ import annotations

from gpukit import errors


class CudaDriverError(errors.GpukitError):
    """Base of the errors of the driver interface."""


class CudaAPIError(CudaDriverError):
    """A call that a CUDA driver would reject; `code` is the error code that it would return."""

    def __init__(self, code: int, msg: str) -> None:
        super().__init__(f"[{code}] {msg}")
        self.code = code
        self.msg = msg


class CudaRuntimeError(errors.GpukitError):
    """An error of the CUDA runtime; gpukit has none, so it never raises this."""


class CudaSupportError(ImportError):
    """CUDA cannot be used; gpukit's CPU target always can, so it never raises this."""


class NvvmError(Exception):
    """An error of NVIDIA's compiler, which the CPU target does not use."""


class NvvmSupportError(ImportError):
    """NVIDIA's compiler is missing; the CPU target does not need it."""


class NvvmWarning(Warning):
    """A warning of NVIDIA's compiler, which the CPU target does not use."""


class NvrtcError(Exception):
    """An error of NVIDIA's C++ compiler, which the CPU target does not use."""


class NvrtcCompilationError(NvrtcError):
    """C++ source was rejected by NVIDIA's compiler."""


class NvrtcSupportError(ImportError):
    """NVIDIA's C++ compiler is missing; the CPU target does not need it."""


class CCSupportError(RuntimeError):
    """A compute capability is not supported."""
