"""Creating device arrays: copies to the device, empty arrays, and views of foreign memory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukit import errors
from gpukit.cpu import operations, streams
from gpukit.cpu.memory import allocations, uninitialised
from gpukit.cpu.memory.contiguity import host_of, is_cuda_ndarray, sentry_contiguous
from gpukit.cpu.memory.ndarray import DeviceNDArray, DeviceRecord, ManagedNDArray, MappedNDArray

Array = NDArray[Any]


def prepare(
    shape: Any, strides: Any, dtype: Any, order: str
) -> tuple[tuple[int, ...], tuple[int, ...], np.dtype[Any]]:
    """Validate and complete an array's shape and strides; raise for anything but whole numbers."""
    dtype = np.dtype(dtype)
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    elif isinstance(shape, (float, np.floating)) or getattr(shape, "ndim", 1) == 0:
        raise TypeError("shape must be an integer or tuple of integers")
    for length in shape:
        if not isinstance(length, (int, np.integer)):
            raise TypeError(f"shape elements must be integers, got {type(length).__name__}")
    shape = tuple(int(length) for length in shape)
    if any(length < 0 for length in shape):
        raise ValueError(f"shape: expected lengths of 0 or more, got {shape}")
    if isinstance(strides, (int, np.integer)):
        strides = (int(strides),)
    return shape, tuple(strides or allocations.fill_strides(shape, dtype, order)), dtype


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0
) -> DeviceNDArray:
    """Return an empty device array. Its contents are garbage, as on a GPU: NaN or bytes 0xA5."""
    shape, strides, dtype = prepare(shape, strides, dtype, order)
    made = DeviceNDArray(shape, strides, dtype, stream)
    uninitialised.note(made.host)
    return made


def mapped_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    portable: bool = False,
    wc: bool = False,
) -> MappedNDArray:
    """Return an empty array that both host and device access."""
    shape, strides, dtype = prepare(shape, strides, dtype, order)
    host = allocations.empty(shape, dtype, strides, allocations.MAPPED)
    made: MappedNDArray = _both_reach(host.view(MappedNDArray), stream)
    return made


def _both_reach(array: Any, stream: Any) -> Any:
    """Return an array of host and device with its default stream."""
    array.stream = stream
    return _watched(array)


def _watched(array: Any) -> Any:
    """Return an array for use by the host; an observer sees its reads and writes, too."""
    observer = operations.observer()
    return array if observer is None else observer.watched(array)


def managed_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    attach_global: bool = True,
) -> ManagedNDArray:
    """Return an empty array that migrates between host and device by itself."""
    shape, strides, dtype = prepare(shape, strides, dtype, order)
    host = allocations.empty(shape, dtype, strides, allocations.MANAGED)
    made: ManagedNDArray = _both_reach(host.view(ManagedNDArray), stream)
    return made


def pinned_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C"
) -> Array:
    """Return an empty host array. On a GPU its memory would be page-locked for fast copies."""
    shape, strides, dtype = prepare(shape, strides, dtype, order)
    made: Array = _watched(allocations.empty(shape, dtype, strides, allocations.PINNED))
    return made


def _strides_like(ary: Any) -> tuple[int, ...] | None:
    """Return strides for a contiguous array whose axes lie in memory in the order of `ary`'s."""
    flags = ary.flags
    if flags["C_CONTIGUOUS"] or flags["F_CONTIGUOUS"] or ary.ndim <= 1:
        return None
    strides, step = [0] * ary.ndim, ary.dtype.itemsize
    for axis in sorted(range(ary.ndim), key=lambda i: ary.strides[i]):
        strides[axis] = step
        step *= ary.shape[axis]
    return tuple(strides)


def _order_like(ary: Any) -> str:
    flags = ary.flags
    return "F" if flags["F_CONTIGUOUS"] and not flags["C_CONTIGUOUS"] else "C"


def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """Return an empty device array with the shape, dtype and memory order of `ary`."""
    return device_array(ary.shape, ary.dtype, _strides_like(ary), _order_like(ary), stream)


def mapped_array_like(
    ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False
) -> MappedNDArray:
    """Return an empty mapped array with the shape, dtype and memory order of `ary`."""
    return mapped_array(
        ary.shape, ary.dtype, _strides_like(ary), _order_like(ary), stream, portable, wc
    )


def pinned_array_like(ary: Any) -> Array:
    """Return an empty pinned array with the shape, dtype and memory order of `ary`."""
    return pinned_array(ary.shape, ary.dtype, _strides_like(ary), _order_like(ary))


