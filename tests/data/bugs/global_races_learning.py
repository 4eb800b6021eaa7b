"""Races in global memory in the training of networks: gradients that many threads add to."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import Launch, bug, correct, counts, reals, zeros

TILE = 8
HALF = 32
N = 2 * HALF
TWO = Launch(2, HALF)


@cuda.jit
def bias_gradient_kernel(dy, db):
    """Gives each column to one thread."""
    col, row = cuda.grid(2)
    if row == 0 and col < dy.shape[1]:
        acc = np.float32(0)
        for k in range(dy.shape[0]):
            acc += dy[k, col]
        db[col] = acc


correct(
    bias_gradient_kernel,
    lambda: (reals(2 * TILE, TILE), zeros(TILE)),
    lambda dy, db: dy.sum(0),
    Launch((1, 1), (TILE, TILE)),
)
bug(
    bias_gradient_kernel,
    "bias_gradient_plain",
    "global-race",
    """
Adds a column's gradients with one thread an element, all into one cell.
-    if row == 0 and col < dy.shape[1]:
-        acc = np.float32(0)
-        for k in range(dy.shape[0]):
-            acc += dy[k, col]
-        db[col] = acc
+    if row < dy.shape[0] and col < dy.shape[1]:
+        db[col] += dy[row, col]  # BUG
""",
    Launch((1, 2), (TILE, TILE)),
)


@cuda.jit
def weight_gradient_kernel(x, dy, dw):
    """Shares the weights between threads, each of which adds up the batch."""
    j = cuda.grid(1)
    if j < x.shape[1]:
        acc = np.float32(0)
        for sample in range(x.shape[0]):
            acc += dy[sample] * x[sample, j]
        dw[j] = acc


correct(
    weight_gradient_kernel,
    lambda: (reals(N, 5), reals(N, seed=8), zeros(5)),
    lambda x, dy, dw: dy @ x,
    Launch(1, HALF),
)
bug(
    weight_gradient_kernel,
    "weight_gradient_plain",
    "global-race",
    """
Shares the batch between threads, which all add to the same weights.
-    j = cuda.grid(1)
-    if j < x.shape[1]:
-        acc = np.float32(0)
-        for sample in range(x.shape[0]):
-            acc += dy[sample] * x[sample, j]
-        dw[j] = acc
+    sample = cuda.grid(1)
+    if sample < x.shape[0]:
+        for j in range(x.shape[1]):
+            dw[j] += dy[sample] * x[sample, j]  # BUG
""",
    TWO,
)


@cuda.jit
def embedding_gradient_kernel(ids, dy, dtable):
    """Scatters with an atomic."""
    i = cuda.grid(1)
    if i < ids.shape[0]:
        cuda.atomic.add(dtable, ids[i], dy[i])


correct(
    embedding_gradient_kernel,
    lambda: (counts(N, 10), counts(N, 50, seed=8), zeros(10, dtype=np.int32)),
    lambda ids, dy, dtable: np.bincount(ids, dy, 10),
    TWO,
)
bug(
    embedding_gradient_kernel,
    "embedding_gradient_plain",
    "global-race",
    """
Scatters gradients to the rows of a table; two samples may name one row.
-        cuda.atomic.add(dtable, ids[i], dy[i])
+        dtable[ids[i]] = dtable[ids[i]] + dy[i]  # BUG
""",
)


@cuda.jit
def pool_gradient_kernel(best, dy, dx):
    """Asks from the input's side which windows chose it."""
    j = cuda.grid(1)
    if j < dx.shape[0]:
        acc = 0
        for offset in range(3):
            i = j - offset
            if 0 <= i < dy.shape[0] and best[i] == offset:
                acc += dy[i]
        dx[j] = acc


def pool_gradient(best, dy, dx):
    np.add.at(dx, np.arange(N - 2) + best, dy)
    return dx


correct(
    pool_gradient_kernel,
    lambda: (
        2 - (np.arange(N - 2, dtype=np.int32) + 2) % 3,
        counts(N - 2, 50),
        zeros(N, dtype=np.int32),
    ),
    pool_gradient,
    TWO,
)
bug(
    pool_gradient_kernel,
    "pool_gradient_overlap",
    "global-race",
    """
Adds to the input of overlapping pooling windows, as if each had its own input.
-    j = cuda.grid(1)
-    if j < dx.shape[0]:
-        acc = 0
-        for offset in range(3):
-            i = j - offset
-            if 0 <= i < dy.shape[0] and best[i] == offset:
-                acc += dy[i]
-        dx[j] = acc
+    i = cuda.grid(1)
+    if i < dy.shape[0]:
+        dx[i + best[i]] += dy[i]  # BUG
""",
)


@cuda.jit
def batch_step_kernel(x, error, rate, w):
    """Gives each weight to one thread, which steps once for the whole batch."""
    j = cuda.grid(1)
    if j < w.shape[0]:
        acc = np.float32(0)
        for sample in range(x.shape[0]):
            acc += error[sample] * x[sample, j]
        w[j] -= rate * acc


correct(
    batch_step_kernel,
    lambda: (reals(N, 4), reals(N, seed=8), np.float32(0.01), reals(4, seed=9)),
    lambda x, error, rate, w: w - rate * (error @ x),
    Launch(1, HALF),
)
bug(
    batch_step_kernel,
    "hogwild_step",
    "global-race",
    """
Lets every sample step the weights in place, one after the other as it seems.
-    j = cuda.grid(1)
-    if j < w.shape[0]:
-        acc = np.float32(0)
-        for sample in range(x.shape[0]):
-            acc += error[sample] * x[sample, j]
-        w[j] -= rate * acc
+    sample = cuda.grid(1)
+    if sample < x.shape[0]:
+        for j in range(w.shape[0]):
+            w[j] -= rate * error[sample] * x[sample, j]  # BUG
""",
    TWO,
)
