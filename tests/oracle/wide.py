"""Four elements at once, an element at a time: what `gpukit.wide` means to the oracle."""

from __future__ import annotations

from gpukit import wide


def load4(array, k):  # type: ignore[no-untyped-def]
    return array[4 * k], array[4 * k + 1], array[4 * k + 2], array[4 * k + 3]


def store4(array, k, a, b, c, d):  # type: ignore[no-untyped-def]
    array[4 * k] = a
    array[4 * k + 1] = b
    array[4 * k + 2] = c
    array[4 * k + 3] = d


PLAIN = {wide.load4.py_func: load4, wide.store4.py_func: store4}