def from_array_like(ary: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceNDArray:
    """Return an empty device array with the shape, strides and dtype of `ary`."""
    return DeviceNDArray(ary.shape, ary.strides, ary.dtype, stream, gpu_data)


def from_record_like(rec: Any, stream: Any = 0, gpu_data: Any = None) -> DeviceRecord:
    """Return an empty device record with the dtype of `rec`."""
    return DeviceRecord(rec.dtype, stream, gpu_data)


def auto_device(
    obj: Any, stream: Any = 0, copy: bool = True, user_explicit: bool = False
) -> tuple[Any, bool]:
    """Return device memory with the contents of `obj`, and whether it had to be allocated."""
    if is_cuda_ndarray(obj):
        return obj, False
    if is_cuda_array(obj):
        return as_cuda_array(obj), False
    if isinstance(obj, np.void):
        made: Any = from_record_like(obj, stream)
        if copy:
            made.host[()] = obj
        return made, True
    obj = np.asanyarray(obj)
    sentry_contiguous(obj)
    made = from_array_like(obj, stream)
    if copy:
        made.copy_to_device(obj, stream)
    return made, True


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    """Copy a host array to the device: later changes of the host array do not affect the copy.

    >>> import numpy as np
    >>> d_a = to_device(np.arange(3))
    >>> d_a.copy_to_host()
    array([0, 1, 2])
    """
    if to is None:
        return auto_device(obj, stream, copy)[0]
    if copy:
        to.copy_to_device(obj, stream)
    return to


def is_cuda_array(obj: Any) -> bool:
    """Tell whether `obj` has a `__cuda_array_interface__`."""
    return is_cuda_ndarray(obj) or hasattr(obj, "__cuda_array_interface__")


def _synchronize_stream_of(desc: dict[str, Any], sync: bool) -> Any:
    handle = desc.get("stream")
    if handle is None:
        return 0
    stream = streams.Stream(int(handle), external=True)
    if sync and os.environ.get("NUMBA_CUDA_ARRAY_INTERFACE_SYNC", "1") != "0":
        stream.synchronize()
    return stream


def from_cuda_array_interface(
    desc: dict[str, Any], owner: Any = None, sync: bool = True
) -> DeviceNDArray:
    """Return a view of device memory described by a CUDA array interface.

    Only memory that gpukit's device arrays own is accepted: there is no other on a CPU.
    """
    if desc.get("version", 0) >= 1 and desc.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    shape, strides, dtype = prepare(desc["shape"], desc.get("strides"), desc["typestr"], "C")
    if "descr" in desc:
        dtype = np.dtype(desc["descr"]) if dtype.kind == "V" else dtype
    stream = _synchronize_stream_of(desc, sync)
    if 0 in shape:
        return DeviceNDArray(shape, strides, dtype, stream)
    address = int(desc["data"][0])
    buffer = allocations.owner_of(address)
    if buffer is None:
        raise errors.TargetError(
            f"as_cuda_array: the memory at {address:#x} is not a device array of this process. "
            "Memory of CuPy, PyTorch and others needs the cuda target, on a GPU; on the CPU "
            "target pass NumPy arrays or make device arrays with cuda.to_device."
        )
    host: Array = np.ndarray(shape, dtype, buffer, address - buffer.ctypes.data, strides)
    host.flags.writeable = host.flags.writeable and not desc["data"][1]
    return DeviceNDArray.around(host, stream)


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """Return a view of any object that has a `__cuda_array_interface__`; nothing is copied."""
    if not is_cuda_array(obj):
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)


@contextlib.contextmanager
def pinned(*arylist: Any) -> Iterator[None]:
    """Page-lock host arrays inside a `with` block; on the CPU target there is nothing to do."""
    with _locked([host_of(a) for a in arylist], allocations.PINNED):
        yield


@contextlib.contextmanager
def _locked(hosts: list[Array], kind: str) -> Iterator[None]:
    """Notify an observer when host arrays are page-locked and unlocked."""
    observer = operations.observer()
    if observer is not None:
        observer.locked(hosts, kind)
    try:
        yield
    finally:
        if observer is not None:
            observer.unlocked(hosts)


@contextlib.contextmanager
def mapped(*arylist: Any, **kws: Any) -> Iterator[Any]:
    """Map host arrays to the device inside a `with` block: the same memory, not copies."""
    if set(kws) - {"stream"}:
        raise TypeError(f"mapped: expected only 'stream' as keyword, got {sorted(kws)}")
    hosts = [np.asarray(host_of(a)) for a in arylist]
    made = [DeviceNDArray.around(host, kws.get("stream", 0)) for host in hosts]
    with _locked(hosts, allocations.MAPPED):
        yield made[0] if len(made) == 1 else made


def open_ipc_array(
    handle: Any, shape: Any, dtype: Any, strides: Any = None, offset: int = 0
) -> Any:
    """Raise: sharing memory between processes needs a GPU."""
    raise errors.TargetError(
        "open_ipc_array: CUDA IPC needs a GPU. On the CPU target share arrays between "
        "processes with multiprocessing.shared_memory."
    )
