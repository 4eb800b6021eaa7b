"""Quantization: float32 as int8 with a scale per channel, and products of int8 matrices.

`channels` quantizes and dequantizes rows; `products` multiplies int8 with int32 sums.
"""

from __future__ import annotations

from gpukit.kernels.quantize import channels, products
from gpukit.kernels.quantize.channels import channel_scales, dequantize, dequantize_sums, quantize
from gpukit.kernels.quantize.products import int8_matmul, int8_matvec

VARIANTS = (*channels.VARIANTS, *products.VARIANTS)
__all__ = [
    "VARIANTS",
    "channel_scales",
    "dequantize",
    "dequantize_sums",
    "int8_matmul",
    "int8_matvec",
    "quantize",
]
