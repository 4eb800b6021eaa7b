"""Loops written by hand for kernels of the book whose threads work together.

They are what a person makes of the blocked algorithm: over the blocks, and between two barriers
over the threads; shared memory is an array made once. Every function takes what `plain.loops`
gives: grid, block, and the kernel's arguments.
"""

# mypy: ignore-errors
# ruff: noqa: ARG001  (not all of them need the shape of the launch)

from __future__ import annotations

from typing import Any

import numba

from benchmarks import handwritten
from benchmarks.plain_loops.plain import OPTIONS

njit = numba.njit(**OPTIONS)


@njit
def matmul_tiled(grid, block, a, b, out):
    """One block for one tile of out."""
    handwritten.matmul_tiled(a, b, out)


LOOPS: dict[str, Any] = {f.__name__: f for f in (matmul_tiled,)}
