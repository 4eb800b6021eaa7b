"""Patterns in global memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gpukit import cuda
from tests.checked.access import access_kernels, definitions
from tests.checked.access.pattern import (
    PLAIN,
    Pattern,
    affine,
    in_line,
    loads,
    numbers,
    shared,
    stores,
)

TYPES = (np.uint8, np.int16, np.float32, np.float64, np.complex128)
STRIDES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64)


def strides() -> Iterator[Pattern]:
    for stride in STRIDES:
        cost, form = in_line(32, 4 * stride), (stride, 0, 0)
        yield affine(f"load at stride {stride}", form, PLAIN, loads(1, cost) | stores(1, 4))
        yield affine(f"store at stride {stride}", PLAIN, form, loads(1, 4) | stores(1, cost))
    yield affine("reversed", (-1, 0, 31), PLAIN, loads(1, 4) | stores(1, 4))
    yield affine("broadcast", (0, 0, 5), PLAIN, loads(1, 1) | stores(1, 4))
    yield affine("all store to one element", PLAIN, (0, 0, 5), loads(1, 4) | stores(1, 1))


def offsets() -> Iterator[Pattern]:
    for offset in range(32):
        cost, form = 4 if offset % 8 == 0 else 5, (1, 0, offset)
        yield affine(f"load from element {offset} on", form, PLAIN, loads(1, cost) | stores(1, 4))
    for offset in (1, 24, 31):
        cost, form = 4 if offset % 8 == 0 else 5, (1, 0, offset)
        yield affine(f"store from element {offset} on", PLAIN, form, loads(1, 4) | stores(1, cost))


def sizes() -> Iterator[Pattern]:
    for dtype in TYPES:
        size = np.dtype(dtype).itemsize
        for stride in (1, 2, 3, 8):
            figures = loads(1, in_line(32, stride * size, size)) | stores(1, size)
            name = f"load of {size} bytes at stride {stride}"
            yield affine(name, (stride, 0, 0), PLAIN, figures, dtype=dtype)


def blocks() -> Iterator[Pattern]:
    for threads, cost in ((1, 1), (7, 1), (31, 4), (33, 5), (48, 6), (100, 13)):
        warps = -(-threads // 32)
        figures = loads(warps, cost) | stores(warps, cost)
        yield affine(f"block of {threads}", PLAIN, PLAIN, figures, (threads, 1))
    # Rows of 64 floats: rows of a tile are contiguous, columns have a stride of 256 bytes. A warp
    # covers 2, 1 or 4 rows of the tile, so 8 warps touch that many neighbours in each column.
    for block, by_column in (((16, 16), 128), ((32, 8), 256), ((8, 32), 64)):
        name = f"tile of {block[0]} by {block[1]}"
        across, down = (1, 64, 0), (64, 1, 0)
        yield affine(f"{name}, by row", across, across, loads(8, 32) | stores(8, 32), block)
        figures = loads(8, by_column) | stores(8, by_column)
        yield affine(f"{name}, by column", down, down, figures, block)


def _on(
    name: str,
    kernel: Any,
    launch: tuple[Any, ...],
    figures: dict[str, int],
    *makers: Callable[[], Any],
) -> Pattern:
    """Return a pattern whose arguments are made by one function each."""
    return Pattern(name, kernel, launch, lambda: tuple(m() for m in makers), figures)


def _square() -> np.ndarray:
    return numbers(32 * 32).reshape(32, 32)


def transposes() -> Iterator[Pattern]:
    for block, grid in (((16, 16), (2, 2)), ((32, 8), (1, 4)), ((8, 32), (4, 1))):
        # A warp covers block[0] columns and 32 / block[0] rows, which the transpose swaps.
        rows = 32 // block[0]
        across, down = 32 * rows * max(block[0] // 8, 1), 32 * block[0] * max(rows // 8, 1)
        name = f"transpose in {block[0]} by {block[1]}"
        figures = loads(32, across) | stores(32, down)
        yield _on(name, access_kernels.transpose_kernel, (grid, block), figures, _square, _square)
    for pad, degree in ((0, 32), (1, 1), (2, 2), (16, 16)):
        tile = shared("load", 32, 32 * degree, 32) | shared("store", 32, 32, 32)
        figures, launch = loads(32, 128) | stores(32, 128) | tile, (1, (32, 32))
        name = f"tiled transpose, padding {pad}"
        yield _on(name, access_kernels.tiled_transpose(pad), launch, figures, _square, _square)


def _view(name: str, sectors: int, make: Callable[[], Any]) -> Pattern:
    """Return a contiguous copy of the first 32 elements of a view of device memory."""

    def arguments() -> tuple[Any, ...]:
        return make(), np.zeros(32, np.float32), *PLAIN, *PLAIN

    figures = loads(1, sectors) | stores(1, 4)
    return Pattern(name, access_kernels.affine_kernel, (1, 32), arguments, figures)


def views() -> Iterator[Pattern]:
    for first, cost in ((1, 5), (7, 5), (8, 4), (31, 5), (64, 4)):
        name = f"a view from element {first} on"
        yield _view(name, cost, lambda n=first: cuda.to_device(numbers(96))[n:])
    yield _view("every third element", 12, lambda: cuda.to_device(numbers(96))[::3])
    yield _view("a column of a matrix", 32, lambda: cuda.to_device(_square())[:, 3])
    yield _view("a row of a matrix", 4, lambda: cuda.to_device(_square())[5])
    figures = loads(8, 8 * 16) | stores(8, 8 * 4)
    yield _on(
        "an array in Fortran order",
        access_kernels.copy_2d_kernel,
        (1, (16, 16)),
        figures,
        lambda: np.asfortranarray(_square()),
        _square,
    )


def _records(padding: int) -> np.ndarray:
    kinds = [("before", "i4"), ("weight", "f4"), ("after", "u1", (padding,))]
    return np.zeros(32, kinds)


def indirect() -> Iterator[Pattern]:
    index = np.random.default_rng(5).permutation(256)[:64]
    elsewhere, in_order = definitions.sectors(4 * index, 4), 2 * in_line(32, 8)
    yield _on(
        "gather of a permutation",
        access_kernels.gather_kernel,
        (1, 64),
        loads(4, in_order + elsewhere) | stores(2, 8),
        lambda: numbers(256),
        lambda: index,
        lambda: numbers(64),
    )
    yield _on(
        "scatter to a permutation",
        access_kernels.scatter_kernel,
        (1, 64),
        loads(4, in_order + 8) | stores(2, elsewhere),
        lambda: numbers(64),
        lambda: index,
        lambda: numbers(256),
    )
    for n, warps, cost in ((1, 1, 1), (70, 3, 9), (96, 3, 12), (100, 4, 13)):
        yield _on(
            f"guard at {n} of 128",
            access_kernels.guarded_kernel,
            (1, 128),
            loads(warps, cost) | stores(warps, cost),
            lambda n=n: numbers(n),
            lambda n=n: numbers(n),
            lambda n=n: n,
        )
    for padding in (4, 24, 56):
        cost = in_line(32, 8 + padding, 4, 4)
        yield _on(
            f"a field of records of {8 + padding} bytes",
            access_kernels.field_kernel,
            (1, 32),
            loads(1, cost) | stores(1, 4) | {"global_bytes_asked": 256},
            lambda p=padding: _records(p),
            lambda: numbers(32),
        )


def atomics() -> Iterator[Pattern]:
    for bins in (1, 2, 7, 32, 64):
        index = np.arange(96) % bins
        halves = [index[:48], index[48:]]  # the two blocks
        figures = {
            "global_atomic_requests": 4,
            "global_atomic_sectors": sum(definitions.sectors(4 * half, 4) for half in halves),
            "atomic_serial": sum(map(definitions.most_alike, halves)),
            "atomic_contention": -(-96 // bins),
        }
        yield _on(
            f"atomics on {bins} elements",
            access_kernels.atomic_kernel,
            (2, 48),
            figures,
            lambda i=index: i,
            lambda: np.zeros(64, np.int32),
        )


GROUPS = (strides, offsets, sizes, blocks, transposes, views, indirect, atomics)
