"""Cases of kernels that treat each element for itself: vectors, images, activations, copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit.bench.register import comparison, group, launched, pick, poisoned, random
from gpukit.bench.timing import Comparison
from gpukit.kernels import activations, activations_grad, image, transpose, vector
from gpukit.launch import Variant


@group(*vector.VARIANTS)
def _vector(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, y, mine = random(n), random(n, draw=1), np.empty(n, np.float32)
    out = poisoned((n,), np.float32)
    factor = np.float32(2.5)

    def saxpy(xp: Any, x: Any, y: Any, mine: Any) -> None:
        xp.multiply(x, factor, out=mine)
        xp.add(mine, y, out=mine)

    arguments, work, told = {
        "fill": ((factor,), lambda _, *arrays: arrays[-1].fill(factor), (n, 2.5)),
        "vector_add": ((x, y), lambda xp, x, y, mine: xp.add(x, y, out=mine), (x, y)),
    }.get(name.removesuffix("_wide"), ((factor, x, y), saxpy, (2.5, x, y)))
    ours, cost = launched(variant, (n,), *arguments, out), variant.cost(n)
    given = (x, y, mine)
    return comparison(
        name, f"{n:,}", ours, work, out,
        given=given, expected=lambda: variant.reference(*told), cost=cost,
    )  # fmt: skip


@group(*image.VARIANTS)
def _image(name: str, variant: Variant, quick: bool) -> Comparison:
    rows, cols = pick(quick, (427, 640), (3000, 4000), (12_000, 16_000))
    colour = np.random.default_rng(20261120).integers(0, 256, (rows, cols, 3), np.uint8)
    plane = colour[:, :, 0].astype(np.float32)
    mine, out = np.empty_like(plane), poisoned((rows, cols), np.float32)
    weights = np.array([image.RED, image.GREEN, image.BLUE], np.float32)
    white, radius = np.float32(255), 2
    arguments, work, given, told, size = {
        "invert": (
            (plane, white),
            lambda xp, plane, mine: xp.subtract(white, plane, out=mine),
            (plane, mine),
            (plane,),
            (rows, cols),
        ),
        "grey": (
            (colour,),
            lambda xp, colour, weights, mine: xp.matmul(colour, weights, out=mine),
            (colour, weights, mine),
            (colour,),
            (rows, cols),
        ),
        "box_blur": (
            (plane, radius),
            _blur,
            (plane, radius, mine),
            (plane, radius),
            (rows, cols, radius),
        ),
    }[name]
    ours = launched(variant, (cols, rows), *arguments, out)
    return comparison(
        name, f"{rows} x {cols}", ours, work, out,
        given=given, expected=lambda: variant.reference(*told), cost=variant.cost(*size), terms=25,
    )  # fmt: skip


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


@group(*activations.VARIANTS)
def _activations(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    x, mine, out = 3 * random(n), np.empty(n, np.float32), poisoned((n,), np.float32)

    def sigmoid(xp: Any, x: Any, mine: Any) -> None:
        xp.negative(x, out=mine)
        xp.exp(mine, out=mine)
        xp.add(mine, 1, out=mine)
        xp.reciprocal(mine, out=mine)

    def gelu(xp: Any, x: Any, mine: Any) -> None:
        _normal_below(xp, x, mine)
        xp.multiply(mine, x, out=mine)

    work = {
        "relu": lambda xp, x, mine: xp.maximum(x, 0, out=mine),
        "sigmoid": sigmoid,
        "tanh": lambda xp, x, mine: xp.tanh(x, out=mine),
        "gelu": gelu,
    }[name.removesuffix("_wide")]
    return comparison(
        name, f"{n:,}", launched(variant, (n,), x, out), work, out,
        given=(x, mine), expected=lambda: variant.reference(x), cost=variant.cost(n),
    )  # fmt: skip


def _normal_below(xp: Any, x: Any, out: Any) -> None:
    """Write the normal distribution function of x, as well as NumPy can in float32.

    NumPy has no erf. This is formula 7.1.26 of Abramowitz and Stegun, right to 1.5e-7: as near as
    float32 comes, where the tanh that often stands for it would be another function.
    """
    t = 1 / (1 + np.float32(0.3275911 * 0.5**0.5) * xp.abs(x))
    out[:] = np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        out *= t
        out += np.float32(factor)
    out *= t
    out *= xp.exp(x * x * np.float32(-0.5))  # now erfc(|x| / sqrt(2))
    out *= np.float32(0.5)
    out[:] = xp.where(x > 0, 1 - out, out)


@group(*activations_grad.VARIANTS)
def _activations_grad(name: str, variant: Variant, quick: bool) -> Comparison:
    n = pick(quick, 100_000, 10_000_000, 100_000_000)
    grad, x, mine = random(n, draw=1), 3 * random(n), np.empty(n, np.float32)
    out = poisoned((n,), np.float32)
    function = name.removesuffix("_wide")
    given = {"sigmoid_grad": 1 / (1 + np.exp(-x)), "tanh_grad": np.tanh(x)}.get(function, x)

    def relu_grad(xp: Any, grad: Any, given: Any, mine: Any) -> None:
        xp.multiply(grad, xp.greater(given, 0), out=mine)

    def sigmoid_grad(xp: Any, grad: Any, given: Any, mine: Any) -> None:
        xp.subtract(1, given, out=mine)
        xp.multiply(mine, given, out=mine)
        xp.multiply(mine, grad, out=mine)

    def tanh_grad(xp: Any, grad: Any, given: Any, mine: Any) -> None:
        xp.multiply(given, given, out=mine)
        xp.subtract(1, mine, out=mine)
        xp.multiply(mine, grad, out=mine)

    def gelu_grad(xp: Any, grad: Any, given: Any, mine: Any) -> None:
        _normal_below(xp, given, mine)
        density = xp.exp(given * given * np.float32(-0.5))
        density *= activations_grad.PEAK
        density *= given
        xp.add(mine, density, out=mine)
        xp.multiply(mine, grad, out=mine)

    work = {
        "relu_grad": relu_grad,
        "sigmoid_grad": sigmoid_grad,
        "tanh_grad": tanh_grad,
        "gelu_grad": gelu_grad,
    }[function]
    return comparison(
        name, f"{n:,}", launched(variant, (n,), grad, given, out), work, out,
        given=(grad, given, mine), expected=lambda: variant.reference(grad, given),
        cost=variant.cost(n),
    )  # fmt: skip


@group(*transpose.VARIANTS)
def _transpose(name: str, variant: Variant, quick: bool) -> Comparison:
    rows, cols = pick(quick, (300, 500), (3000, 5000), (12_000, 20_000))
    x, turned = random(rows, cols), variant in transpose.TRANSPOSE_VARIANTS
    source = x.T if turned else x
    mine, out = np.empty(source.shape, np.float32), poisoned(source.shape, np.float32)
    return comparison(
        name,
        f"{rows} x {cols}",
        launched(variant, (cols, rows), x, out),
        lambda xp, source, mine: xp.copyto(mine, source),
        out,
        given=(source, mine),
        expected=lambda: variant.reference(x),
        cost=variant.cost(rows, cols),
    )
