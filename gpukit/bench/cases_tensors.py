"""Cases of kernels on matrices and layers: products, convolutions, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpukit import launch
from gpukit.bench.register import Launch, contest, family, pick, poisoned, random
from gpukit.bench.timing import Contest
from gpukit.kernels import (
    backprop,
    batched_matmul,
    conv,
    matmul,
    matmul_bf16,
    matmul_tensor,
    matmul_wide,
    matvec,
)
from gpukit.primitives import tensor


@family(
    matvec, "matvec_thread_a_row", "matvec_warp_a_row", "matvec_block_a_row", "matvec_vectorised"
)
def _matvec(name: str, kernel: Any, quick: bool) -> Contest:
    rows, cols = pick(quick, (130, 300), (4000, 2500), (16_384, 16_384))
    a, x, mine = random(rows, cols), random(cols, draw=1), np.empty(rows, np.float32)
    out = poisoned((rows,), np.float32)
    rung = launch.pick("matvec", matvec.LADDER, name.removeprefix("matvec_"))
    grid = launch.grid_1d(name, rows, matvec.ROWS_A_BLOCK[rung.name])
    ours = Launch(kernel, grid, rung.block, a, x, out)
    return contest(
        name,
        f"{rows} x {cols}",
        ours,
        lambda xp, a, x, mine: xp.matmul(a, x, out=mine),
        out,
        given=(a, x, mine),
        expected=lambda: matvec.matvec_reference(a, x),
        cost=getattr(matvec, f"{name}_cost")(rows, cols),
        terms=cols,
    )


@family(matmul_bf16, *(f"matmul_{rung.name}" for rung in matmul_bf16.MATMUL_LADDER))
@family(matmul_tensor, *(f"matmul_{rung.name}" for rung in matmul_tensor.LADDER))
@family(matmul_wide, *(f"matmul_{rung.name}" for rung in matmul_wide.LADDER))
@family(matmul, *(f"matmul_{rung.name}" for rung in matmul.LADDER))
def _matmul(name: str, kernel: Any, quick: bool) -> Contest:
    rung = launch.pick(name, matmul.RUNGS, name.removeprefix("matmul_"))
    sizes = (136, 512, 8192) if rung.name in matmul.BF16 else (128, 512, 4096)
    n = pick(quick, *sizes)
    a, b, mine = random(n, n), random(n, n, draw=1), np.empty((n, n), np.float32)
    matrices = (a, b)
    if rung.name in matmul.BF16:  # for NumPy, numbers that are rounded already
        matrices = (tensor.bf16(a), tensor.bf16(b))
        a, b = map(tensor.from_bf16, matrices)
    out, block = poisoned((n, n), np.float32), (matmul.TILE, matmul.TILE)
    grid = matmul.grid_of(rung.name, n, n)
    ours = Launch(kernel, grid, block, *matrices, out)
    return contest(
        name,
        f"{n} x {n} x {n}",
        ours,
        lambda xp, a, b, mine: xp.matmul(a, b, out=mine),
        out,
        given=(a, b, mine),
        expected=lambda: matmul.reference_of(rung.name)(a, b),
        cost=rung.cost(n, n, n),
        terms=n,
    )


@family(matmul_bf16, "round_bf16")
def _round_bf16(name: str, kernel: Any, quick: bool) -> Contest:
    rows, cols = pick(quick, (33, 65), (4000, 2500), (16_384, 16_384))
    x, mine = random(rows, cols), np.empty((rows, cols), np.uint16)
    out, block = poisoned((rows, cols), np.uint16), matmul_bf16.ROUND_BLOCK
    ours = Launch(kernel, launch.grid_2d(name, cols, rows, block), block, x, out)

    def work(xp: Any, x: Any, mine: Any) -> Any:
        bits = x.view(xp.uint32)
        odd = bits >> xp.uint32(16) & xp.uint32(1)
        mine[...] = (bits + xp.uint32(0x7FFF) + odd) >> xp.uint32(16)
        return mine

    return contest(
        name,
        f"{rows} x {cols}",
        ours,
        work,
        out,
        given=(x, mine),
        expected=lambda: matmul_bf16.round_bf16_reference(x),
        cost=matmul_bf16.round_bf16_cost(rows, cols, cols),
    )


@family(batched_matmul, "matmul_batched")
def _batched_matmul(name: str, kernel: Any, quick: bool) -> Contest:
    batches, n = pick(quick, (3, 33), (64, 128), (64, 1024))
    a, b = random(batches, n, n), random(batches, n, n, draw=1)
    mine, out = np.empty((batches, n, n), np.float32), poisoned((batches, n, n), np.float32)
    tile = batched_matmul.TILE
    grid = (*launch.grid_2d(name, n, n, (tile, tile)), batches)
    return contest(
        name,
        f"{batches} of {n} x {n} x {n}",
        Launch(kernel, grid, (tile, tile, 1), a, b, out),
        lambda xp, a, b, mine: xp.matmul(a, b, out=mine),
        out,
        given=(a, b, mine),
        expected=lambda: batched_matmul.batched_matmul_reference(a, b),
        cost=batched_matmul.matmul_batched_cost(batches, n, n, n),
        terms=n,
    )


@family(conv, "conv2d_direct")
def _conv(name: str, kernel: Any, quick: bool) -> Contest:
    batch, size = pick(quick, (1, 32), (4, 128), (128, 128))
    picture, weight, bias = (
        random(*shape, draw=k)
        for k, shape in enumerate([(batch, 3, size, size), (16, 3, 3, 3), (16,)])
    )
    out = poisoned((batch, 16, size, size), np.float32)
    pad: dict[str, Any] = {"stride": (1, 1), "padding": (1, 1)}

    def work(xp: Any, picture: Any, weight: Any, bias: Any) -> Any:
        padded = xp.pad(picture, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = xp.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        product = xp.tensordot(windows, weight, ((1, 4, 5), (1, 2, 3)))
        return xp.ascontiguousarray(product.transpose(0, 3, 1, 2)) + bias[:, None, None]

    block = (conv.BLOCK_X, conv.BLOCK_Y, 1)
    grid = (*launch.grid_2d(name, size, size, block[:2]), batch * 16)
    ours = Launch(kernel, grid, block, picture, weight, bias, *pad.values(), out)
    cost = conv.conv2d_direct_cost(picture.shape, weight.shape, **pad)
    return contest(
        name,
        f"{batch} x 3 x {size} x {size}, 16 of 3 x 3",
        ours,
        work,
        out,
        given=(picture, weight, bias),
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
    n, i, o = pick(quick, (16, 64, 32), (64, 1024, 512), (4096, 4096, 4096))
    x, weight, bias, grad = (
        random(*shape, draw=k) for k, shape in enumerate([(n, i), (o, i), (o,), (n, o)])
    )
    grads = ("linear_grad_x", "linear_grad_weight", "linear_grad_bias")
    shape, arguments, work = {
        "linear_grad_x": ((n, i), (grad, weight), lambda _, grad, weight: grad @ weight),
        "linear_grad_weight": ((o, i), (grad, x), lambda _, grad, x: grad.T @ x),
        "linear_grad_bias": ((o,), (grad,), lambda _, grad: grad.sum(axis=0)),
    }.get(name, ((n, o), (x, weight, bias), lambda _, x, weight, bias: x @ weight.T + bias))

    def expected() -> Any:
        if name in grads:
            return backprop.linear_backward_reference(x, weight, grad)[grads.index(name)]
        return backprop.linear_reference(x, weight, bias)

    out, block = poisoned(shape, np.float32), (backprop.TILE, backprop.TILE)
    if len(shape) == 1:
        ours = Launch(kernel, launch.ceil_div(o, backprop.BLOCK), backprop.BLOCK, grad, out)
        cost = backprop.linear_grad_bias_cost(n, o)
    else:
        grid = launch.grid_2d(name, shape[1], shape[0], block)
        ours = Launch(kernel, grid, block, *arguments, out)
        cost = getattr(backprop, f"{name}_cost")(n, i, o)
    return contest(
        name,
        f"{n} x {i} to {o}",
        ours,
        work,
        out,
        given=arguments,
        expected=expected,
        cost=cost,
        terms=max(n, i, o),
    )
