"""Checks of copies to and from a device array: contiguous memory of the same shape and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

errmsg_contiguous_buffer = (
    "Array contains non-contiguous buffer and cannot be transferred as a single memory region. "
    "Please ensure contiguous buffer with numpy .ascontiguousarray()"
)


def array_core(ary: Any) -> Any:
    """Return the array without its repeated (stride 0) axes, as broadcasting makes them."""
    if not ary.strides or not ary.size:
        return ary
    core = tuple(0 if stride == 0 else slice(None) for stride in ary.strides)
    return ary[(*core, ...)]  # the ellipsis keeps an array where no axis is left


def is_contiguous(ary: Any) -> bool:
    """Tell whether the array is in C order, repeated axes and axes of length 1 aside."""
    step = ary.dtype.itemsize
    for length, stride in zip(reversed(ary.shape), reversed(ary.strides), strict=True):
        if length > 1 and stride != 0:
            if step != stride:
                return False
            step *= length
    return True


def sentry_contiguous(ary: Any) -> None:
    """Raise for memory that is not contiguous: a GPU copies contiguous regions."""
    flags = array_core(ary).flags
    if not flags["C_CONTIGUOUS"] and not flags["F_CONTIGUOUS"]:
        raise ValueError(errmsg_contiguous_buffer)


def check_array_compatibility(ary1: Any, ary2: Any) -> None:
    """Raise for a copy between arrays of different types, shapes or memory order."""
    one, two = ary1.squeeze(), ary2.squeeze()
    if ary1.dtype != ary2.dtype:
        raise TypeError(f"incompatible dtype: {ary1.dtype} vs. {ary2.dtype}")
    if one.shape != two.shape:
        raise ValueError(f"incompatible shape: {ary1.shape} vs. {ary2.shape}")
    if ary1.size and one.strides != two.strides:
        raise ValueError(f"incompatible strides: {ary1.strides} vs. {ary2.strides}")


def is_cuda_ndarray(obj: Any) -> bool:
    """Tell whether `obj` is a device array of this target."""
    return bool(getattr(obj, "__cuda_ndarray__", False))


def require_cuda_ndarray(obj: Any) -> None:
    """Raise for anything but a device array of this target."""
    if not is_cuda_ndarray(obj):
        raise ValueError("require an cuda ndarray object")


def verify_cuda_ndarray_interface(obj: Any) -> None:
    """Raise for an object that lacks what a device array must have."""
    require_cuda_ndarray(obj)
    kinds = {"shape": tuple, "strides": tuple, "dtype": np.dtype, "size": int}
    for name, kind in kinds.items():
        if not isinstance(getattr(obj, name), kind):
            raise AttributeError(f"{name} must be of type {kind}")


def host_of(obj: Any) -> Any:
    """Return the NumPy array under a device array; anything else is returned as it is."""
    return obj.host if is_cuda_ndarray(obj) else obj
