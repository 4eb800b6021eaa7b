"""Indices beyond 2**31 - 1: right with 64-bit indices, negative with the 32-bit ones of a GPU.

The large arrays are one element, seen two thousand million times.
"""

import numpy as np

from gpukit import cuda
from tests.bugs.kernels import BLOCK, Launch, blank, bug, correct, counts

LONG = 2**31
WIDTH = 2**26
TILE = 8


def constant(*shape):
    """Make an array of threes that takes the memory of one of them."""
    return np.broadcast_to(np.float32(3), shape)


def far_ids():
    """Make ids that 32 bits cannot hold."""
    return LONG + counts(BLOCK, 500).astype(np.int64)


@cuda.jit
def part_kernel(x, first, out):
    """Is given the part as a view, and starts at its beginning."""
    i = cuda.grid(1)
    out[i] = x[i]


correct(
    part_kernel,
    lambda: (constant(LONG + BLOCK)[LONG:], 0, blank(BLOCK)),
    lambda x, first, out: np.full(BLOCK, 3),
)
bug(
    part_kernel,
    "last_part",
    "int32-overflow",
    """
Reads the last part of a signal that is too long for 32-bit indices.
-    out[i] = x[i]
+    out[i] = x[first + i]  # BUG
""",
    arguments=lambda: (constant(LONG + BLOCK), LONG, blank(BLOCK)),
)


@cuda.jit
def gather_rows_kernel(table, ids, out):
    """Gathers from a table of two axes, each of which 32 bits can count."""
    i = cuda.grid(1)
    out[i] = table[ids[i] // WIDTH, ids[i] % WIDTH]


correct(
    gather_rows_kernel,
    lambda: (constant(40, WIDTH), far_ids(), blank(BLOCK)),
    lambda table, ids, out: np.full(BLOCK, 3),
)
bug(
    gather_rows_kernel,
    "gather_flat",
    "int32-overflow",
    """
Gathers from a flat table with ids beyond 32 bits.
-    out[i] = table[ids[i] // WIDTH, ids[i] % WIDTH]
+    out[i] = table[ids[i]]  # BUG
""",
    arguments=lambda: (constant(40 * WIDTH), far_ids(), blank(BLOCK)),
)


@cuda.jit
def frame_kernel(film, height, width, frame, out):
    """Lets the film keep its three axes."""
    col, row = cuda.grid(2)
    out[row, col] = film[frame, row, col]


correct(
    frame_kernel,
    lambda: (constant(2100, 1024, 1024), 1024, 1024, 2050, blank(TILE, TILE)),
    lambda film, height, width, frame, out: np.full((TILE, TILE), 3),
    Launch(1, (TILE, TILE)),
)
bug(
    frame_kernel,
    "frame_flat",
    "int32-overflow",
    """
Works out a flat index into a film that has more than 2**31 pixels.
-    out[row, col] = film[frame, row, col]
+    out[row, col] = film[(frame * height + row) * width + col]  # BUG
""",
    arguments=lambda: (constant(2100 * 1024 * 1024), 1024, 1024, 2050, blank(TILE, TILE)),
)
