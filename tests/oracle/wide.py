"""What `gpukit.wide` and `gpukit.tensor` mean to the oracle: elements at a time, and rounding."""

from __future__ import annotations

import functools

import numpy as np

from gpukit import tensor, wide


def load4(array, k):  # type: ignore[no-untyped-def]
    return array[4 * k], array[4 * k + 1], array[4 * k + 2], array[4 * k + 3]


def store4(array, k, a, b, c, d):  # type: ignore[no-untyped-def]
    array[4 * k] = a
    array[4 * k + 1] = b
    array[4 * k + 2] = c
    array[4 * k + 3] = d


# Not a function, so that the oracle calls it instead of running it as a thread would.
_rounded = functools.partial(tensor.tf32)


def to_tf32(x):  # type: ignore[no-untyped-def]
    return np.float32(_rounded(x))


PLAIN = {
    wide.load4.py_func: load4,
    wide.store4.py_func: store4,
    tensor.to_tf32.py_func: to_tf32,
}
