"""Every kernel of the book, with data and the equivalent work in NumPy.

A case makes the data for given sizes and returns a `Comparison`. NumPy writes into preallocated
arrays wherever it can, as the kernels do.
"""

from __future__ import annotations

from gpukit.bench import (
    cases_attention,
    cases_conv,
    cases_elements,
    cases_losses,
    cases_norm,
    cases_precision,
    cases_recurrent,
    cases_sums,
    cases_tensors,
    cases_training,
)
from gpukit.bench.register import CASES, choose, choose_one, make

# Importing them registers their cases, in the order of the book.
PARTS = (
    cases_elements,
    cases_sums,
    cases_tensors,
    cases_attention,
    cases_conv,
    cases_losses,
    cases_norm,
    cases_recurrent,
    cases_training,
    cases_precision,
)

__all__ = ["CASES", "PARTS", "choose", "choose_one", "make"]
