"""`cuda.reduce`: combine all elements of an array with a function of two arguments."""

from __future__ import annotations

from typing import Any

from gpukit import errors
from gpukit.compiler import intrinsics
from gpukit.cpu.device_function import DeviceFunction
from gpukit.cpu.dispatcher import jit
from gpukit.cpu.memory import allocations
from gpukit.cpu.memory.arrays import as_cuda_array, is_cuda_array
from gpukit.cpu.memory.contiguity import host_of, is_cuda_ndarray
from gpukit.cpu.memory.ndarray import DeviceNDArray

# Elements are combined in chunks and then the chunks' results, as blocks of a GPU do: sums of
# many float32 values lose less precision this way than one after the other.
CHUNK = 1024
_BLOCK = 32
cuda: Any = intrinsics


def _kernels(functor: Any) -> tuple[Any, Any]:
    """Return the kernels of a reduction: each thread combines a chunk, one thread the chunks."""
    combine = DeviceFunction(functor, [], {})

    @jit
    def reduce_chunks(arr, parts):  # type: ignore[no-untyped-def]
        chunk = cuda.grid(1)
        if chunk < parts.shape[0]:
            start = chunk * CHUNK
            part = arr[start]
            for i in range(start + 1, min(start + CHUNK, arr.shape[0])):
                part = combine(part, arr[i])
            parts[chunk] = part

    @jit
    def reduce_parts(parts, res):  # type: ignore[no-untyped-def]
        if cuda.grid(1) == 0:
            for i in range(parts.shape[0]):
                res[0] = combine(res[0], parts[i])

    for kernel in (reduce_chunks, reduce_parts):
        kernel.py_func.stands_for = functor  # in messages and profiles
    return reduce_chunks, reduce_parts


class Reduce:
    """A reduction with an associative function of two values.

    >>> import numpy as np
    >>> add = Reduce(lambda a, b: a + b)
    >>> float(add(np.arange(5.0)))
    10.0
    """

    def __init__(self, functor: Any) -> None:
        self._chunks, self._parts = _kernels(getattr(functor, "py_func", functor))

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
        total = DeviceNDArray.around(allocations.empty((1,), host.dtype))
        total.host[0] = init
        if host.size:
            parts = allocations.empty((-(-host.size // CHUNK),), host.dtype)
            self._chunks[-(-parts.size // _BLOCK), _BLOCK, stream](host, parts)
            self._parts[1, 1, stream](parts, total)
        if res is None:
            return total[0]
        if not hasattr(res, "__setitem__"):
            raise errors.ArgumentError(f"Reduce: expected a device array for res, got {res!r}")
        if is_cuda_ndarray(res):
            res[:1].copy_to_device(total, stream)
        else:
            res[0] = total[0]
        return None


def _foreign(arr: Any) -> bool:
    return is_cuda_array(arr) and not is_cuda_ndarray(arr)


reduce = Reduce
