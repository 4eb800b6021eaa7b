"""What speed.py times: kernels with data, and the best plain NumPy for the same.

Kernels of the book have the data that `gpukit bench` gives them, in other sizes.

Legend
    n        elements in the large arrays        10,000,000
    side     rows and columns of the 2-D ones    3162
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpukit import cuda
from gpukit.bench.cases import CASES
from gpukit.bench.register import parts_of, random
from gpukit.bench.timing import Comparison, allowed
from gpukit.launch import ceil_div

BLOCK_X, BLOCK_Y = 32, 8

Work = Callable[[], object]


# --- A kernel that the book does not have -----------------------------------------------------


def stencil_five_point_kernel(u, factor, out):
    """Do one step of heat flow, one thread for one inner element.

    New here   a thread reads its four neighbours; the edge has none and is left alone
    Shapes     u (rows, cols), factor scalar, out (rows, cols); any sizes >= 1, C order
    Dtypes     float32 in, float32 out
    Launch     block (BLOCK_X, BLOCK_Y), grid to cover out; x = col, y = row
    Shared     0 bytes
    Cost       bytes: 24 (rows - 2) (cols - 2); flops: 6 (rows - 2) (cols - 2); barriers: 0
    Errors     the kernel assumes equal shapes
    Source     ours
    """
    col, row = cuda.grid(2)
    if 0 < row < out.shape[0] - 1 and 0 < col < out.shape[1] - 1:
        around = u[row - 1, col] + u[row + 1, col] + u[row, col - 1] + u[row, col + 1]
        out[row, col] = u[row, col] + factor * (around - np.float32(4) * u[row, col])


# --- Cases: one kernel with data, and NumPy's best plain expression for the same --------------


@dataclass
class Case:
    """A comparison: `ours(kernel)` launches a kernel, which writes `out`; `theirs` is the rival."""

    name: str
    other: str
    kernel: Any
    ours: Callable[[Any], object]
    theirs: Work
    out: Any
    expected: Any
    tolerance: float = 0.0
    information: bool = False  # no figure to reach


def _of_book(name: str, other: str, comparison: Comparison) -> Case:
    """Return the case of a kernel of the book, from its example."""
    own, parts = CASES[comparison.name].kernel, list(parts_of(comparison.ours))
    out, expected = comparison.result(), comparison.expected()

    def ours(kernel: Any) -> None:
        for part in parts:
            (kernel if part.kernel is own else part.kernel)[part.shape](*part.arguments)

    tolerance = allowed(expected, out.dtype, comparison.terms)
    return Case(name, other, own, ours, comparison.on(np), out, expected, tolerance)


def vector_add(n: int) -> Iterator[Case]:
    yield _of_book("vector add", "np.add(a, b, out=o)", CASES["vector_add"].of(n))


def saxpy(n: int) -> Iterator[Case]:
    comparison = CASES["saxpy_grid_stride"].of(n)
    yield _of_book("saxpy, grid-stride", "np.multiply, np.add with out=", comparison)


def reduction(n: int) -> Iterator[Case]:
    for name, kernel in (
        ("partials", "sum_sequential"),
        ("atomic", "sum_atomic"),
        ("grid-stride", "sum_grid_stride"),
    ):
        yield _of_book(f"block reduction, {name}", "np.sum(x)", CASES[kernel].of(n))


def stencil(n: int) -> Iterator[Case]:
    side = max(3, math.isqrt(n))
    u, factor = random(side, side), np.float32(0.2)
    out, scratch = u.copy(), np.empty((side - 2, side - 2), np.float32)
    inner, middle = out[1:-1, 1:-1], u[1:-1, 1:-1]
    grid = ceil_div(side, BLOCK_X), ceil_div(side, BLOCK_Y)

    def theirs() -> None:
        np.add(u[:-2, 1:-1], u[2:, 1:-1], out=inner)
        np.add(inner, u[1:-1, :-2], out=inner)
        np.add(inner, u[1:-1, 2:], out=inner)
        np.multiply(middle, np.float32(4), out=scratch)
        np.subtract(inner, scratch, out=inner)
        np.multiply(inner, factor, out=inner)
        np.add(inner, middle, out=inner)

    theirs()
    expected = out.copy()
    out[1:-1, 1:-1] = np.nan
    yield Case(
        f"5-point stencil {side} x {side}",
        "slices with out=",
        stencil_five_point_kernel,
        lambda k: k[grid, (BLOCK_X, BLOCK_Y)](u, factor, out),
        theirs,
        out,
        expected,
        1e-5,
    )


def transpose(n: int) -> Iterator[Case]:
    side = math.isqrt(n)
    comparison = CASES["transpose_padded"].of(side, side)
    yield _of_book(f"transpose {side} x {side}", "np.copyto(out, a.T)", comparison)


def histogram(n: int) -> Iterator[Case]:
    comparison = CASES["histogram_privatised"].of(n)
    count = list(parts_of(comparison.ours))[-1]
    for dtype in (np.uint8, np.int64):
        values = count.arguments[0] = comparison.given[0].astype(dtype)
        name, of_dtype = f"histogram, {np.dtype(dtype).name}", replace(comparison, given=(values,))
        yield _of_book(name, "np.bincount", of_dtype)

        def others(values: Any = values) -> Any:
            return np.histogram(values, bins=256, range=(0, 256))

        case = _of_book(name, "np.histogram", of_dtype)
        yield replace(case, theirs=others, information=True)


def product(side: int) -> Iterator[Case]:
    from benchmarks import handwritten  # numba; only this case needs it

    comparison, loops = CASES["matmul_tiled"].of(side, side, side), handwritten.compiled()
    a, b, mine = comparison.given
    case = _of_book(f"matmul tiled {side}", "np.matmul (BLAS)", comparison)
    by_hand = lambda: loops(a, b, mine)  # noqa: E731
    yield replace(case, other="same loops by hand", theirs=by_hand)
    yield replace(case, information=True)


GROUPS: dict[str, Callable[[int], Iterator[Case]]] = {
    "vector_add": vector_add,
    "saxpy": saxpy,
    "reduction": reduction,
    "stencil": stencil,
    "transpose": transpose,
    "histogram": histogram,
}
