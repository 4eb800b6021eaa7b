"""Cases of kernels that treat each element for itself: vectors, images, activations, copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import launch
from gpukit.bench.register import contest, family, launcher, random
from gpukit.bench.timing import Contest
from gpukit.kernels import activations, activations_grad, image, transpose, vector


@family(vector, "fill", "vector_add", "saxpy", "saxpy_grid_stride")
def _vector(name: str, kernel: Any, quick: bool) -> Contest:
    n = 100_000 if quick else 10_000_000
    x, y, mine = random(n), random(n)[::-1].copy(), np.empty(n, np.float32)
    out = launch.empty((n,), np.float32)
    blocks = launch.ceil_div(n, vector.BLOCK)
    if name == "saxpy_grid_stride":
        blocks = min(blocks, vector.MAX_BLOCKS)
    factor = np.float32(2.5)

    def saxpy() -> None:
        np.multiply(x, factor, out=mine)
        np.add(mine, y, out=mine)

    arguments, numpy, expected = {
        "fill": ((factor,), lambda: mine.fill(factor), lambda: vector.fill_reference(n, 2.5)),
        "vector_add": (
            (x, y),
            lambda: np.add(x, y, out=mine),
            lambda: vector.vector_add_reference(x, y),
        ),
    }.get(name, ((factor, x, y), saxpy, lambda: vector.saxpy_reference(2.5, x, y)))
    ours = launcher(kernel, blocks, vector.BLOCK, *arguments, out)
    cost = getattr(vector, f"{name}_cost")(n)
    return contest(name, f"{n:,}", ours, numpy, out, expected=expected, cost=cost)


@family(image, "invert", "grey", "box_blur")
def _image(name: str, kernel: Any, quick: bool) -> Contest:
    rows, cols = (427, 640) if quick else (3000, 4000)
    colour = np.random.default_rng(20261120).integers(0, 256, (rows, cols, 3), np.uint8)
    plane = colour[:, :, 0].astype(np.float32)
    mine, out = np.empty_like(plane), launch.empty((rows, cols), np.float32)
    weights = np.array([image.RED, image.GREEN, image.BLUE], np.float32)
    white, radius = np.float32(255), 2
    arguments, numpy, expected, size = {
        "invert": (
            (plane, white),
            lambda: np.subtract(white, plane, out=mine),
            lambda: image.invert_reference(plane),
            (rows, cols),
        ),
        "grey": (
            (colour,),
            lambda: np.matmul(colour, weights, out=mine),
            lambda: image.grey_reference(colour),
            (rows, cols),
        ),
        "box_blur": (
            (plane, radius),
            lambda: _blur(plane, radius, mine),
            lambda: image.box_blur_reference(plane, radius),
            (rows, cols, radius),
        ),
    }[name]
    block = (image.BLOCK_X, image.BLOCK_Y)
    ours = launcher(kernel, launch.grid_2d(name, cols, rows, block), block, *arguments, out)
    cost = getattr(image, f"{name}_cost")(*size)
    return contest(
        name, f"{rows} x {cols}", ours, numpy, out, expected=expected, cost=cost, terms=25
    )


def _blur(plane: Any, radius: int, out: Any) -> None:
    """Blur as NumPy users do: add up shifted copies, then divide by how many there were."""
    rows, cols = plane.shape
    padded = np.pad(plane, radius)
    out[:] = 0
    for down in range(2 * radius + 1):
        for across in range(2 * radius + 1):
            out += padded[down : down + rows, across : across + cols]
    counts = [
        np.minimum(np.arange(n) + radius + 1, n) - np.maximum(np.arange(n) - radius, 0)
        for n in (rows, cols)
    ]
    out /= np.outer(*counts).astype(np.float32)


@family(activations, "relu", "sigmoid", "tanh", "gelu")
def _activations(name: str, kernel: Any, quick: bool) -> Contest:
    n = 100_000 if quick else 10_000_000
    x, mine, out = 3 * random(n), np.empty(n, np.float32), launch.empty((n,), np.float32)

    def sigmoid() -> None:
        np.negative(x, out=mine)
        np.exp(mine, out=mine)
        np.add(mine, 1, out=mine)
        np.reciprocal(mine, out=mine)

    def gelu() -> None:
        _normal_below(x, mine)
        np.multiply(mine, x, out=mine)

    numpy = {
        "relu": lambda: np.maximum(x, 0, out=mine),
        "sigmoid": sigmoid,
        "tanh": lambda: np.tanh(x, out=mine),
        "gelu": gelu,
    }[name]
    ours = launcher(kernel, launch.ceil_div(n, activations.BLOCK), activations.BLOCK, x, out)
    reference = getattr(activations, f"{name}_reference")
    cost = getattr(activations, f"{name}_cost")(n)
    return contest(name, f"{n:,}", ours, numpy, out, expected=lambda: reference(x), cost=cost)


def _normal_below(x: Any, out: Any) -> None:
    """Write the normal distribution function of x, as well as NumPy can in float32.

    NumPy has no erf. This is formula 7.1.26 of Abramowitz and Stegun, right to 1.5e-7: as near as
    float32 comes, where the tanh that often stands for it would be another function.
    """
    t = 1 / (1 + np.float32(0.3275911 * 0.5**0.5) * np.abs(x))
    out[:] = np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        out *= t
        out += np.float32(factor)
    out *= t
    out *= np.exp(x * x * np.float32(-0.5))  # now erfc(|x| / sqrt(2))
    out *= np.float32(0.5)
    np.subtract(1, out, out=out, where=x > 0)


@family(activations_grad, "relu_grad", "sigmoid_grad", "tanh_grad", "gelu_grad")
def _activations_grad(name: str, kernel: Any, quick: bool) -> Contest:
    n = 100_000 if quick else 10_000_000
    grad, x, mine = random(n)[::-1].copy(), 3 * random(n), np.empty(n, np.float32)
    out, mask = launch.empty((n,), np.float32), np.empty(n, np.bool_)
    given = {"sigmoid_grad": 1 / (1 + np.exp(-x)), "tanh_grad": np.tanh(x)}.get(name, x)

    def relu_grad() -> None:
        np.greater(given, 0, out=mask)
        np.multiply(grad, mask, out=mine)

    def sigmoid_grad() -> None:
        np.subtract(1, given, out=mine)
        np.multiply(mine, given, out=mine)
        np.multiply(mine, grad, out=mine)

    def tanh_grad() -> None:
        np.multiply(given, given, out=mine)
        np.subtract(1, mine, out=mine)
        np.multiply(mine, grad, out=mine)

    def gelu_grad() -> None:
        _normal_below(given, mine)
        density = np.exp(given * given * np.float32(-0.5))
        density *= activations_grad.PEAK
        density *= given
        np.add(mine, density, out=mine)
        np.multiply(mine, grad, out=mine)

    numpy = {
        "relu_grad": relu_grad,
        "sigmoid_grad": sigmoid_grad,
        "tanh_grad": tanh_grad,
        "gelu_grad": gelu_grad,
    }[name]
    grid = launch.ceil_div(n, activations.BLOCK)
    ours = launcher(kernel, grid, activations.BLOCK, grad, given, out)
    reference = getattr(activations_grad, f"{name}_reference")
    cost = getattr(activations_grad, f"{name}_cost")(n)
    return contest(
        name, f"{n:,}", ours, numpy, out, expected=lambda: reference(grad, given), cost=cost
    )


_TRANSPOSES = (
    "copy",
    "copy_strided",
    "transpose_naive",
    "transpose_tiled",
    "transpose_padded",
)


@family(transpose, *_TRANSPOSES)
def _transpose(name: str, kernel: Any, quick: bool) -> Contest:
    rows, cols = (300, 500) if quick else (3000, 5000)
    x, turned = random(rows, cols), name.startswith("transpose")
    source = x.T if turned else x
    mine, out = np.empty(source.shape, np.float32), launch.empty(source.shape, np.float32)
    along = (rows, cols) if name == "copy_strided" else (cols, rows)
    tiled = name in ("transpose_tiled", "transpose_padded")
    covered = (transpose.TILE, transpose.TILE if tiled else transpose.ROWS)
    block = (transpose.TILE, transpose.ROWS)
    ours = launcher(kernel, launch.grid_2d(name, *along, covered), block, x, out)
    return contest(
        name,
        f"{rows} x {cols}",
        ours,
        lambda: np.copyto(mine, source),
        out,
        expected=lambda: np.array(source, np.float64),
        cost=getattr(transpose, f"{name}_cost")(rows, cols),
    )
