"""What device arrays accept as shape, as index and as value of an assignment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpukit import errors


def checked(index: Any) -> Any:
    """Return an index; raise for those that device arrays lack, such as masks and index arrays."""
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        plain = isinstance(part, (slice, int, np.integer)) or part is Ellipsis
        if not plain or isinstance(part, (bool, np.bool_)):
            raise errors.ArgumentError(
                "DeviceNDArray: expected an index of integers, slices and '...', got "
                f"{type(part).__name__}. Copy the array to the host first, or write a kernel."
            )
    return index


def ints(what: str, value: Any) -> tuple[int, ...]:
    """Return a shape or strides as a tuple of int; raise for anything but integers."""
    if isinstance(value, (int, np.integer)):
        return (int(value),)
    if not isinstance(value, (tuple, list)) and not getattr(value, "ndim", 0):
        raise TypeError(f"{what} must be an integer or tuple of integers, got {value!r}")
    for part in value:
        if not isinstance(part, (int, np.integer)):
            raise TypeError(f"{what} elements must be integers, got {type(part).__name__}")
    return tuple(int(part) for part in value)


def check_assigned(target: NDArray[Any], source: NDArray[Any]) -> None:
    """Raise ValueError if NumPy would not broadcast `source` to `target`."""
    if source.ndim > target.ndim:
        raise ValueError(f"Can't assign {source.ndim}-D array to {target.ndim}-D self")
    first = target.ndim - source.ndim
    for axis, (mine, theirs) in enumerate(
        zip(target.shape[first:], source.shape, strict=True), first
    ):
        if theirs not in (1, mine):
            raise ValueError(
                f"Can't copy sequence with size {theirs} to array axis {axis} with dimension {mine}"
            )
