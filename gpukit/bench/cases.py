"""Every kernel of the book with data to run on and the NumPy that does the same.

A case is a function of the size wanted: it makes the data when it is called and returns a
`Comparison`. NumPy writes into arrays made beforehand wherever it can, as the kernels do.
"""

from __future__ import annotations

from gpukit.bench import (
    cases_attention,
    cases_conv,
    cases_elements,
    cases_losses,
    cases_norm,
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
)

__all__ = ["CASES", "PARTS", "choose", "choose_one", "make"]
