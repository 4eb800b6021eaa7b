"""Runs of threads in a mask, a byte per thread; a mask of 0 stands for all threads."""

from __future__ import annotations

from gpukit.compiler.runtime.compiled import compiled
from gpukit.compiler.runtime.raw import ALL_SET, first_set, peek, peek8


@compiled
def begin(mask, k, count):  # type: ignore[no-untyped-def]
    """Return the first thread from k on that is in a mask, `count` if there is none."""
    return k if mask == 0 else first_set(mask, k, count)


@compiled
def end(mask, k, count):  # type: ignore[no-untyped-def]
    """Return the first thread from k on that is not in a mask, `count` if there is none."""
    if mask == 0:
        return count
    while k < count and peek8(mask, k) != 0:
        while k + 8 <= count and peek(mask + k, 0) == ALL_SET:
            k += 8
        if k < count and peek8(mask, k) != 0:
            k += 1
    return k


_EVERY_SECOND = 0x0001000100010001
_EVERY_FOURTH = 0x0000000100000001


@compiled
def distance(mask, k, count):  # type: ignore[no-untyped-def]
    """Return how far the next thread in a mask is from thread k, which is in it; 1 for the last."""
    following = begin(mask, k + 1, count)
    return following - k if following < count else 1


@compiled
def length(mask, k, count, apart):  # type: ignore[no-untyped-def]
    """Return how many threads of a mask follow thread k at equal distances, itself included."""
    if apart == 1:
        return end(mask, k, count) - k
    n, last = 1, k
    if apart == 2 or apart == 4 or apart == 8:  # eight flags at a time
        pattern, each = 1, 1
        if apart < 8:
            pattern, each = (_EVERY_SECOND, 4) if apart == 2 else (_EVERY_FOURTH, 2)
        while last + 8 <= count and peek(mask + last, 0) == pattern:
            n, last = n + each, last + 8
        if n > 1:  # what was counted ends before `last`
            n, last = n - 1, last - apart
    while last + apart < count and begin(mask, last + 1, count) == last + apart:
        n, last = n + 1, last + apart
    return n
