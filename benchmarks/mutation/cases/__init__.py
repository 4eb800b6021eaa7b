"""Small launches of every kernel of the book, in awkward sizes, with the right answers.

A kernel is launched on its example of `gpukit.bench`, made of the `small` sizes that stand there,
or as `gpukit bench --quick` launches it where there are none; its own answer on the cpu target is
the reference. So a new kernel joins when it joins the benchmarks.

Where that would not show every branch, the launches stand here: numbers that are not finite or
alike, indices that do not exist, strides and groups, masks. They are as small as can be: several
blocks, the last one partial, no two sizes alike. Outputs are device arrays, which start as NaN on
the CPU targets, so an element that no thread writes is wrong.

    register    what a launch is, and the register of them
    elements, sums, products    kernels launched as they are, with the answers of NumPy
    windows, layers, training   kernels that host functions launch, with the kernels' own answers
"""

from __future__ import annotations

from benchmarks.mutation.cases import elements, layers, products, sums, training, windows
from benchmarks.mutation.cases.register import MAKERS, Case, find

# Importing them registers their launches.
PARTS = (elements, sums, products, windows, layers, training)

__all__ = ["MAKERS", "PARTS", "Case", "find"]
