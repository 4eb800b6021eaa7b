"""The oracle's versions of primitives: 16-byte accesses element by element, and rounding."""

import functools

import numpy as np

from gpukit.primitives import async_copy, tensor, vectorized


def load4(array, k):  # type: ignore[no-untyped-def]
    return array[4 * k], array[4 * k + 1], array[4 * k + 2], array[4 * k + 3]


def store4(array, k, a, b, c, d):  # type: ignore[no-untyped-def]
    array[4 * k] = a
    array[4 * k + 1] = b
    array[4 * k + 2] = c
    array[4 * k + 3] = d


# Not functions, so that the oracle calls them instead of interpreting them as device functions.
_rounded = functools.partial(tensor.tf32)
_to_bf16 = functools.partial(tensor.bf16)
_from_bf16 = functools.partial(tensor.from_bf16)


def to_tf32(x):  # type: ignore[no-untyped-def]
    return np.float32(_rounded(x))


def to_bf16(x):  # type: ignore[no-untyped-def]
    return np.uint16(_to_bf16(x))


def float_of(bits):  # type: ignore[no-untyped-def]
    if isinstance(bits, np.float16):
        return np.float32(bits)
    return np.float32(_from_bf16(np.uint16(np.uint32(bits) & np.uint32(0xFFFF))))


def copy16(target, k, source, j, inside):  # type: ignore[no-untyped-def]
    each = 16 // target.dtype.itemsize
    for part in range(each):
        target[each * k + part] = source[each * j + part] if inside else 0


PLAIN = {
    getattr(function, "on_cpu", function).py_func: plain
    for function, plain in {
        vectorized.load4: load4,
        vectorized.store4: store4,
        tensor.to_tf32: to_tf32,
        tensor.to_bf16: to_bf16,
        tensor.float_of: float_of,
        async_copy.copy16: copy16,
    }.items()
}
