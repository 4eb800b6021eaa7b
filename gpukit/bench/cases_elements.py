"""Cases of kernels that treat each element for itself: vectors, images, activations, copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.bench.register import Example, example, group, past_a_tile, random
from gpukit.bench.rivals import normal_below
from gpukit.kernels import activations, activations_grad, image, transpose, vector
from gpukit.launch import Variant

N = (100_000,), (10_000_000,), (100_000_000,)
FACTOR = np.float32(2.5)


@group(*vector.FILL_VARIANTS, sizes=N, small=past_a_tile)
def _fill(variant: Variant, n: int) -> Example:
    given = random(n), random(n, draw=1)

    def work(_: Any, *arrays: Any) -> None:
        arrays[-1].fill(FACTOR)

    return example(variant, (n,), (FACTOR,), (n,), work, given=given, mine=True, told=(n, FACTOR))


@group(*vector.ADD_VARIANTS, sizes=N, small=past_a_tile)
def _add(variant: Variant, n: int) -> Example:
    def work(xp: Any, x: Any, y: Any, mine: Any) -> None:
        xp.add(x, y, out=mine)

    return example(variant, (n,), (random(n), random(n, draw=1)), (n,), work, mine=True)


@group(*vector.SAXPY_VARIANTS, sizes=N, small=past_a_tile)
def _saxpy(variant: Variant, n: int) -> Example:
    def work(xp: Any, x: Any, y: Any, mine: Any) -> None:
        xp.multiply(x, FACTOR, out=mine)
        xp.add(mine, y, out=mine)

    return example(variant, (n,), (FACTOR, random(n), random(n, draw=1)), (n,), work, mine=True)


# ---- images ---------------------------------------------------------------------------------

PICTURE = (427, 640), (3000, 4000), (12_000, 16_000)
INVERT, GREY, BOX_BLUR = image.VARIANTS
WHITE, RADIUS = np.float32(255), 2


def _colour(rows: int, cols: int) -> Any:
    return np.random.default_rng(20261120).integers(0, 256, (rows, cols, 3), np.uint8)


def _plane(rows: int, cols: int) -> Any:
    return _colour(rows, cols)[:, :, 0].astype(np.float32)


@group(INVERT, sizes=PICTURE, small=[(11, 37)])
def _invert(variant: Variant, rows: int, cols: int) -> Example:
    def work(xp: Any, plane: Any, mine: Any) -> None:
        xp.subtract(WHITE, plane, out=mine)

    plane, shape = _plane(rows, cols), (rows, cols)
    return example(
        variant, shape[::-1], (plane, WHITE), shape, work, mine=True, told=(plane,), terms=25
    )


@group(GREY, sizes=PICTURE, small=[(11, 37)])
def _grey(variant: Variant, rows: int, cols: int) -> Example:
    def work(xp: Any, colour: Any, weights: Any, mine: Any) -> None:
        xp.matmul(colour, weights, out=mine)

    colour, shape = _colour(rows, cols), (rows, cols)
    weights = np.array([image.RED, image.GREEN, image.BLUE], np.float32)
    given = colour, weights
    return example(variant, shape[::-1], (colour,), shape, work, given=given, mine=True, terms=25)


@group(BOX_BLUR, sizes=PICTURE, small=[(11, 37)])
def _box_blur(variant: Variant, rows: int, cols: int) -> Example:
    inputs, shape = (_plane(rows, cols), RADIUS), (rows, cols)
    cost = variant.cost(rows, cols, RADIUS)
    return example(
        variant, shape[::-1], inputs, shape, _blur, given=inputs, mine=True, cost=cost, terms=25
    )


def _blur(xp: Any, plane: Any, radius: int, out: Any) -> None:
    """Blur as NumPy users do: add up shifted copies, then divide by how many there were."""
    rows, cols = plane.shape
    padded = xp.pad(plane, radius)
    out[:] = 0
    for down in range(2 * radius + 1):
        for across in range(2 * radius + 1):
            out += padded[down : down + rows, across : across + cols]
    counts = [
        xp.minimum(xp.arange(n) + radius + 1, n) - xp.maximum(xp.arange(n) - radius, 0)
        for n in (rows, cols)
    ]
    out /= xp.outer(*counts).astype(np.float32)


# ---- activations and their gradients --------------------------------------------------------


def _relu(xp: Any, x: Any, mine: Any) -> None:
    xp.maximum(x, 0, out=mine)


def _sigmoid(xp: Any, x: Any, mine: Any) -> None:
    xp.negative(x, out=mine)
    xp.exp(mine, out=mine)
    xp.add(mine, 1, out=mine)
    xp.reciprocal(mine, out=mine)


def _tanh(xp: Any, x: Any, mine: Any) -> None:
    xp.tanh(x, out=mine)


def _gelu(xp: Any, x: Any, mine: Any) -> None:
    normal_below(xp, x, mine)
    xp.multiply(mine, x, out=mine)


def _relu_grad(xp: Any, grad: Any, x: Any, mine: Any) -> None:
    xp.multiply(grad, xp.greater(x, 0), out=mine)


def _sigmoid_grad(xp: Any, grad: Any, y: Any, mine: Any) -> None:
    xp.subtract(1, y, out=mine)
    xp.multiply(mine, y, out=mine)
    xp.multiply(mine, grad, out=mine)


def _tanh_grad(xp: Any, grad: Any, y: Any, mine: Any) -> None:
    xp.multiply(y, y, out=mine)
    xp.subtract(1, mine, out=mine)
    xp.multiply(mine, grad, out=mine)


def _gelu_grad(xp: Any, grad: Any, x: Any, mine: Any) -> None:
    normal_below(xp, x, mine)
    density = xp.exp(x * x * np.float32(-0.5))
    density *= activations_grad.PEAK
    density *= x
    xp.add(mine, density, out=mine)
    xp.multiply(mine, grad, out=mine)


FUNCTIONS = (_relu, _sigmoid, _tanh, _gelu)
GRADIENTS = (_relu_grad, _sigmoid_grad, _tanh_grad, _gelu_grad)


@group(*activations.VARIANTS, sizes=N, small=past_a_tile)
def _activation(variant: Variant, n: int) -> Example:
    work = FUNCTIONS[activations.VARIANTS.index(variant) // 2]
    return example(variant, (n,), (3 * random(n),), (n,), work, mine=True)


@group(*activations_grad.VARIANTS, sizes=N, small=past_a_tile)
def _activation_grad(variant: Variant, n: int) -> Example:
    work, x = GRADIENTS[activations_grad.VARIANTS.index(variant) // 2], 3 * random(n)
    if work is _sigmoid_grad:
        x = 1 / (1 + np.exp(-x))
    elif work is _tanh_grad:
        x = np.tanh(x)
    return example(variant, (n,), (random(n, draw=1), x), (n,), work, mine=True)


IN_FOURS = transpose.COPY_VARIANTS[2]


@group(
    *transpose.VARIANTS,
    sizes=((300, 500), (3000, 5000), (12_000, 20_000)),
    small=lambda variant: [(9, 140), (3, 8)] if variant is IN_FOURS else [(35, 41), (9, 70)],
)
def _transpose(variant: Variant, rows: int, cols: int) -> Example:
    x = random(rows, cols)
    source = x.T if variant in transpose.TRANSPOSE_VARIANTS else x

    def work(xp: Any, source: Any, mine: Any) -> None:
        xp.copyto(mine, source)

    return example(variant, (cols, rows), (x,), source.shape, work, given=(source,), mine=True)
