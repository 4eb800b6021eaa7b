"""The part of Numba's driver interface that applies to a CPU: copies and sizes."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukit.cpu import operations
from gpukit.cpu.devices import Context, Device, get_current_device
from gpukit.cpu.driver_errors import CudaAPIError, CudaDriverError
from gpukit.cpu.machine import MemoryInfo
from gpukit.cpu.memory import uninitialised
from gpukit.cpu.memory.allocations import Memory, span
from gpukit.cpu.memory.contiguity import host_of, is_cuda_ndarray
from gpukit.cpu.memory.ndarray import DeviceNDArray
from gpukit.cpu.streams import Event, Stream, event_elapsed_time

MemoryPointer = Memory


class LinkerError(RuntimeError):
    """Linking of device code failed; the CPU target links none."""


def _bytes(obj: Any) -> NDArray[np.uint8]:
    """Return the memory of a host or device array, or of a piece of memory, as bytes."""
    host = np.asarray(obj.host if isinstance(obj, Memory) else host_of(obj))
    order: Any = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
    flat: NDArray[np.uint8] = host.reshape(-1, order=order).view(np.uint8)
    return flat


def is_device_memory(obj: Any) -> bool:
    """Tell whether `obj` is device memory."""
    return is_cuda_ndarray(obj) or isinstance(obj, Memory)


def require_device_memory(obj: Any) -> None:
    """Raise TypeError for anything but device memory."""
    if not is_device_memory(obj):
        raise TypeError("Not a CUDA memory object.")


def device_memory_size(devmem: Any) -> int:
    """Return the size of device memory in bytes."""
    return int(devmem.size if isinstance(devmem, Memory) else devmem.alloc_size)


def host_memory_size(obj: Any) -> int:
    """Return the bytes from the first to the last element of a host array or ctypes object."""
    if not isinstance(obj, np.ndarray):
        return ctypes.sizeof(obj)
    return sum(span(obj.shape, obj.strides, obj.itemsize)) if obj.size else 0


def host_memory_extents(obj: NDArray[Any]) -> tuple[int, int]:
    """Return the addresses where the memory of a host array starts and ends."""
    before, after = span(obj.shape, obj.strides, obj.itemsize)
    return obj.ctypes.data - before, obj.ctypes.data + after


def device_memset(dst: Any, val: int, size: int, stream: Any = 0) -> None:
    """Set `size` bytes of device memory to `val`."""
    target = _bytes(dst)[:size]
    observer = operations.observer()
    if observer is not None:
        observer.filled(target, stream)
    target[...] = val
    uninitialised.touch(target)


def host_to_device(dst: Any, src: Any, size: int, stream: Any = 0) -> None:
    """Copy `size` bytes from host to device memory."""
    target, source = _bytes(dst)[:size], _bytes(src)[:size]
    operations.copied(target, source, stream, source)
    np.copyto(target, source)
    uninitialised.touch(target)


device_to_host = host_to_device
device_to_device = host_to_device


class Driver:
    """The driver's functions that Numba's callers use."""

    is_available = True
    initialization_error = None

    def get_device_count(self) -> int:
        """Return 1, the CPU."""
        return 1

    def get_device(self, devnum: int = 0) -> Device:
        """Return the device."""
        return get_current_device()

    def cuMemGetInfo(self) -> MemoryInfo:
        """Return the free and total memory of this machine in bytes."""
        return get_current_device().get_primary_context().get_memory_info()


driver = Driver()


def _have_nvjitlink() -> bool:
    return False


__all__ = [
    "Context",
    "CudaAPIError",
    "CudaDriverError",
    "Device",
    "DeviceNDArray",
    "Driver",
    "Event",
    "LinkerError",
    "Memory",
    "MemoryInfo",
    "MemoryPointer",
    "Stream",
    "device_memory_size",
    "device_memset",
    "device_to_device",
    "device_to_host",
    "driver",
    "event_elapsed_time",
    "host_memory_extents",
    "host_memory_size",
    "host_to_device",
    "is_device_memory",
    "require_device_memory",
]
