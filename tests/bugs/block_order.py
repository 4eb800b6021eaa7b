"""Answers that depend on which block or thread comes first, with no race to blame: atomics only."""

import numpy as np

from gpukit import cuda
from tests.bugs.case import Launch, case, counts, reals, zeros

HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


@cuda.jit
def keep_positive_kernel(x, kept, how_many):
    """Takes slots in the order in which threads come, so the kept elements change places."""
    i = cuda.grid(1)
    if x[i] > np.float32(0):
        slot = cuda.atomic.add(how_many, 0, 1)  # BUG
        kept[slot] = x[i]


@cuda.jit
def keep_positive_ordered_kernel(x, kept, how_many):
    """Counts the kept elements before each one."""
    i = cuda.grid(1)
    slot = 0
    for k in range(i):
        if x[k] > np.float32(0):
            slot += 1
    if x[i] > np.float32(0):
        kept[slot] = x[i]
        cuda.atomic.add(how_many, 0, 1)


def kept(x, kept, how_many):
    return x, [N]


case(
    keep_positive_kernel, keep_positive_ordered_kernel, "block-order", TWO,
    arguments=lambda: (np.abs(reals(N)), zeros(N), zeros(1, dtype=np.int32)),
    expected=kept,
)  # fmt: skip


@cuda.jit
def last_match_kernel(x, wanted, place):
    """Exchanges the place of a match in: the last thread to come wins."""
    i = cuda.grid(1)
    if x[i] == wanted:
        cuda.atomic.exch(place, 0, i)  # BUG


@cuda.jit
def largest_match_kernel(x, wanted, place):
    """Keeps the largest place."""
    i = cuda.grid(1)
    if x[i] == wanted:
        cuda.atomic.max(place, 0, i)


case(
    last_match_kernel, largest_match_kernel, "block-order", TWO,
    arguments=lambda: (counts(N, 4), 2, np.full(1, -1, np.int64)),
    expected=lambda x, wanted, place: [np.flatnonzero(x == wanted)[-1]],
)  # fmt: skip


@cuda.jit
def first_match_kernel(x, wanted, place):
    """Lets the first thread to come claim the cell."""
    i = cuda.grid(1)
    if x[i] == wanted:
        cuda.atomic.cas(place, 0, -1, i)  # BUG


@cuda.jit
def smallest_match_kernel(x, wanted, place):
    """Keeps the smallest place, and starts above every place."""
    i = cuda.grid(1)
    if x[i] == wanted:
        cuda.atomic.min(place, 0, i)


case(
    first_match_kernel, smallest_match_kernel, "block-order", TWO,
    arguments=lambda: (counts(N, 4), 2, np.full(1, -1, np.int64)),
    fixed_arguments=lambda: (counts(N, 4), 2, np.full(1, N, np.int64)),
    expected=lambda x, wanted, place: [np.flatnonzero(x == wanted)[0]],
)  # fmt: skip


@cuda.jit
def running_total_kernel(x, total, before):
    """Takes what the atomic returns for the sum of all elements before."""
    i = cuda.grid(1)
    before[i] = cuda.atomic.add(total, 0, x[i])  # BUG


@cuda.jit
def sums_before_kernel(x, total, before):
    """Adds up the elements before."""
    i = cuda.grid(1)
    acc = 0
    for k in range(i):
        acc += x[k]
    before[i] = acc
    cuda.atomic.add(total, 0, x[i])


case(
    running_total_kernel, sums_before_kernel, "block-order", TWO,
    arguments=lambda: (
        counts(N, 50), zeros(1, dtype=np.int32), np.full(N, -1, np.int32)
    ),
    expected=lambda x, total, before: np.cumsum(x) - x,
)  # fmt: skip


@cuda.jit
def number_groups_kernel(keys, names, taken, out):
    """Gives each key the next free number when it is first seen, in whatever order that is."""
    i = cuda.grid(1)
    key = keys[i]
    if cuda.atomic.cas(names, key, -1, -2) == -1:  # BUG
        number = cuda.atomic.add(taken, 0, 1)  # BUG
        cuda.atomic.exch(names, key, number)
        out[number] = key


@cuda.jit
def number_groups_by_key_kernel(keys, names, taken, out):
    """Numbers the keys by their size."""
    i = cuda.grid(1)
    key = keys[i]
    if cuda.atomic.cas(names, key, -1, key) == -1:
        cuda.atomic.add(taken, 0, 1)
        out[key] = key


def fresh_groups():
    return (
        np.repeat(np.arange(8, dtype=np.int32)[::-1], 8), np.full(8, -1, np.int32),
        zeros(1, dtype=np.int32), np.full(8, -1, np.int32),
    )  # fmt: skip


case(
    number_groups_kernel, number_groups_by_key_kernel, "block-order", TWO,
    arguments=fresh_groups,
    expected=lambda keys, names, taken, out: ([8], np.arange(8)),
)  # fmt: skip


@cuda.jit
def sum_in_any_order_kernel(x, total):
    """Adds floats in the order in which threads come, rounding each time."""
    i = cuda.grid(1)
    cuda.atomic.add(total, 0, x[i])  # BUG


@cuda.jit
def sum_in_order_kernel(x, total):
    """Adds floats in the order in which they stand."""
    if cuda.grid(1) == 0:
        part = x.dtype.type(0)
        for k in range(x.shape[0]):
            part += x[k]
        total[0] = part


case(
    sum_in_any_order_kernel, sum_in_order_kernel, "not-reproducible", TWO,
    fixed_launch=Launch(1, 1), arguments=lambda: (reals(N), zeros(1)),
    expected=lambda x, total: x.sum(keepdims=True),
)  # fmt: skip


@cuda.jit
def weigh_bins_kernel(keys, weights, bins):
    """Adds weights to bins as floats."""
    i = cuda.grid(1)
    cuda.atomic.add(bins, keys[i], weights[i])  # BUG


@cuda.jit
def weigh_bins_exactly_kernel(keys, weights, bins):
    """Adds weights to bins as whole multiples of 1/1024."""
    i = cuda.grid(1)
    cuda.atomic.add(bins, keys[i], np.int32(weights[i] * np.float32(1024)))


case(
    weigh_bins_kernel, weigh_bins_exactly_kernel, "not-reproducible", TWO,
    arguments=lambda: (counts(N, 8), reals(N), zeros(8)),
    fixed_arguments=lambda: (counts(N, 8), reals(N), zeros(8, dtype=np.int32)),
    expected=lambda keys, weights, bins: np.bincount(keys, np.trunc(weights * 1024), 8),
)  # fmt: skip
