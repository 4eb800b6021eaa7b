"""Loops written by hand for kernels of the book whose threads work together.

They are what a person makes of the blocked algorithm: over the blocks, and between two barriers
over the threads; shared memory is an array made once. What a block works on is a slice: for an
index that may be negative numba adds the length, and then LLVM vectorises nothing. Every function
takes what `plain.loops` gives: grid, block, and the kernel's arguments.
"""

from __future__ import annotations

from benchmarks.plain_loops import (
    by_hand_attention,
    by_hand_layers,
    by_hand_losses,
    by_hand_matrices,
    by_hand_norm,
    by_hand_sums,
    by_hand_training,
)

PARTS = (
    by_hand_attention,
    by_hand_layers,
    by_hand_losses,
    by_hand_matrices,
    by_hand_norm,
    by_hand_sums,
    by_hand_training,
)
LOOPS = {name: loops for part in PARTS for name, loops in part.LOOPS.items()}
