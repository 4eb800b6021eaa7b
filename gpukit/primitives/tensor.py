"""Tensor cores: a warp multiplies two small matrices and adds a third, in one instruction.

The elements of the matrices are distributed over the 32 threads of a warp, in an order that the
hardware defines. With group = lane // 4 and in_group = lane % 4 a thread has, in TF32, of

    a (16, 8)    a0 = a[group, in_group]         a1 = a[group + 8, in_group]
                 a2 = a[group, in_group + 4]     a3 = a[group + 8, in_group + 4]
    b (8, 8)     b0 = b[in_group, group]         b1 = b[in_group + 4, group]
    c (16, 8)    c0 = c[group, 2 in_group]       c1 = c[group, 2 in_group + 1]
                 c2 = c[group + 8, 2 in_group]   c3 = c[group + 8, 2 in_group + 1]

and in bfloat16 twice as many of a and b, two neighbours along the summed axis packed in a uint32:

    a (16, 16)   a0 = a[group, 2 in_group]       and a[group, 2 in_group + 1] in its upper half; a1,
                 a2 and a3 8 rows below, 8 columns to the right, and both
    b (16, 8)    b0 = b[2 in_group, group]       and b[2 in_group + 1, group]; b1 8 rows below

    x = to_tf32(x)                     round a float32 to TF32
    bits = to_bf16(x)                  the bits, a uint16, of the bfloat16 nearest to a float32
    x = float_of(bits)                 back to float32, exactly; float_of takes a float16, too
    c0, c1, c2, c3 = mma_tf32(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3)     c + a b
    c0, c1, c2, c3 = mma_bf16(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3)     c + a b
    p0, p1, p2, p3 = load_square(tile, i, j)              a thread's pairs of a 16 x 16 square
    p0, p1, p2, p3 = load_square_transposed(tile, i, j)   the same, pairs along a column

TF32 has the range of float32 and 10 of its 23 bits of fraction, bfloat16 the range and 7 bits.
TF32 must be rounded first: how a tensor core treats the other bits is undefined. Sums are
float32. All 32 threads of a warp must call these functions together, except those that convert.

The squares lie in shared memory as matrices of 8 x 8 bfloat16, 128 bytes each without padding:
`tile[i, j]` of a tile (rows / 8, columns / 8, 8, 8) is one of them. A square is four, and its pairs
come in the order in which `mma_bf16` takes a, or, transposed, b0 and b1 of two products.

On a GPU these are instructions (`tensor_gpu`), from compute capability 8.0 on, but for to_bf16 and
float_of, which are integer arithmetic and run on all GPUs. Without a GPU the warp
exchanges its elements by shuffles and each thread computes its own four sums, the same except for
the order of additions. Source: NVIDIA, "Parallel Thread Execution ISA", mma.m16n8k8, mma.m16n8k16,
ldmatrix.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpukit import cuda
from gpukit.compiler.runtime.tensor import rounded_to_bf16, rounded_to_tf32, widened
from gpukit.primitives import of_this_target

__all__ = [
    "LEAST",
    "bf16",
    "float_of",
    "from_bf16",
    "load_square",
    "load_square_transposed",
    "mma_bf16",
    "mma_tf32",
    "tf32",
    "to_bf16",
    "to_tf32",
]

LEAST = (8, 0)  # minimum compute capability
WARP = 0xFFFFFFFF


@cuda.jit(device=True)
def to_tf32(x):
    """Return a float32 rounded to TF32, to nearest, ties away from zero."""
    return rounded_to_tf32(x)


@cuda.jit(device=True)
def mma_tf32(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3):
    """Return a thread's four elements of c + a b."""
    group, in_group = cuda.laneid // 4, cuda.laneid % 4
    for k in range(4):
        # The lanes that hold column k of the thread's rows of a, and row k of its columns of b.
        row, left, right = group * 4 + k, in_group * 8 + k, in_group * 8 + 4 + k
        top, bottom = cuda.shfl_sync(WARP, a0, row), cuda.shfl_sync(WARP, a1, row)
        first, second = cuda.shfl_sync(WARP, b0, left), cuda.shfl_sync(WARP, b0, right)
        c0, c1 = c0 + top * first, c1 + top * second
        c2, c3 = c2 + bottom * first, c3 + bottom * second
        top, bottom = cuda.shfl_sync(WARP, a2, row), cuda.shfl_sync(WARP, a3, row)
        first, second = cuda.shfl_sync(WARP, b1, left), cuda.shfl_sync(WARP, b1, right)
        c0, c1 = c0 + top * first, c1 + top * second
        c2, c3 = c2 + bottom * first, c3 + bottom * second
    return c0, c1, c2, c3


