"""`cuda.reduce`: combine all elements of an array with a function of two arguments."""

from __future__ import annotations

import functools
from typing import Any

from gpukit import errors
from gpukit.cpu import scalar
from gpukit.cpu.arrays import as_cuda_array, is_cuda_array
from gpukit.cpu.contiguity import host_of, is_cuda_ndarray

# Elements are combined in chunks and the chunks' results after that, as blocks of a GPU do:
# sums of many float32 values lose less this way than one after the other.
CHUNK = 1024


@functools.cache
def _loops(functor: Any) -> Any:
    """Compile the reduction for one function."""
    import numba

    combine = scalar.as_njit(functor)

    @numba.njit(nogil=True, error_model="numpy")
    def fold(values, init):  # type: ignore[no-untyped-def]
        acc = init
        for start in range(0, values.size, CHUNK):
            part = values[start]
            for i in range(start + 1, min(start + CHUNK, values.size)):
                part = combine(part, values[i])
            acc = combine(acc, part)
        return acc

    return fold


class Reduce:
    """A reduction made from a function of two values that may be grouped in any order.

    >>> import numpy as np
    >>> add = Reduce(lambda a, b: a + b)
    >>> float(add(np.arange(5.0)))
    10.0
    """

    def __init__(self, functor: Any) -> None:
        self._functor = getattr(functor, "py_func", functor)

    def __call__(
        self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0
    ) -> Any:
        """Reduce the first `size` elements of a 1-D array, starting from `init`.

        With `res`, a device array, the result is written to `res[0]` and None is returned.
        """
        host = as_cuda_array(arr).host if _foreign(arr) else host_of(arr)
        if getattr(host, "ndim", 0) != 1:
            raise TypeError("only support 1D array")
        host = host if size is None else host[:size]
        result = host.dtype.type(init)
        if host.size:
            result = host.dtype.type(_loops(self._functor)(host, result))
        if res is None:
            return result
        if not hasattr(res, "__setitem__"):
            raise errors.ArgumentError(f"Reduce: expected a device array for res, got {res!r}")
        res[0] = result
        return None


def _foreign(arr: Any) -> bool:
    return is_cuda_array(arr) and not is_cuda_ndarray(arr)


reduce = Reduce
