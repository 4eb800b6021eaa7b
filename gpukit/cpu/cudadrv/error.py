"""The errors of the driver interface under the name that `numba.cuda.cudadrv` gives them."""

from gpukit.cpu.driver_errors import (
    CCSupportError,
    CudaAPIError,
    CudaDriverError,
    CudaRuntimeError,
    CudaSupportError,
    NvrtcCompilationError,
    NvrtcError,
    NvrtcSupportError,
    NvvmError,
    NvvmSupportError,
    NvvmWarning,
)

__all__ = [
    "CCSupportError",
    "CudaAPIError",
    "CudaDriverError",
    "CudaRuntimeError",
    "CudaSupportError",
    "NvrtcCompilationError",
    "NvrtcError",
    "NvrtcSupportError",
    "NvvmError",
    "NvvmSupportError",
    "NvvmWarning",
]