@cuda.jit(device=True)
def to_bf16(x):
    """Return the bits of the bfloat16 nearest to a float32, ties to even."""
    return rounded_to_bf16(x)


@cuda.jit(device=True)
def float_of(bits):
    """Return the float32 of a float16, or of a bfloat16, the lower 16 bits of an integer."""
    return widened(bits)


@cuda.jit(device=True)
def pair_of(low, high):
    """Return two bfloat16 packed in a uint32."""
    return np.uint32(np.uint32(low) | np.uint32(high) << np.uint32(16))


@cuda.jit(device=True)
def load_square(tile, i, j):
    """Return a thread's four pairs of the square of which tile[i, j] is the first matrix."""
    group, c = cuda.laneid // 4, cuda.laneid % 4 * 2
    a0 = pair_of(tile[i, j, group, c], tile[i, j, group, c + 1])
    a1 = pair_of(tile[i + 1, j, group, c], tile[i + 1, j, group, c + 1])
    a2 = pair_of(tile[i, j + 1, group, c], tile[i, j + 1, group, c + 1])
    a3 = pair_of(tile[i + 1, j + 1, group, c], tile[i + 1, j + 1, group, c + 1])
    return a0, a1, a2, a3


@cuda.jit(device=True)
def load_square_transposed(tile, i, j):
    """Return a thread's four pairs of the same square, each of one column."""
    group, r = cuda.laneid // 4, cuda.laneid % 4 * 2
    b0 = pair_of(tile[i, j, r, group], tile[i, j, r + 1, group])
    b1 = pair_of(tile[i + 1, j, r, group], tile[i + 1, j, r + 1, group])
    b2 = pair_of(tile[i, j + 1, r, group], tile[i, j + 1, r + 1, group])
    b3 = pair_of(tile[i + 1, j + 1, r, group], tile[i + 1, j + 1, r + 1, group])
    return b0, b1, b2, b3


@cuda.jit(device=True)
def add_products(a_top, a_bottom, b, c0, c1, c2, c3):
    """Return c with 8 of its 16 products added, in the order of the summed axis."""
    group, in_group = cuda.laneid // 4, cuda.laneid % 4
    for k in range(4):
        row, left, right = group * 4 + k, in_group * 8 + k, in_group * 8 + 4 + k
        top, bottom = cuda.shfl_sync(WARP, a_top, row), cuda.shfl_sync(WARP, a_bottom, row)
        first, second = cuda.shfl_sync(WARP, b, left), cuda.shfl_sync(WARP, b, right)
        for half in range(2):
            shift = np.uint32(16 * half)
            upper, lower = float_of(top >> shift), float_of(bottom >> shift)
            one, two = float_of(first >> shift), float_of(second >> shift)
            c0, c1 = c0 + upper * one, c1 + upper * two
            c2, c3 = c2 + lower * one, c3 + lower * two
    return c0, c1, c2, c3


@cuda.jit(device=True)
def mma_bf16(a0, a1, a2, a3, b0, b1, c0, c1, c2, c3):
    """Return a thread's four elements of c + a b, where a and b are pairs of bfloat16."""
    c0, c1, c2, c3 = add_products(a0, a1, b0, c0, c1, c2, c3)
    return add_products(a2, a3, b1, c0, c1, c2, c3)


to_tf32, mma_tf32, to_bf16, float_of, mma_bf16 = of_this_target(
    "tensor", to_tf32, mma_tf32, to_bf16, float_of, mma_bf16
)
load_square, load_square_transposed = of_this_target("tensor", load_square, load_square_transposed)


def bf16(x: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """Return the bits of the bfloat16 nearest to each float32 of an array, as `to_bf16` does."""
    x = np.asarray(x, np.float32)
    bits = x.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(x), np.uint16(0x7FFF), rounded.astype(np.uint16))


def from_bf16(bits: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """Return the float32 of each bfloat16 whose bits are in an array; this is exact."""
    return (np.asarray(bits, np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def tf32(x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return a float32 array rounded to TF32 on the host, as `to_tf32` does; NaN stays NaN."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)).view(np.float32)
    return np.where(np.isnan(x), x, rounded)
