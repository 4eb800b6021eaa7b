"""Indices beyond 2**31 - 1: right with 64-bit indices, negative with the 32-bit ones of a GPU.

The large arrays are one element, seen two thousand million times.
"""

import numpy as np

from gpukit import cuda
from tests.bugs.case import BLOCK, Launch, blank, case, counts

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
def last_part_kernel(x, first, out):
    """Reads the last part of a signal that is too long for 32-bit indices."""
    i = cuda.grid(1)
    out[i] = x[first + i]  # BUG


@cuda.jit
def part_kernel(x, first, out):
    """Is given the part as a view, and starts at its beginning."""
    i = cuda.grid(1)
    out[i] = x[i]


case(
    last_part_kernel, part_kernel, "int32-overflow",
    arguments=lambda: (constant(LONG + BLOCK), LONG, blank(BLOCK)),
    fixed_arguments=lambda: (constant(LONG + BLOCK)[LONG:], 0, blank(BLOCK)),
    expected=lambda x, first, out: np.full(BLOCK, 3),
)  # fmt: skip


@cuda.jit
def gather_flat_kernel(table, ids, out):
    """Gathers from a flat table with ids beyond 32 bits."""
    i = cuda.grid(1)
    out[i] = table[ids[i]]  # BUG


@cuda.jit
def gather_rows_kernel(table, ids, out):
    """Gathers from a table of two axes, each of which 32 bits can count."""
    i = cuda.grid(1)
    out[i] = table[ids[i] // WIDTH, ids[i] % WIDTH]


case(
    gather_flat_kernel, gather_rows_kernel, "int32-overflow",
    arguments=lambda: (constant(40 * WIDTH), far_ids(), blank(BLOCK)),
    fixed_arguments=lambda: (constant(40, WIDTH), far_ids(), blank(BLOCK)),
    expected=lambda table, ids, out: np.full(BLOCK, 3),
)  # fmt: skip


@cuda.jit
def frame_flat_kernel(film, height, width, frame, out):
    """Works out a flat index into a film that has more than 2**31 pixels."""
    col, row = cuda.grid(2)
    out[row, col] = film[(frame * height + row) * width + col]  # BUG


@cuda.jit
def frame_kernel(film, height, width, frame, out):
    """Lets the film keep its three axes."""
    col, row = cuda.grid(2)
    out[row, col] = film[frame, row, col]


case(
    frame_flat_kernel, frame_kernel, "int32-overflow", Launch(1, (TILE, TILE)),
    arguments=lambda: (constant(2100 * 1024 * 1024), 1024, 1024, 2050, blank(TILE, TILE)),
    fixed_arguments=lambda: (
        constant(2100, 1024, 1024), 1024, 1024, 2050, blank(TILE, TILE)
    ),
    expected=lambda film, height, width, frame, out: np.full((TILE, TILE), 3),
)  # fmt: skip
