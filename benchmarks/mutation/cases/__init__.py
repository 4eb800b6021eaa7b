"""Small launches of every kernel of the book, in awkward sizes, with the right answers.

A kernel is launched on its example of `gpukit.bench`, made of the `small` sizes that stand there,
or with those of `gpukit bench --quick` if there are none; its own answer on the cpu target is the
reference. So a new kernel is included when it joins the benchmarks.

If that would not reach every branch, the launches are defined here: values that are not finite or
equal, invalid indices, strides and groups, masks. They are as small as possible: several blocks,
the last one partial, no two sizes equal. Outputs are device arrays, which start as NaN on the CPU
targets, so that an unwritten element is wrong.

    register    a launch, and the registry of launches
    elements, sums, products    kernels launched directly, with the answers of NumPy
    windows, layers, training   kernels that host functions launch, with the kernels' own answers
"""

from __future__ import annotations

from benchmarks.mutation.cases import elements, layers, products, sums, training, windows
from benchmarks.mutation.cases.register import MAKERS, Case, find

# Importing them registers their launches.
PARTS = (elements, sums, products, windows, layers, training)

__all__ = ["MAKERS", "PARTS", "Case", "find"]
