"""Device arrays of the CPU target: ordinary host memory with the interface of device memory.

They keep what matters for learning: the host sees results only after a copy, slices are views,
and what a GPU rejects is rejected here too. Attribute `host` is the NumPy array underneath.
"""

from __future__ import annotations

import copy as shallow
import ctypes
import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukit import errors
from gpukit.cpu import operations, streams
from gpukit.cpu.memory import allocations, indices, uninitialised
from gpukit.cpu.memory.contiguity import (
    array_core,
    check_array_compatibility,
    host_of,
    is_contiguous,
    is_cuda_ndarray,
    sentry_contiguous,
)
from gpukit.cpu.memory.layout import Layout, layout_of

Array = NDArray[Any]

_COPYING = "operation requires copying"


class DeviceMemory:
    """What all kinds of device arrays have in common; a subclass has a `host`."""

    __cuda_memory__ = True
    __cuda_ndarray__ = True

    host: Array
    stream: Any

    @property
    def gpu_data(self) -> allocations.Memory:
        """The memory of this array, for host code that uses the driver interface."""
        return allocations.Memory(self.host)

    @property
    def alloc_size(self) -> int:
        """The bytes from the first to the last element."""
        if not self.host.size:
            return 0
        return sum(allocations.span(self.host.shape, self.host.strides, self.host.itemsize))

    @property
    def device_ctypes_pointer(self) -> ctypes.c_size_t:
        """The address of the first element, 0 for an empty array."""
        return ctypes.c_size_t(self.host.ctypes.data if self.host.size else 0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        contiguous = is_contiguous(self.host)
        address = self.host.__array_interface__["data"][0] if self.host.size else 0
        return {
            "shape": self.host.shape,
            "strides": None if contiguous else self.host.strides,
            "data": (address, False),
            "typestr": self.host.dtype.str,
            "stream": int(self.stream) if self.stream else None,
            "version": 3,
        }

    @property
    def _numba_type_(self) -> Any:
        from numba.core import types
        from numba.np.numpy_support import from_dtype

        flags, broadcast = self.host.flags, 0 in self.host.strides and self.host.size != 0
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        order: Any = "A" if broadcast else layout
        return types.Array(from_dtype(self.host.dtype), self.host.ndim, order)

    def is_c_contiguous(self) -> bool:
        """Tell whether the array is in C order."""
        return bool(self.host.flags.c_contiguous)

    def is_f_contiguous(self) -> bool:
        """Tell whether the array is in Fortran order."""
        return bool(self.host.flags.f_contiguous)

    def bind(self, stream: Any = 0) -> Any:
        """Return the same array with `stream` as its default stream."""
        clone = shallow.copy(self) if not isinstance(self, np.ndarray) else self.view()
        clone.stream = stream
        return clone

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Copy the host or device array `ary` into this one."""
        if ary.size == 0:
            return
        sentry_contiguous(self.host)
        source, mine = host_of(ary), array_core(self.host)
        core = array_core(source)
        if is_cuda_ndarray(ary):
            sentry_contiguous(source)
        else:
            order = "C" if mine.flags.c_contiguous else "F"
            core = np.asarray(core, order=order)  # type: ignore[call-overload]
        check_array_compatibility(mine, core)
        operations.copied(mine, core, stream or self.stream, source)
        np.copyto(mine, core)
        uninitialised.touch(mine)

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        """Copy this array into `ary`, or into a new NumPy array; return the host array."""
        if any(stride < 0 for stride in self.host.strides):
            raise NotImplementedError(
                f"D->H copy not implemented for negative strides: {self.host.strides}"
            )
        if ary is None:
            made = np.array(self.host, order="K", copy=True, subok=False)
            operations.copied(made, self.host, stream or self.stream, self.host)
            return made
        check_array_compatibility(self.host, ary)
        operations.copied(ary, self.host, stream or self.stream, self.host)
        np.copyto(np.asarray(ary), self.host.reshape(ary.shape))
        return ary

    def get_ipc_handle(self) -> Any:
        """Raise: sharing memory between processes needs a GPU."""
        raise errors.TargetError(
            "get_ipc_handle: CUDA IPC needs a GPU. On the CPU target share arrays between "
            "processes with multiprocessing.shared_memory."
        )


class DeviceRecord(DeviceMemory):
    """One record of a structured dtype in device memory."""

    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    ndim = 0
    size = 1

    def __init__(self, dtype: Any, stream: Any = 0, gpu_data: Any = None) -> None:
        self.dtype = np.dtype(dtype)
        self.stream = stream
        if gpu_data is None:
            self.host = allocations.empty((), self.dtype)
        else:
            self.host = host_of(gpu_data)

    @property
    def flags(self) -> dict[str, bool]:
        return {"C_CONTIGUOUS": True, "F_CONTIGUOUS": True}

    @property
    def _numba_type_(self) -> Any:
        from numba.np.numpy_support import from_dtype

        return from_dtype(self.dtype)

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        """Copy this record into the record `ary`, or into a new array; return the host's."""
        if ary is None or isinstance(ary, np.ndarray):
            return super().copy_to_host(ary, stream)
        check_array_compatibility(self.host, np.asarray(ary))
        for name in self.dtype.names or ():
            ary[name] = self.host[name]
        return ary

    def getitem(self, item: str, stream: Any = 0) -> Any:
        """Return a field: a host scalar, or a view where the field has parts."""
        return _wrap(self.host[item], stream or self.stream)

    def __getitem__(self, item: str) -> Any:
        return self.getitem(item)

    def setitem(self, key: str, value: Any, stream: Any = 0) -> None:
        """Set a field."""
        source = host_of(value)
        operations.assigned(self.host[key], source, stream or self.stream)
        self.host[key] = source
        if not (stream or self.stream):
            streams.default_stream().synchronize()

    def __setitem__(self, key: str, value: Any) -> None:
        self.setitem(key, value)


def _wrap(part: Any, stream: Any) -> Any:
    """Turn a part of a host array into a device array, a record, or a host scalar."""
    if part.dtype.names is not None and part.shape == ():
        return DeviceRecord(part.dtype, stream, part)
    if part.shape == ():
        operations.copied(np.empty((), part.dtype), part, stream, part)
        return part[()]
    return DeviceNDArray.around(part, stream)


class DeviceNDArray(DeviceMemory):
    """An array in device memory. Copies, slices and kernels access its elements."""

    def __init__(
        self, shape: Any, strides: Any, dtype: Any, stream: Any = 0, gpu_data: Any = None
    ) -> None:
        shape = indices.ints("shape", shape)
        strides = indices.ints("strides", strides)
        if len(strides) != len(shape):
            raise ValueError("strides not match ndim")
        self.stream = stream
        if gpu_data is None:
            self.host = allocations.empty(shape, np.dtype(dtype), strides)
        else:
            self.host = np.ndarray(shape, dtype, gpu_data, strides=strides)

    @classmethod
    def around(cls, host: Array, stream: Any = 0) -> DeviceNDArray:
        """Return a device array over `host`: the same memory, not a copy."""
        array = cls.__new__(cls)
        array.host, array.stream = host, stream
        return array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.host.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return self.host.strides

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.host.dtype

    @property
    def ndim(self) -> int:
        return self.host.ndim

    @property
    def size(self) -> int:
        return self.host.size

    @property
    def nbytes(self) -> int:
        return self.host.nbytes

    @functools.cached_property
    def layout(self) -> Layout:
        """The layout of this array that launches pass to kernels."""
        return layout_of(self.host)

    def __getstate__(self) -> dict[str, Any]:
        # A copy has another address: it must not take over the layout or the views.
        return {"host": self.host, "stream": self.stream}

    @property
    def flags(self) -> dict[str, bool]:
        return {name: self.host.flags[name] for name in ("C_CONTIGUOUS", "F_CONTIGUOUS")}

    def __getattr__(self, name: str) -> Any:
        # Only reached for names that a device array lacks.
        message = f"'DeviceNDArray' object has no attribute {name!r}"
        if not name.startswith("_") and hasattr(np.ndarray, name):
            message += ". It is device memory: call copy_to_host() first, or write a kernel."
        raise AttributeError(message)

    def __repr__(self) -> str:
        return f"<DeviceNDArray shape={self.shape} dtype={self.dtype}>"

    def __len__(self) -> int:
        return len(self.host)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("`copy=False` is not supported. A copy is always created.")
        host: Array = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    @property
    def T(self) -> DeviceNDArray:
        return self.transpose()

    def transpose(self, axes: Sequence[int] | None = None) -> DeviceNDArray:
        """Return a transposed copy of a 2-D array, in C order."""
        if axes and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NotImplementedError("transposing a non-2D DeviceNDArray isn't supported")
        if axes is not None and set(axes) != {0, 1}:
            raise ValueError(f"invalid axes list {axes!r}")
        result = allocations.empty(self.shape[::-1], self.dtype)
        np.copyto(result, self.host.T)
        return self.around(result, self.stream)

    def _same_memory(self, host: Array, stream: Any = 0) -> DeviceNDArray:
        if self.size and not np.may_share_memory(host, self.host):
            raise NotImplementedError(_COPYING)
        return self.around(host, stream)

    def reshape(self, *newshape: Any, order: Any = "C") -> DeviceNDArray:
        """Return a view with another shape; never copies. Returns the same view each time."""
        shape = newshape[0] if len(newshape) == 1 else newshape
        if not isinstance(shape, tuple):
            shape = tuple(shape) if np.iterable(shape) else (shape,)
        view = self._reshaped.get((shape, order))
        if view is None:
            view = self._same_memory(self.host.reshape(shape, order=order))
            self._reshaped[shape, order] = view
        return view

    @functools.cached_property
    def _reshaped(self) -> dict[Any, DeviceNDArray]:
        return {}

    def ravel(self, order: Any = "C", stream: Any = 0) -> DeviceNDArray:
        """Return a flat view of a contiguous array; never copies."""
        if not (self.is_c_contiguous() or self.is_f_contiguous()):
            raise NotImplementedError(_COPYING)
        return self._same_memory(self.host.ravel(order=order), stream or self.stream)

    def squeeze(self, axis: Any = None, stream: Any = 0) -> DeviceNDArray:
        """Return a view without the axes of length 1."""
        return self.around(self.host.squeeze(axis), stream or self.stream)

    def view(self, dtype: Any) -> DeviceNDArray:
        """Return the same bytes read as another dtype."""
        if self.dtype.itemsize != np.dtype(dtype).itemsize and not self.is_c_contiguous():
            raise ValueError(
                "To change to a dtype of a different size, the array must be C-contiguous"
            )
        return self.around(self.host.view(dtype), self.stream)

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceNDArray]:
        """Split a 1-D array into views of `section` elements, the last one maybe shorter."""
        if self.ndim != 1:
            raise ValueError("only support 1d array")
        if self.strides[0] != self.dtype.itemsize:
            raise ValueError("only support unit stride")
        for part in range(math.ceil(self.size / section)):
            piece = self.host[part * section : (part + 1) * section]
            yield self.around(piece, stream or self.stream)

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        """Return one element as a host scalar, or a view."""
        part = self.host[indices.checked(item)]
        if isinstance(part, np.ndarray):
            return self.around(part, stream or self.stream)
        if isinstance(part, np.void):
            index = item if isinstance(item, tuple) else (item,)
            return DeviceRecord(self.dtype, stream or self.stream, self.host[(*index, ...)])
        if operations.observer() is not None:
            index = item if isinstance(item, tuple) else (item,)
            element = self.host[(*index, ...)]
            host = np.empty((), element.dtype)
            operations.copied(host, element, stream or self.stream, element)
        return part

    def __getitem__(self, item: Any) -> Any:
        return self.getitem(item)

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        """Assign to an element or a slice, with NumPy's broadcasting."""
        target = self.host[(*key, ...) if isinstance(key, tuple) else (indices.checked(key), ...)]
        given = host_of(value)
        source = np.asarray(given)
        indices.check_assigned(target, source)
        operations.assigned(target, given, stream or self.stream)
        target[...] = source
        uninitialised.touch(target)
        if not (stream or self.stream):
            streams.default_stream().synchronize()

    def __setitem__(self, key: Any, value: Any) -> None:
        self.setitem(key, value)


class _HostAndDevice(DeviceMemory, np.ndarray):
    """An array that both host and device access: a NumPy array that is device memory too."""

    def __array_finalize__(self, obj: Any) -> None:
        self.stream = getattr(obj, "stream", 0)

    @property
    def host(self) -> Array:  # type: ignore[override]
        return self.view(np.ndarray)


class MappedNDArray(_HostAndDevice):
    """A host array that is mapped into device memory."""


class ManagedNDArray(_HostAndDevice):
    """An array whose memory migrates between host and device by itself."""
