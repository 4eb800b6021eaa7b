"""Kernels that record which thread does what. Every picture of a launch is drawn from these.

Legend
    canvas       the array that is drawn: one cell per element and per thread
    NOBODY       the value of a cell that no thread reached           -1
    BX BY TX TY  the layers of a canvas: block and thread along x and y  canvas[BX, row, col]
"""

# Kernels carry no type hints.
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch

NOBODY = -1
BX, BY, TX, TY = 0, 1, 2, 3

Ints = npt.NDArray[np.int64]


@cuda.jit
def ownership_kernel(canvas):
    """Write block and thread into the cell of this thread, with or without an element.

    There is no guard against the end of the data: the picture shows the idle threads too. The
    canvas is at least as large as the grid.
    """
    col, row = cuda.grid(2)
    canvas[0, row, col] = cuda.blockIdx.x
    canvas[1, row, col] = cuda.blockIdx.y
    canvas[2, row, col] = cuda.threadIdx.x
    canvas[3, row, col] = cuda.threadIdx.y


@cuda.jit
def block_3d_kernel(number):
    """Write each thread's number in its block: x counts fastest, then y, then z."""
    tx, ty, tz = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    number[tz, ty, tx] = tx + cuda.blockDim.x * (ty + cuda.blockDim.y * tz)


@cuda.jit
def stride_kernel(thread, step):
    """Write which thread of the grid took each element, and in which iteration of its loop."""
    first = cuda.grid(1)
    for i in range(first, thread.shape[0], cuda.gridsize(1)):
        thread[i] = first
        step[i] = i // cuda.gridsize(1)


def ownership(rows: int, cols: int, grid: tuple[int, int], block: tuple[int, int]) -> Ints:
    """Return (4, height, width): BX, BY, TX and TY of every cell, NOBODY where no thread is."""
    height, width = max(rows, grid[1] * block[1]), max(cols, grid[0] * block[0])
    return _run(ownership_kernel, grid, block, (4, height, width))[0]


def block_3d(block: tuple[int, int, int]) -> Ints:
    """Return (z, y, x): the number of every thread of one block."""
    return _run(block_3d_kernel, 1, block, block[::-1])[0]


def grid_stride(n: int, blocks: int, block: int) -> tuple[Ints, Ints]:
    """Return for every element the thread that took it, and the iteration of its loop."""
    thread, step = _run(stride_kernel, blocks, block, (n,), (n,))
    return thread, step


def _run(kernel: Any, grid: Any, block: Any, *shapes: tuple[int, ...]) -> list[Ints]:
    notes = [launch.to_device(np.full(shape, NOBODY, np.int64)) for shape in shapes]
    kernel[grid, block](*notes)
    return [launch.to_host(note) for note in notes]
