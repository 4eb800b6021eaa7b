"""The kernels of the book: the launches of their benchmarks, and loops written by hand.

A kernel that synchronizes threads gets loops over the blocks and, between two barriers, over the
threads; shared memory is an array allocated once. A block works on a slice: for an index that may
be negative Numba adds the length, and LLVM then vectorizes nothing. Each function takes what the
result of `plain.loops` takes: grid, block, and the kernel's arguments.
"""

from __future__ import annotations

from benchmarks.plain_loops import by_hand_matrices, by_hand_sums
from benchmarks.plain_loops.case import Case, Launch
from gpukit.bench import calls, cases

BY_HAND = {**by_hand_matrices.LOOPS, **by_hand_sums.LOOPS}


def make(name: str, *, quick: bool = False) -> Case:
    """Return the case of a kernel of the book, with the data that `gpukit bench` gives it."""
    comparison = cases.make(name, quick=quick)
    launches = [
        Launch(
            function := part.kernel.py_func,
            *part.shape[:2],
            tuple(part.arguments),
            BY_HAND.get(function.__name__.removesuffix("_kernel")),
            part.shape[3],
        )
        for part in calls.parts_of(comparison.ours)
    ]
    return Case(launches, [(comparison.result(), comparison.expected())], comparison.terms)
