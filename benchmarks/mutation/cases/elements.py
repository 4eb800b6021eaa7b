"""Launches of kernels with one thread for an element, and of those that move elements."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.mutation.cases.register import Array, Case, case, of, values
from gpukit import launch
from gpukit.kernels import activations, activations_grad, image, transpose, vector

FACTOR = np.float32(2.5)
FLOAT4S = 1301  # for kernels that move four: two blocks, one element behind the last four


@of(vector.fill_kernel)
def _fill(n: int = 300) -> Iterator[Case]:
    yield case(2, vector.BLOCK, (FACTOR,), vector.fill_reference(n, 2.5))


@of(vector.vector_add_kernel)
def _vector_add(n: int = 300) -> Iterator[Case]:
    a, b = values(2, n)
    yield case(2, vector.BLOCK, (a, b), vector.vector_add_reference(a, b))


@of(vector.saxpy_kernel)
def _saxpy(n: int = 300) -> Iterator[Case]:
    x, y = values(2, n)
    yield case(2, vector.BLOCK, (FACTOR, x, y), vector.saxpy_reference(2.5, x, y))


@of(vector.saxpy_grid_stride_kernel)
def _saxpy_grid_stride() -> Iterator[Case]:
    x, y = values(2, 1300)
    yield case(2, vector.BLOCK, (FACTOR, x, y), vector.saxpy_reference(2.5, x, y))


for _kernel, _maker in (
    (vector.fill_wide_kernel, _fill), (vector.vector_add_wide_kernel, _vector_add),
    (vector.saxpy_wide_kernel, _saxpy),
):  # fmt: skip
    of(_kernel)(functools.partial(_maker, FLOAT4S))


def _pixels(cols: int, rows: int) -> tuple[Any, Any]:
    block = (image.BLOCK_X, image.BLOCK_Y)
    return launch.grid_2d("mutants", cols, rows, block), block


@of(image.invert_kernel)
def _invert() -> Iterator[Case]:
    plane = values(11, 37)
    yield case(*_pixels(37, 11), (plane, np.float32(255)), image.invert_reference(plane))


@of(image.grey_kernel)
def _grey() -> Iterator[Case]:
    colour = values(11, 37, 3, dtype=np.uint8)
    yield case(*_pixels(37, 11), (colour,), image.grey_reference(colour), 3)


@of(image.box_blur_kernel)
def _box_blur() -> Iterator[Case]:
    plane = values(11, 37)
    for radius in (1, 2):
        yield case(*_pixels(37, 11), (plane, radius), image.box_blur_reference(plane, radius), 25)


def _signed(n: int) -> Array:
    """Return numbers of both signs from -3 to 3, none of them near 0."""
    x = 2 * values(n) - 1
    return np.where(np.arange(n) % 2, x, -x).astype(np.float32)


def _activation(name: str, n: int) -> Iterator[Case]:
    # Some beyond the limits of gelu, where float32 gives 0 and x.
    x = _signed(n)
    x[:2] = -50, 50
    reference = getattr(activations, f"{name}_reference")
    yield case(2, activations.BLOCK, (x,), reference(x))
    yield case(1, activations.BLOCK, (x[2:13],), reference(x[2:13]))


for _variant in activations.VARIANTS:
    _name = _variant.name.removesuffix("_wide")
    of(_variant.kernel)(functools.partial(_activation, _name, FLOAT4S if _variant.tile else 300))


def _activation_grad(name: str, n: int) -> Iterator[Case]:
    grad, x = values(n), _signed(n)
    x[5] = 0  # where relu has no slope, and the gradient is 0 by agreement
    if name in ("sigmoid_grad", "tanh_grad"):
        x = (1 / (1 + np.exp(-x))).astype(np.float32)
    reference = getattr(activations_grad, f"{name}_reference")
    yield case(2, activations.BLOCK, (grad, x), reference(grad, x))
    if name == "gelu_grad":
        x = np.array([-1e20, -50, 50, 1e20], np.float32)
        yield case(1, activations.BLOCK, (grad[:4], x), reference(grad[:4], x))


for _variant in activations_grad.VARIANTS:
    _name = _variant.name.removesuffix("_wide")
    of(_variant.kernel)(
        functools.partial(_activation_grad, _name, FLOAT4S if _variant.tile else 300)
    )


def _moved(variant: launch.Variant) -> Iterator[Case]:
    """Yield launches of a copy or transpose."""
    for rows, cols in ((9, 4 * 35), (3, 8)) if variant.name == "wide" else ((35, 41), (9, 70)):
        x = values(rows, cols)
        right = variant.reference(x).astype(np.float32)
        yield case(variant.grid("mutants", cols, rows), variant.block, (x,), right)


for _variant in transpose.VARIANTS:
    of(_variant.kernel)(functools.partial(_moved, _variant))
