"""Embedding: look up the row of a table for each index, and add gradients back to those rows.

    out[k, col]           = weight[index[k], col]              forwards: a gather
    grad_weight[row, col] = sum of grad_out[k, col] over the k with index[k] == row   a scatter

A product with a one-hot matrix that is never formed. In the forward pass threads may read the same
row. In the backward pass they may add to the same row: a token that occurs twice in a sequence
gets two gradients.

An index outside the table raises ValueError where the indices are on the host. On a device
the host does not read them: then out gets a row of NaN, and the gradient is dropped.

Legend
    n           indices, all axes together                  1000
    rows, cols  height and width of the table               50257, 768
    k           position in the list of indices             range [0, n)
    row         the row of the table that index[k] names    range [0, rows)
    col         the index in that row                       range [0, cols)
    BLOCK_X     threads along the columns, one warp         32
    BLOCK_Y     indices per block                           8
    BLOCK       threads per block of the kernel by columns  256

All kernels
    Shapes     index (n,), weight and grad_weight (rows, cols), out and grad_out (n, cols); any
               sizes >= 1, C order
    Dtypes     int32 or int64 for index, float32 or float64 for all others
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels import vector
from gpukit.launch import Cost, Variant

BLOCK_X = 32
BLOCK_Y = 8
BLOCK = BLOCK_X * BLOCK_Y
INDICES = (np.int64, np.int32)

Float64 = npt.NDArray[np.float64]


# --- References ------------------------------------------------------------------------------


def embedding_reference(index: npt.ArrayLike, weight: npt.ArrayLike) -> Float64:
    """Return the rows of weight that index names."""
    made: Float64 = np.asarray(weight, np.float64)[np.asarray(index)]
    return made


def embedding_backward_reference(
    grad_out: npt.ArrayLike, index: npt.ArrayLike, rows: int
) -> Float64:
    """Return, per row of a table, the sum of the rows of grad_out that index maps to it."""
    grad_out, index = np.asarray(grad_out, np.float64), np.asarray(index)
    made = np.zeros((rows, grad_out.shape[-1]))
    np.add.at(made, index.reshape(-1), grad_out.reshape(index.size, grad_out.shape[-1]))
    return made


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def embedding_kernel(index, weight, out):
    """Gather a row of a table per index, one element per thread.

    New here   data-dependent addresses: the threads of a warp have the same index, so that they
               read neighbouring elements, whichever row it is
    Launch     block (BLOCK_X, BLOCK_Y), grid (ceil_div(cols, BLOCK_X), ceil_div(n, BLOCK_Y));
               x = column, y = index
    Cost       bytes: n cols (2 itemsize + indexsize); flops: 0; barriers: 0
    Errors     a row of NaN where the index is outside the table, which includes negative ones
    Source     Bengio, Ducharme, Vincent and Jauvin, "A Neural Probabilistic Language Model", 2003
    """
    col, k = cuda.grid(2)
    if k < index.shape[0] and col < weight.shape[1]:
        row = index[k]
        if 0 <= row < weight.shape[0]:
            out[k, col] = weight[row, col]
        else:
            out[k, col] = out.dtype.type(math.nan)


def embedding_cost(n: int, cols: int, itemsize: int = 4, indexsize: int = 8) -> Cost:
    """Two loads, of an index and of a weight, and a store per element of out."""
    return Cost(bytes=n * cols * (2 * itemsize + indexsize), flops=0)


@cuda.jit
def embedding_grad_atomic_kernel(grad_out, index, grad_weight):
    """Add grad_out to the rows of the table that the indices name, with atomics.

    New here   two indices may name one row, so every addition is an atomic. Their order, and with
               it the last bits of the sums, is undefined
    Launch     block (BLOCK_X, BLOCK_Y), grid (ceil_div(cols, BLOCK_X), ceil_div(n, BLOCK_Y));
               x = column, y = index
    Cost       bytes: n cols (3 itemsize + indexsize); flops: n cols; barriers: 0
    Errors     a row of grad_out whose index is outside the table is dropped; the kernel
               assumes that grad_weight is 0 before the launch
    Source     gpukit
    """
    col, k = cuda.grid(2)
    if k < index.shape[0] and col < grad_weight.shape[1]:
        row = index[k]
        if 0 <= row < grad_weight.shape[0]:
            cuda.atomic.add(grad_weight, (row, col), grad_out[k, col])


def embedding_grad_atomic_cost(n: int, cols: int, itemsize: int = 4, indexsize: int = 8) -> Cost:
    """Two loads, of an index and of a gradient, and an atomic per element of grad_out."""
    return Cost(bytes=n * cols * (3 * itemsize + indexsize), flops=n * cols)


@cuda.jit
def embedding_grad_column_kernel(grad_out, index, grad_weight):
    """Add grad_out to the rows of the table that the indices name, one thread per column.

    New here   no atomics: no other thread writes to the column of a thread. The order is that of
               the indices, so the bits are the same in every run; but there are only cols threads,
               few for a GPU, and each loops over all indices
    Launch     block BLOCK, grid ceil_div(cols, BLOCK); x = column
    Cost       bytes: n cols (3 itemsize + indexsize); flops: n cols; barriers: 0
    Errors     a row of grad_out whose index is outside the table is dropped; the kernel
               assumes that grad_weight is 0 before the launch
    Source     gpukit
    """
    col = cuda.grid(1)
    if col < grad_weight.shape[1]:
        for k in range(index.shape[0]):
            row = index[k]
            if 0 <= row < grad_weight.shape[0]:
                grad_weight[row, col] += grad_out[k, col]


# --- Host functions --------------------------------------------------------------------------


@signature.takes("input: ..., weight: rows cols -> ... cols", input=INDICES)
def embedding(input: Any, weight: Any, *, out: Any = None, stream: Any = 0) -> Any:
    """Return the rows of weight that input names.

    Indices of any shape (...), int32 or int64, and weight (rows, cols) give (..., cols): with
    `[[1. 2.] [3. 4.]]`, `[1 0 1]` gives `[[3. 4.] [1. 2.] [3. 4.]]`. Raises ValueError for an index
    outside the table; in device arrays, which the host does not read, such an index gives NaN.
    """
    function = "embedding"
    rows, cols = weight.shape
    _check_range(function, out.inputs["input"], rows)
    if math.prod(out.shape):
        index = launch.flatten(function, "input", input)
        found = out.flat().reshape(index.size, cols)
        variant = VARIANTS[0]
        grid = variant.grid(function, cols, index.size)
        variant.kernel[grid, variant.block, stream](index, weight, found)
    return out.get()


@signature.takes("input: ..., grad_out: ... cols -> rows cols", input=INDICES)
def embedding_backward(
    grad_out: Any,
    input: Any,
    num_embeddings: int,
    *,
    variant: str = "atomic",
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the gradient of embedding's weight.

    grad_out (..., cols) and input (...), int32 or int64, give (num_embeddings, cols): the rows of
    grad_out, summed where input names a row more than once. The variant "column" adds in the
    order of input, so that every run has the same bits. Raises ValueError for an index outside
    the table; in device arrays, which the host does not read, it is ignored.
    """
    function = "embedding_backward"
    chosen = launch.pick(function, GRAD_VARIANTS, variant)
    rows = launch.check_int(function, "num_embeddings", num_embeddings, least=0)
    _check_range(function, out.inputs["input"], rows)
    cols = grad_out.shape[-1]
    result = out.of((rows, cols))
    if rows * cols:
        total = result.flat()
        vector.fill(total.size, 0, dtype=total.dtype, out=total, stream=stream)
        if input.size:
            index = launch.flatten(function, "input", input)
            grads = launch.flatten(function, "grad_out", grad_out)
            sizes = (cols,) if chosen.name == "column" else (cols, index.size)
            grid = chosen.grid(function, *sizes)
            chosen.kernel[grid, chosen.block, stream](
                grads.reshape(index.size, cols), index, total.reshape(rows, cols)
            )
    return result.get()


def _check_range(function: str, index: Any, rows: int) -> None:
    """Raise ValueError if an index in a NumPy array is outside a table."""
    if launch.is_device_array(index) or not index.size:
        return
    for extreme in (index.min(), index.max()):
        if not 0 <= extreme < rows:
            raise ValueError(
                f"{function}: expected input to hold indices from 0 to {rows - 1}, got {extreme}. "
                "There is no such row: look at where the indices come from."
            )


GRAD_VARIANTS = (
    Variant(
        "atomic",
        embedding_grad_atomic_kernel,
        embedding_grad_atomic_cost,
        embedding_backward_reference,
        (BLOCK_X, BLOCK_Y),
    ),
    Variant(
        "column",
        embedding_grad_column_kernel,
        embedding_grad_atomic_cost,
        embedding_backward_reference,
        BLOCK,
    ),
)
VARIANTS = (
    Variant("embedding", embedding_kernel, embedding_cost, embedding_reference, (BLOCK_X, BLOCK_Y)),
    *GRAD_VARIANTS,
)
__all__ = launch.public_names(globals())
