"""Device arrays under the name that `numba.cuda.cudadrv` gives their module."""

from gpukit.cpu.memory.arrays import auto_device, from_array_like, from_record_like
from gpukit.cpu.memory.contiguity import (
    array_core,
    check_array_compatibility,
    errmsg_contiguous_buffer,
    is_contiguous,
    is_cuda_ndarray,
    require_cuda_ndarray,
    sentry_contiguous,
    verify_cuda_ndarray_interface,
)
from gpukit.cpu.memory.ndarray import (
    DeviceMemory,
    DeviceNDArray,
    DeviceRecord,
    ManagedNDArray,
    MappedNDArray,
)

DeviceNDArrayBase = DeviceMemory

__all__ = [
    "DeviceMemory",
    "DeviceNDArray",
    "DeviceNDArrayBase",
    "DeviceRecord",
    "ManagedNDArray",
    "MappedNDArray",
    "array_core",
    "auto_device",
    "check_array_compatibility",
    "errmsg_contiguous_buffer",
    "from_array_like",
    "from_record_like",
    "is_contiguous",
    "is_cuda_ndarray",
    "require_cuda_ndarray",
    "sentry_contiguous",
    "verify_cuda_ndarray_interface",
]
