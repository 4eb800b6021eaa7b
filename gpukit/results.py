"""Where the result of a host function goes: the caller's `out`, or a new array."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import launch, target, workspace


class Result:
    """Where a host function's result goes: the caller's `out`, or a new array.

    A new array lies where the inputs lie: with a device array among them it is one, and nothing
    is copied or waited for; else it is a NumPy array. It is made when it is first asked for. Raises
    TypeError or ValueError, in the words of `function`, for an `out` that cannot take the result,
    or that lies on the memory of one of the `inputs` but for those that are `in_place`.
    """

    def __init__(
        self,
        function: str,
        out: Any,
        shape: tuple[int, ...],
        dtype: npt.DTypeLike,
        inputs: Mapping[str, Any] | None = None,
        *,
        in_place: bool | Collection[str] = False,
        stream: Any = 0,
    ) -> None:
        self.function, self.out, self.stream = function, out, stream
        self.shape, self.dtype, self.inputs = shape, np.dtype(dtype), inputs or {}
        self._host: Any = None
        self._array: Any = None
        if out is not None:
            given = launch.as_array(out)
            _check_out(function, given, shape, self.dtype)
            for name, array in self.inputs.items():
                own = in_place if isinstance(in_place, bool) else name in in_place
                check_no_overlap(function, given, in_place=own, **{name: array})
            self._place(given)

    @property
    def array(self) -> Any:
        """The array that the kernel writes."""
        if self._array is None:
            stays = not all(isinstance(array, np.ndarray) for array in self.inputs.values())
            self._place(workspace.take(self.shape, self.dtype, on_device=stays))
        return self._array

    def _place(self, given: Any) -> None:
        """Have the result end in an array; one of the host has a twin on a GPU."""
        self._host = given if isinstance(given, np.ndarray) else None
        moves = self._host is not None and target.active().name == "cuda"
        self._array = workspace.take(self.shape, self.dtype, on_device=True) if moves else given

    def flat(self) -> Any:
        """Return the array on one axis, in C order, for a kernel that takes it so.

        An `out` of NumPy that is not contiguous cannot be seen so: the kernel gets another array,
        and `get` brings the elements over.
        """
        array, host = self.array, self._host
        if array is host and not host.flags.c_contiguous:
            array = self._array = np.empty(host.shape, host.dtype)
        return launch.flatten(self.function, "out", array)

    def get(self) -> Any:
        """Return the result once the kernel is launched: `out` itself where it was given."""
        array, host = self.array, self._host
        if host is not None and array is not host:
            ours = isinstance(array, np.ndarray)
            host[...] = array if ours else array.copy_to_host(stream=self.stream)
        if self.out is not None:
            return self.out
        return array if host is None else host


def _check_out(function: str, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    launch.check_array(function, "out", out, ndim=len(shape), dtypes=(dtype.type,))
    advice = f"Make it with np.empty({shape}, np.{dtype.type.__name__})."
    launch.check_shape(function, "out", out, shape, advice)
    launch.check_writeable(function, "out", out)


def check_outs(function: str, out: Any, count: int) -> tuple[Any, ...]:
    """Return the `out` of each of several results, all None for None; raise if one is missing."""
    outs = (None,) * count if out is None else out
    if not isinstance(outs, tuple | list) or len(outs) != count:
        found = f"{len(outs)} of them" if isinstance(outs, tuple | list) else type(out).__name__
        raise TypeError(
            f"{function}: expected out to be a tuple of {count} arrays, got {found}. "
            "Give one for each gradient, or None."
        )
    return tuple(outs)


def check_no_overlap(function: str, out: Any, *, in_place: bool = False, **inputs: Any) -> None:
    """Raise ValueError if `out` may lie on the memory of an input: threads would read results.

    None for `out` lies nowhere. What counts is the stretch from the first byte to the last. With
    `in_place`, where each thread reads only what it writes, `out` may be an input, element on
    element.
    """
    if out is None:
        return
    given = launch.as_array(out)
    begin, end = _stretch(given)
    for name, array in inputs.items():
        first, last = _stretch(array)
        if first >= end or begin >= last:
            continue
        same = (first, last, tuple(array.strides)) == (begin, end, tuple(given.strides))
        if not (in_place and same):
            raise ValueError(
                f"{function}: expected out to lie apart from {name}, got one on the memory of the "
                "other. Leave out away, or pass another array."
            )


def _stretch(array: Any) -> tuple[int, int]:
    """Return the addresses of the first byte of an array and of the byte after its last."""
    if not array.size:
        return 0, 0
    if layout := getattr(array, "layout", None):  # a device array of the CPU target knows it
        return layout.covers  # type: ignore[no-any-return]
    on_device = launch.is_device_array(array)
    known = array.__cuda_array_interface__ if on_device else array.__array_interface__
    steps = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    begin = known["data"][0]
    return (
        begin + sum(step for step in steps if step < 0),
        begin + sum(step for step in steps if step > 0) + array.dtype.itemsize,
    )
