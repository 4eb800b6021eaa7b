"""Indices below zero: CUDA Python counts them from the end, which is seldom what was meant."""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, counts, reals, zeros

TILE = 8
N = BLOCK - 14


@cuda.jit
def smooth_kernel(x, out):
    """Leaves both ends to a rule of their own."""
    i = cuda.grid(1)
    if 0 < i < x.shape[0] - 1:
        out[i] = (x[i - 1] + x[i] + x[i + 1]) / np.float32(3)
    elif i == 0 or i == x.shape[0] - 1:
        out[i] = x[i]


def smoothed(x, out):
    return np.concatenate([x[:1], np.convolve(x, np.ones(3) / 3, "valid"), x[-1:]])


correct(smooth_kernel, lambda: (reals(N), blank(N)), smoothed)
bug(
    smooth_kernel,
    "smooth_wraps",
    "negative-index",
    """
Reads the left neighbour of the first element, which is the last element.
-    if 0 < i < x.shape[0] - 1:
+    if i < x.shape[0] - 1:
         out[i] = (x[i - 1] + x[i] + x[i + 1]) / np.float32(3)  # BUG
-    elif i == 0 or i == x.shape[0] - 1:
-        out[i] = x[i]
""",
)


@cuda.jit
def convolve_kernel(image, weight, out):
    """Checks all four edges."""
    col, row = cuda.grid(2)
    acc = np.float32(0)
    for m in range(3):
        for n in range(3):
            r, c = row + m - 1, col + n - 1
            if 0 <= r < image.shape[0] and 0 <= c < image.shape[1]:
                acc += image[r, c] * weight[m, n]
    out[row, col] = acc


def convolved(image, weight, out):
    padded = np.pad(image, 1)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    return (windows * weight).sum((2, 3))


correct(
    convolve_kernel,
    lambda: (reals(TILE, TILE), reals(3, 3, seed=8), blank(TILE, TILE)),
    convolved,
    Launch(1, (TILE, TILE)),
)
bug(
    convolve_kernel,
    "convolve_pad_wraps",
    "negative-index",
    """
Checks the far edges of the padded image and forgets the near ones.
-            if 0 <= r < image.shape[0] and 0 <= c < image.shape[1]:
+            if r < image.shape[0] and c < image.shape[1]:
                 acc += image[r, c] * weight[m, n]  # BUG
""",
)


@cuda.jit
def exclusive_kernel(x, out):
    """Gives thread 0 the zero."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid = cuda.threadIdx.x
    tile[tid] = x[tid]
    cuda.syncthreads()
    out[tid] = tile[tid - 1] if tid > 0 else np.float32(0)


correct(
    exclusive_kernel,
    lambda: (reals(BLOCK), blank(BLOCK)),
    lambda x, out: np.append(np.float32(0), x[:-1]),
)
bug(
    exclusive_kernel,
    "exclusive_wraps",
    "negative-index",
    """
Shifts the tile by one, and thread 0 takes the last element instead of zero.
-    out[tid] = tile[tid - 1] if tid > 0 else np.float32(0)
+    out[tid] = tile[tid - 1]  # BUG
""",
)


@cuda.jit
def echo_kernel(x, delay, out):
    """Adds nothing before the sound has begun."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] + x[i - delay] if i >= delay else x[i]


correct(
    echo_kernel,
    lambda: (reals(N), 10, blank(N)),
    lambda x, delay, out: x + np.append(np.zeros(10, np.float32), x[:-10]),
    Launch(2, 32),
)
bug(
    echo_kernel,
    "echo_wraps",
    "negative-index",
    """
Adds the sound of `delay` samples ago, before there was any.
-        out[i] = x[i] + x[i - delay] if i >= delay else x[i]
+        out[i] = x[i] + x[i - delay]  # BUG
""",
)


@cuda.jit
def count_label_kernel(labels, hist):
    """Skips the unknown ones."""
    i = cuda.grid(1)
    if i < labels.shape[0] and labels[i] >= 0:
        cuda.atomic.add(hist, labels[i], 1)


correct(
    count_label_kernel,
    lambda: (counts(N, 7) - np.int32(1), zeros(6, dtype=np.int32)),
    lambda labels, hist: np.bincount(labels[labels >= 0], minlength=6),
)
bug(
    count_label_kernel,
    "count_label_wraps",
    "negative-index",
    """
Counts the label -1, "unknown", in the last class.
-    if i < labels.shape[0] and labels[i] >= 0:
+    if i < labels.shape[0]:
         cuda.atomic.add(hist, labels[i], 1)  # BUG
""",
)


@cuda.jit
def recurrence_kernel(x, out):
    """Sets the first step, and starts at k = 1."""
    steps = cuda.local.array(4, np.float32)
    i = cuda.grid(1)
    steps[0] = x[i]
    for k in range(1, 4):
        steps[k] = x[i] - np.float32(0.5) * steps[k - 1]
    out[i] = steps[3]


correct(
    recurrence_kernel,
    lambda: (reals(BLOCK), blank(BLOCK)),
    lambda x, out: x * (1 - 0.5 + 0.25 - 0.125),
)
bug(
    recurrence_kernel,
    "recurrence_wraps",
    "negative-index",
    """
Starts a recurrence at k = 0, where its last step is not there yet.
-    steps[0] = x[i]
-    for k in range(1, 4):
+    steps[3] = np.float32(0)
+    for k in range(4):
         steps[k] = x[i] - np.float32(0.5) * steps[k - 1]  # BUG
""",
)


@cuda.jit
def mirror_kernel(x, out):
    """Mirrors around n - 1."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[x.shape[0] - 1 - i] = x[i]


correct(mirror_kernel, lambda: (reals(N), blank(N)), lambda x, out: x[::-1])
bug(
    mirror_kernel,
    "mirror_off_by_one",
    "negative-index",
    """
Mirrors around n - 2, so the last thread writes element -1.
-        out[x.shape[0] - 1 - i] = x[i]
+        out[x.shape[0] - 2 - i] = x[i]  # BUG
""",
)
