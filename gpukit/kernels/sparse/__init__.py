"""Sparse matrices: masks of pruned weights, CSR, and 2:4 sparsity.

`masks` decides which weights become zero and keeps them zero, `csr` multiplies what is left of a
matrix row by row, `two_four` compresses and multiplies matrices with two zeros in every four.
"""

from __future__ import annotations

from gpukit.kernels.sparse import csr, masks, two_four
from gpukit.kernels.sparse.csr import csr_matvec, to_csr
from gpukit.kernels.sparse.masks import apply_mask, magnitude_mask, mask_2_4
from gpukit.kernels.sparse.two_four import compress_2_4, matmul_2_4

VARIANTS = (*masks.VARIANTS, *csr.VARIANTS, *two_four.VARIANTS)
__all__ = [
    "VARIANTS",
    "apply_mask",
    "compress_2_4",
    "csr_matvec",
    "magnitude_mask",
    "mask_2_4",
    "matmul_2_4",
    "to_csr",
]
