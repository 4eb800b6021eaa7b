"""Answers that depend on which block or thread comes first, with no race to blame: atomics only."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import Launch, bug, correct, counts, reals, zeros

HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


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


correct(
    keep_positive_ordered_kernel,
    lambda: (np.abs(reals(N)), zeros(N), zeros(1, dtype=np.int32)),
    kept,
    TWO,
)
bug(
    keep_positive_ordered_kernel,
    "keep_positive",
    "block-order",
    """
Takes slots in the order in which threads come, so the kept elements change places.
-    slot = 0
-    for k in range(i):
-        if x[k] > np.float32(0):
-            slot += 1
     if x[i] > np.float32(0):
+        slot = cuda.atomic.add(how_many, 0, 1)  # BUG
         kept[slot] = x[i]
-        cuda.atomic.add(how_many, 0, 1)
""",
)


@cuda.jit
def largest_match_kernel(x, wanted, place):
    """Keeps the largest place."""
    i = cuda.grid(1)
    if x[i] == wanted:
        cuda.atomic.max(place, 0, i)


correct(
    largest_match_kernel,
    lambda: (counts(N, 4), 2, np.full(1, -1, np.int64)),
    lambda x, wanted, place: [np.flatnonzero(x == wanted)[-1]],
    TWO,
)
bug(
    largest_match_kernel,
    "last_match",
    "block-order",
    """
Exchanges the place of a match in: the last thread to come wins.
-        cuda.atomic.max(place, 0, i)
+        cuda.atomic.exch(place, 0, i)  # BUG
""",
)


@cuda.jit
def smallest_match_kernel(x, wanted, place):
    """Keeps the smallest place, and starts above every place."""
    i = cuda.grid(1)
    if x[i] == wanted:
        cuda.atomic.min(place, 0, i)


correct(
    smallest_match_kernel,
    lambda: (counts(N, 4), 2, np.full(1, N, np.int64)),
    lambda x, wanted, place: [np.flatnonzero(x == wanted)[0]],
    TWO,
)
bug(
    smallest_match_kernel,
    "first_match",
    "block-order",
    """
Lets the first thread to come claim the cell.
-        cuda.atomic.min(place, 0, i)
+        cuda.atomic.cas(place, 0, -1, i)  # BUG
""",
    arguments=lambda: (counts(N, 4), 2, np.full(1, -1, np.int64)),
)


@cuda.jit
def sums_before_kernel(x, total, before):
    """Adds up the elements before."""
    i = cuda.grid(1)
    acc = 0
    for k in range(i):
        acc += x[k]
    before[i] = acc
    cuda.atomic.add(total, 0, x[i])


correct(
    sums_before_kernel,
    lambda: (counts(N, 50), zeros(1, dtype=np.int32), np.full(N, -1, np.int32)),
    lambda x, total, before: np.cumsum(x) - x,
    TWO,
)
bug(
    sums_before_kernel,
    "running_total",
    "block-order",
    """
Takes what the atomic returns for the sum of all elements before.
-    acc = 0
-    for k in range(i):
-        acc += x[k]
-    before[i] = acc
-    cuda.atomic.add(total, 0, x[i])
+    before[i] = cuda.atomic.add(total, 0, x[i])  # BUG
""",
)


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
        np.repeat(np.arange(8, dtype=np.int32)[::-1], 8),
        np.full(8, -1, np.int32),
        zeros(1, dtype=np.int32),
        np.full(8, -1, np.int32),
    )


correct(
    number_groups_by_key_kernel,
    fresh_groups,
    lambda keys, names, taken, out: ([8], np.arange(8)),
    TWO,
)
bug(
    number_groups_by_key_kernel,
    "number_groups",
    "block-order",
    """
Gives each key the next free number when it is first seen, in whatever order that is.
-    if cuda.atomic.cas(names, key, -1, key) == -1:
-        cuda.atomic.add(taken, 0, 1)
-        out[key] = key
+    if cuda.atomic.cas(names, key, -1, -2) == -1:  # BUG
+        number = cuda.atomic.add(taken, 0, 1)  # BUG
+        cuda.atomic.exch(names, key, number)
+        out[number] = key
""",
)


@cuda.jit
def sum_in_order_kernel(x, total):
    """Adds floats in the order in which they stand."""
    if cuda.grid(1) == 0:
        part = x.dtype.type(0)
        for k in range(x.shape[0]):
            part += x[k]
        total[0] = part


correct(
    sum_in_order_kernel,
    lambda: (reals(N), zeros(1)),
    lambda x, total: x.sum(keepdims=True),
    Launch(1, 1),
)
bug(
    sum_in_order_kernel,
    "sum_in_any_order",
    "not-reproducible",
    """
Adds floats in the order in which threads come, rounding each time.
-    if cuda.grid(1) == 0:
-        part = x.dtype.type(0)
-        for k in range(x.shape[0]):
-            part += x[k]
-        total[0] = part
+    i = cuda.grid(1)
+    cuda.atomic.add(total, 0, x[i])  # BUG
""",
    TWO,
)


@cuda.jit
def weigh_bins_exactly_kernel(keys, weights, bins):
    """Adds weights to bins as whole multiples of 1/1024."""
    i = cuda.grid(1)
    cuda.atomic.add(bins, keys[i], np.int32(weights[i] * np.float32(1024)))


correct(
    weigh_bins_exactly_kernel,
    lambda: (counts(N, 8), reals(N), zeros(8, dtype=np.int32)),
    lambda keys, weights, bins: np.bincount(keys, np.trunc(weights * 1024), 8),
    TWO,
)
bug(
    weigh_bins_exactly_kernel,
    "weigh_bins",
    "not-reproducible",
    """
Adds weights to bins as floats.
-    cuda.atomic.add(bins, keys[i], np.int32(weights[i] * np.float32(1024)))
+    cuda.atomic.add(bins, keys[i], weights[i])  # BUG
""",
    arguments=lambda: (counts(N, 8), reals(N), zeros(8)),
)
