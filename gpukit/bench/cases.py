"""Every kernel of the book with data to run on and the NumPy that does the same.

A case is a function of the size wanted: it makes the data when it is called and returns a
`Contest`. NumPy writes into arrays made beforehand wherever it can, as the kernels do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import cuda, launch
from gpukit.bench.register import CASES, choose, contest, family, launcher, make, random
from gpukit.bench.timing import Contest
from gpukit.kernels import (
    activations,
    activations_grad,
    backprop,
    conv,
    histogram,
    image,
    matmul,
    reduce,
    scan,
    transpose,
    vector,
)

__all__ = ["CASES", "choose", "make"]


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


@family(matmul, "matmul_naive", "matmul_tiled")
def _matmul(name: str, kernel: Any, quick: bool) -> Contest:
    n = 128 if quick else 512
    a, b, mine = random(n, n), random(n, n).T.copy(), np.empty((n, n), np.float32)
    out, block = launch.empty((n, n), np.float32), (matmul.TILE, matmul.TILE)
    ours = launcher(kernel, launch.grid_2d(name, n, n, block), block, a, b, out)
    cost = getattr(matmul, f"{name}_cost")(n, n, n)
    return contest(
        name,
        f"{n} x {n} x {n}",
        ours,
        lambda: np.matmul(a, b, out=mine),
        out,
        expected=lambda: matmul.matmul_reference(a, b),
        cost=cost,
        terms=n,
    )


@family(reduce, "sum_tree", "sum_atomic", "sum_grid_stride")
def _sum(name: str, _kernel: Any, quick: bool) -> Contest:
    n = 100_000 if quick else 10_000_000
    x, found = random(n), np.empty(1, np.float32)
    moved, rung = launch.to_device(x), name.removeprefix("sum_")

    def ours() -> None:
        # The host function, because a sum is only done when the last partial sum is added.
        found[0] = reduce.sum(moved, rung=rung)

    return contest(
        name,
        f"{n:,}",
        ours,
        lambda: np.sum(x),
        found,
        terms=n,
        expected=lambda: np.array([reduce.sum_reference(x)]),
        cost=getattr(reduce, f"{name}_cost")(n),
    )


@family(scan, "scan_block", "scan_blelloch", "scan_padded", "scan_warp")
def _scan(name: str, _kernel: Any, quick: bool) -> Contest:
    n = 100_000 if quick else 10_000_000
    x, mine, rung = random(n), np.empty(n, np.float32), name.removeprefix("scan_")
    moved, out = launch.to_device(x), launch.empty((n,), np.float32)

    def ours() -> None:
        # The host function: a scan is only done when the blocks' totals are added.
        scan.inclusive_scan(moved, rung=rung, out=out)
        cuda.synchronize()

    parts = getattr(scan, f"{name}_cost")(n), scan.add_offsets_cost(n)
    return contest(
        name,
        f"{n:,}",
        ours,
        lambda: np.cumsum(x, out=mine),
        out,
        terms=60,
        expected=lambda: scan.inclusive_scan_reference(x),
        cost=launch.Cost(sum(part.bytes for part in parts), sum(part.flops for part in parts)),
    )


@family(scan, "add_offsets")
def _add_offsets(name: str, kernel: Any, quick: bool) -> Contest:
    n = 100_000 if quick else 10_000_000
    x, offsets = random(n), random(launch.ceil_div(n, scan.BLOCK))
    each, mine = np.repeat(offsets, scan.BLOCK)[:n], x.copy()
    out = launch.to_device(x.copy())  # added to in place: the first launch's answer is checked
    return contest(
        name,
        f"{n:,}",
        launcher(kernel, len(offsets), scan.BLOCK, offsets, out),
        lambda: np.add(mine, each, out=mine),
        out,
        expected=lambda: x.astype(np.float64) + each,
        cost=scan.add_offsets_cost(n),
    )


@family(scan, "compact_scatter")
def _compact(name: str, kernel: Any, quick: bool) -> Contest:
    n = 100_000 if quick else 10_000_000
    x = random(n)
    keep = x > 0
    places, kept = np.cumsum(keep, dtype=np.int32) - keep, int(keep.sum())
    mine, out = np.empty(kept, np.float32), launch.empty((kept,), np.float32)
    return contest(
        name,
        f"{n:,}",
        launcher(kernel, launch.ceil_div(n, scan.BLOCK), scan.BLOCK, x, keep, places, out),
        lambda: np.compress(keep, x, out=mine),
        out,
        expected=lambda: scan.compact_reference(x, keep),
        cost=scan.compact_scatter_cost(n, kept),
    )


@family(histogram, "histogram_atomic", "histogram_privatised")
def _histogram(name: str, _kernel: Any, quick: bool) -> Contest:
    n, bins, rung = 100_000 if quick else 10_000_000, 256, name.removeprefix("histogram_")
    x = np.random.default_rng(20261120).integers(0, bins, n, np.uint8)
    moved, out = launch.to_device(x), launch.empty((bins,), np.int32)

    def ours() -> None:
        # The host function: the atomics need bins that are 0.
        histogram.bincount(moved, bins, rung=rung, out=out)
        cuda.synchronize()

    return contest(
        name,
        f"{n:,}",
        ours,
        lambda: np.bincount(x, minlength=bins),
        out,
        expected=lambda: histogram.bincount_reference(x, bins),
        cost={
            "atomic": histogram.histogram_atomic_cost(n),
            "privatised": histogram.histogram_privatised_cost(
                n, bins, histogram.private_blocks(n, bins)
            ),
        }[rung],
    )


@family(conv, "conv2d_direct")
def _conv(name: str, kernel: Any, quick: bool) -> Contest:
    batch, size = (1, 32) if quick else (4, 128)
    picture, weight, bias = random(batch, 3, size, size), random(16, 3, 3, 3), random(16)
    out = launch.empty((batch, 16, size, size), np.float32)
    pad: dict[str, Any] = {"stride": (1, 1), "padding": (1, 1)}

    def numpy() -> Any:
        padded = np.pad(picture, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        product = np.tensordot(windows, weight, ((1, 4, 5), (1, 2, 3)))
        return np.ascontiguousarray(product.transpose(0, 3, 1, 2)) + bias[:, None, None]

    block = (conv.BLOCK_X, conv.BLOCK_Y, 1)
    grid = (*launch.grid_2d(name, size, size, block[:2]), batch * 16)
    ours = launcher(kernel, grid, block, picture, weight, bias, *pad.values(), out)
    cost = conv.conv2d_direct_cost(picture.shape, weight.shape, **pad)
    return contest(
        name,
        f"{batch} x 3 x {size} x {size}, 16 of 3 x 3",
        ours,
        numpy,
        out,
        cost=cost,
        terms=28,
        expected=lambda: conv.conv2d_reference(picture, weight, bias, **pad),
    )


_BACKPROP = (
    "linear_naive",
    "linear_tiled",
    "linear_grad_x",
    "linear_grad_weight",
    "linear_grad_bias",
)


@family(backprop, *_BACKPROP)
def _linear(name: str, kernel: Any, quick: bool) -> Contest:
    n, i, o = (16, 64, 32) if quick else (64, 1024, 512)
    x, weight, bias, grad = random(n, i), random(o, i), random(o), random(n, o)
    grads = ("linear_grad_x", "linear_grad_weight", "linear_grad_bias")
    shape, arguments, numpy = {
        "linear_grad_x": ((n, i), (grad, weight), lambda: grad @ weight),
        "linear_grad_weight": ((o, i), (grad, x), lambda: grad.T @ x),
        "linear_grad_bias": ((o,), (grad,), lambda: grad.sum(axis=0)),
    }.get(name, ((n, o), (x, weight, bias), lambda: x @ weight.T + bias))

    def expected() -> Any:
        if name in grads:
            return backprop.linear_backward_reference(x, weight, grad)[grads.index(name)]
        return backprop.linear_reference(x, weight, bias)

    out, block = launch.empty(shape, np.float32), (backprop.TILE, backprop.TILE)
    if len(shape) == 1:
        ours = launcher(kernel, launch.ceil_div(o, backprop.BLOCK), backprop.BLOCK, grad, out)
        cost = backprop.linear_grad_bias_cost(n, o)
    else:
        grid = launch.grid_2d(name, shape[1], shape[0], block)
        ours = launcher(kernel, grid, block, *arguments, out)
        cost = getattr(backprop, f"{name}_cost")(n, i, o)
    return contest(
        name,
        f"{n} x {i} to {o}",
        ours,
        numpy,
        out,
        expected=expected,
        cost=cost,
        terms=max(n, i, o),
    )
