"""Conversion between float32 and 16-bit floats: float16, and bfloat16 as bits.

    float32     1 sign, 8 exponent, 23 fraction bits     1.2e-38 to 3.4e38, about 7 digits
    float16     1 sign, 5 exponent, 10 fraction bits     6.1e-5 to 65504, about 3 digits; below
                                                         6.1e-5 subnormal, down to 6.0e-8
    bfloat16    1 sign, 8 exponent, 7 fraction bits      the range of float32, about 2 digits

Both halve the bytes. float16 has more digits and loses small numbers: half of the smallest
subnormal, 3.0e-8, and everything below it become 0, and numbers from 65520 on infinity. bfloat16 is
the upper half of a float32: nothing that float32 can hold is lost but digits.

NumPy has a float16 and no bfloat16, so an array of bfloat16 holds its bits in uint16, as in
`matmul`. Rounding is to nearest, ties to even; NaN stays NaN, and infinity infinity.

Legend
    n       elements of the array, all axes together    1000
    x       the array that is converted
    BLOCK   threads per block                           256

All kernels
    Shapes     x (n,), out (n,); any n >= 1
    Launch     block BLOCK, grid ceil_div(n, BLOCK); x = element
    Cost       bytes: 6 n; flops: 0; barriers: 0
    Errors     the host function makes out; the kernel assumes the shape of x
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.launch import Cost, Variant
from gpukit.primitives import tensor
from gpukit.primitives.tensor import float_of, to_bf16

BLOCK = 256
# What holds each format.
FORMATS: dict[str, type[np.generic]] = {
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": np.uint16,
}
SMALL = (np.float16, np.uint16)  # what holds those of 16 bits


# --- Reference -------------------------------------------------------------------------------


def convert_reference(x: npt.ArrayLike, dtype: str) -> npt.NDArray[Any]:
    """Return x in a format, rounded by NumPy; bfloat16 by adding half of the last bit kept."""
    x = np.asarray(x)
    wide = tensor.from_bf16(x) if x.dtype == np.uint16 else x
    with np.errstate(over="ignore"):
        return tensor.bf16(wide) if dtype == "bfloat16" else wide.astype(FORMATS[dtype])


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def convert_float16_kernel(x, out):
    """Round float32 to float16, one element per thread.

    New here   a store converts to the dtype of its array: a GPU and a CPU have an instruction for
               it, which rounds to nearest even
    Dtypes     float32 in, float16 out
    Source     IEEE 754-2008, binary16
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i]


def convert_float16_cost(n: int) -> Cost:
    """One access of four bytes and one of two per element."""
    return Cost(bytes=6 * n, flops=0)


@cuda.jit
def convert_bfloat16_kernel(x, out):
    """Round float32 to bfloat16, one element per thread.

    New here   integer arithmetic on the bits of a float: bfloat16 is the upper half, and adding
               almost half of its last bit rounds; a carry into the exponent is right, up to
               infinity. Only NaN needs a case of its own
    Dtypes     float32 in, uint16 out: the bits of bfloat16
    Source     Kalamkar and others, "A Study of BFLOAT16 for Deep Learning Training", 2019
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = to_bf16(x[i])


@cuda.jit
def convert_float32_kernel(x, out):
    """Widen float16 or bfloat16 to float32, one element per thread.

    New here   exact: every number of 16 bits is a float32, also the subnormal ones
    Dtypes     float16 or uint16, the bits of bfloat16, in; float32 out
    Source     gpukit
    """
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = float_of(x[i])


# --- Host function ---------------------------------------------------------------------------


def convert(x: Any, dtype: str, *, out: Any = None, stream: Any = 0) -> Any:
    """Return x in another format: "float16", "bfloat16" or "float32".

    float32 is rounded to float16, or to bfloat16, whose bits are returned as uint16; both are
    widened to float32. `convert([1.001], "bfloat16")` is `[16256]`, the bits of 1.0. Any shape
    gives the same shape.
    """
    if dtype not in FORMATS:
        raise ValueError(
            f"convert: expected dtype to be one of {', '.join(map(repr, FORMATS))}, got {dtype!r}. "
            "Pick one."
        )
    (x,), result = _TAKES[dtype].bind("convert", (x,), out, stream)
    if n := math.prod(result.shape):
        variant = launch.pick("convert", VARIANTS, dtype)
        grid = variant.grid("convert", n)
        variant.kernel[grid, variant.block, stream](x.reshape(n), result.flat())
    return result.get()


_variant = functools.partial(
    Variant, cost=convert_float16_cost, reference=convert_reference, block=BLOCK
)
VARIANTS = (
    _variant("float16", convert_float16_kernel, dtypes=(np.float32,)),
    _variant("bfloat16", convert_bfloat16_kernel, dtypes=(np.float32,)),
    _variant("float32", convert_float32_kernel, dtypes=SMALL),
)
_TAKES = {
    variant.name: signature.Signature(
        "x: ... -> ...", dtypes=variant.dtypes, dtype=FORMATS[variant.name], layout="C"
    )
    for variant in VARIANTS
}
__all__ = launch.public_names(globals())
