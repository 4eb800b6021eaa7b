"""Accesses past the end of a global array of one dimension."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, counts, reals, zeros
from tests.data.bugs.global_races import sum_kernel
from tests.data.bugs.launches import scale_kernel

N = BLOCK - 14

bug(
    scale_kernel,
    "scale_unguarded",
    "out-of-bounds",
    """
Forgets the guard: the block has more threads than the array has elements.
-    if i < out.shape[0]:
-        out[i] = np.float32(2) * x[i]
+    out[i] = np.float32(2) * x[i]  # BUG
""",
)


@cuda.jit
def add_kernel(a, b, out):
    """Guards with <."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[i] + b[i]


correct(add_kernel, lambda: (reals(N), reals(N, seed=8), blank(N)), lambda a, b, out: a + b)
bug(
    add_kernel,
    "add_guarded_to_n",
    "out-of-bounds",
    """
Guards with <= and lets one thread too many through.
-    if i < out.shape[0]:
+    if i <= out.shape[0]:
         out[i] = a[i] + b[i]  # BUG
""",
)


@cuda.jit
def difference_kernel(x, out):
    """Has one output fewer than inputs."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i + 1] - x[i]


correct(difference_kernel, lambda: (reals(N), blank(N - 1)), lambda x, out: np.diff(x))
bug(
    difference_kernel,
    "difference_past_end",
    "out-of-bounds",
    """
Reads the right neighbour of the last element.
-    if i < out.shape[0]:
+    if i < x.shape[0]:
         out[i] = x[i + 1] - x[i]  # BUG
""",
    arguments=lambda: (reals(N), blank(N)),
)


@cuda.jit
def convolve_kernel(x, weight, out):
    """Treats what lies past the end as zero."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        acc = np.float32(0)
        for k in range(weight.shape[0]):
            if i + k < x.shape[0]:
                acc += x[i + k] * weight[k]
        out[i] = acc


correct(
    convolve_kernel,
    lambda: (reals(N), reals(5, seed=3), blank(N)),
    lambda x, weight, out: np.correlate(np.append(x, np.zeros(4)), weight),
)
bug(
    convolve_kernel,
    "convolve_unpadded",
    "out-of-bounds",
    """
Lets the window of the last outputs hang over the end of the input.
-            if i + k < x.shape[0]:
-                acc += x[i + k] * weight[k]
+            acc += x[i + k] * weight[k]  # BUG
""",
)


@cuda.jit
def gather_kernel(table, ids, out):
    """Gives an unknown id the value zero."""
    i = cuda.grid(1)
    if i < ids.shape[0]:
        out[i] = table[ids[i]] if ids[i] < table.shape[0] else np.float32(0)


correct(
    gather_kernel,
    lambda: (reals(10), counts(N, 11), blank(N)),
    lambda table, ids, out: np.append(table, np.float32(0))[ids],
)
bug(
    gather_kernel,
    "gather_unchecked",
    "out-of-bounds",
    """
Trusts the ids: one of them names a row that the table does not have.
-        out[i] = table[ids[i]] if ids[i] < table.shape[0] else np.float32(0)
+        out[i] = table[ids[i]]  # BUG
""",
)


@cuda.jit
def square_kernel(x, out):
    """Guards each of the four elements."""
    first = 4 * cuda.grid(1)
    for k in range(4):
        if first + k < x.shape[0]:
            out[first + k] = x[first + k] * x[first + k]


correct(square_kernel, lambda: (reals(N), blank(N)), lambda x, out: x * x, Launch(1, 16))
bug(
    square_kernel,
    "square_four_each",
    "out-of-bounds",
    """
Does four elements a thread, and guards only the first of them.
-    for k in range(4):
-        if first + k < x.shape[0]:
+    if first < x.shape[0]:
+        for k in range(4):
             out[first + k] = x[first + k] * x[first + k]  # BUG
""",
)


@cuda.jit
def count_kernel(x, hist):
    """Counts the largest value in the last bin."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        b = int(x[i] * np.float32(hist.shape[0]))
        cuda.atomic.add(hist, min(b, hist.shape[0] - 1), 1)


correct(
    count_kernel,
    lambda: (np.linspace(0, 1, N, dtype=np.float32), zeros(8, dtype=np.int32)),
    lambda x, hist: np.histogram(x, 8, (0, 1))[0],
)
bug(
    count_kernel,
    "count_top_bin",
    "out-of-bounds",
    """
Puts the largest value, 1.0, into a bin one past the last.
-        b = int(x[i] * np.float32(hist.shape[0]))
-        cuda.atomic.add(hist, min(b, hist.shape[0] - 1), 1)
+        cuda.atomic.add(hist, int(x[i] * np.float32(hist.shape[0])), 1)  # BUG
""",
)

bug(
    sum_kernel,
    "sum_by_block",
    "out-of-bounds",
    """
Adds to total[blockIdx.x], but there is only one total for all blocks.
-        cuda.atomic.add(total, 0, x[i])
+        cuda.atomic.add(total, cuda.blockIdx.x, x[i])  # BUG
""",
)
