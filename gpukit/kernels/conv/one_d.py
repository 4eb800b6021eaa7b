"""1D convolution of signals such as audio: direct, and with a tile and its halo in shared memory.

    out(n, o, x) = bias(o) + sum over i, k of weight(o, i, k)
                   * signal(n, i, stride x + dilation k - padding)

where signal is zero outside. The weights are not flipped.

Legend
    N, C, L      signals, channels and length of them                16, 2, 44100
    O, K         output channels, width of the window                8, 9
    n, o, i      signal, output channel, input channel of its group  [0, N), [0, O)
    x            index in out                                        [0, 44100)
    k            index in the window                                 [0, K)
    plane        one channel of one signal of out, n O + o           [0, N O)
    at           index in the signal                                 [0, L)
    left         first index of the signal in the block's tile       -4, 252, 508, ...
    tid          the thread in its block                             [0, BLOCK)
    halo         the K - 1 elements of a tile beyond the size of the block
    BLOCK        threads per block                                   256
    TILE         elements of the shared array of the tile            1024
    T            taps inside the signal, of all planes and channels

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulator; the rest int
    Launch     block (BLOCK, 1), grid (ceil_div(len(out), BLOCK), min(N O, 65535)); x = index,
               y = plane
    Errors     the host function rejects shapes that do not fit, stride < 1, padding < 0 and a
               window larger than the padded signal; the kernels assume none of these
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.conv.direct import conv2d_reference
from gpukit.kernels.conv.windows import Shape, out_size, taps_inside
from gpukit.launch import Cost, Variant, ceil_div

BLOCK = 256
TILE = 1024

# --- Reference -------------------------------------------------------------------------------


def conv1d_reference(
    signal: npt.ArrayLike,
    weight: npt.ArrayLike,
    bias: npt.ArrayLike,
    *,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
) -> npt.NDArray[np.float64]:
    """Return the convolution, as that of images of one row."""
    image, window = np.expand_dims(np.asarray(signal), 2), np.expand_dims(np.asarray(weight), 2)
    moves = {"stride": (1, stride), "padding": (0, padding), "dilation": (1, dilation)}
    return conv2d_reference(image, window, bias, **moves)[:, :, 0]


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit
def conv1d_direct_kernel(signal, weight, bias, stride, padding, dilation, out):
    """Convolve signals, one element of out per thread in each plane.

    New here   neighbouring threads read neighbouring elements, so each load of a warp is coalesced,
               but K threads read each element
    Shapes     signal (N, C, L), weight (O, C / groups, K), bias (O,), stride, padding, dilation
               scalars, out (N, O, out_size(L, ...)); any sizes >= 1, C order
    Cost       bytes: itemsize (2 T + 2 out.size); flops: 2 T; barriers: 0
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., ch. 7.1
    """
    x = cuda.grid(1)
    channels, depth = weight.shape[0], weight.shape[1]
    group = channels * depth // signal.shape[1]  # output channels per group
    if x < out.shape[2]:
        for plane in range(cuda.blockIdx.y, out.shape[0] * channels, cuda.gridDim.y):
            n, o = plane // channels, plane % channels
            acc = bias[o]
            for i in range(depth):
                for k in range(weight.shape[2]):
                    at = stride * x + dilation * k - padding
                    if 0 <= at < signal.shape[2]:
                        acc += weight[o, i, k] * signal[n, o // group * depth + i, at]
            out[n, o, x] = acc


def conv1d_direct_cost(signal: Shape, weight: Shape, *, itemsize: int = 4, **moves: int) -> Cost:
    """Each tap inside loads a weight and an element; a bias and a store per element of out."""
    (batch, _, length), (channels, depth, k) = signal, weight
    stride, padding, dilation = _moves(**moves)
    taps = taps_inside((1, length), (1, k), (1, stride), (0, padding), (1, dilation))
    taps *= batch * channels * depth
    elements = batch * channels * out_size(length, k, stride, padding, dilation)
    return Cost(bytes=itemsize * 2 * (taps + elements), flops=2 * taps)


@cuda.jit
def conv1d_tiled_kernel(signal, weight, bias, stride, padding, dilation, out):
    """Convolve signals, BLOCK elements of out per block in each plane.

    New here   the threads of a block load all elements of their windows into shared memory, once:
               a tile of BLOCK elements and a halo for the windows that extend beyond it. These
               are more elements than threads, so some threads load two
    Shapes     signal (N, C, L), weight (O, C / groups, K), bias (O,), stride, padding, dilation
               scalars, out (N, O, out_size(L, ...)); any sizes >= 1, C order
    Shared     TILE * itemsize bytes, static
    Cost       bytes: itemsize (N O C' (L' + B K) + N O B + out.size), where C' is C / groups, B the
               threads of a plane and L' the elements of a plane's tiles inside the signal;
               flops: 2 N O C' B K; barriers: 2 C' per plane
    Errors     the host function launches direct for windows that do not fit TILE; else as all
    Source     Hwu and others, Programming Massively Parallel Processors, 4th ed., ch. 7.4
    """
    x, tid = cuda.grid(1), cuda.threadIdx.x
    channels, depth, window = weight.shape
    group = channels * depth // signal.shape[1]  # output channels per group
    tile = cuda.shared.array(TILE, out.dtype)
    left = cuda.blockIdx.x * BLOCK * stride - padding
    reach = (BLOCK - 1) * stride + (window - 1) * dilation + 1
    for plane in range(cuda.blockIdx.y, out.shape[0] * channels, cuda.gridDim.y):
        n, o = plane // channels, plane % channels
        acc = bias[o]
        for i in range(depth):
            channel = o // group * depth + i
            for first in range(0, reach, BLOCK):
                element = first + tid
                at = left + element
                if element < reach:
                    inside = 0 <= at < signal.shape[2]
                    tile[element] = signal[n, channel, at] if inside else out.dtype.type(0)
            cuda.syncthreads()  # the tile is written before any thread reads it
            for k in range(window):
                acc += weight[o, i, k] * tile[stride * tid + dilation * k]
            cuda.syncthreads()  # all threads have read the tile before the next one is loaded
        if x < out.shape[2]:
            out[n, o, x] = acc


def conv1d_tiled_cost(signal: Shape, weight: Shape, *, itemsize: int = 4, **moves: int) -> Cost:
    """Each block loads its tile per channel; threads outside out load weights all the same."""
    (batch, _, length), (channels, depth, k) = signal, weight
    stride, padding, dilation = _moves(**moves)
    elements = out_size(length, k, stride, padding, dilation)
    blocks = ceil_div(elements, BLOCK)
    left = np.arange(blocks) * BLOCK * stride - padding
    right = np.minimum(left + reach_of_block(k, stride, dilation), length)
    loads = int(np.maximum(right - np.maximum(left, 0), 0).sum())
    planes, threads = batch * channels, blocks * BLOCK
    return Cost(
        bytes=itemsize * planes * (depth * (loads + threads * k) + threads + elements),
        flops=2 * planes * depth * threads * k,
    )


def _moves(stride: int = 1, padding: int = 0, dilation: int = 1) -> tuple[int, int, int]:
    """Return how a window moves, with PyTorch's defaults."""
    return stride, padding, dilation


def reach_of_block(window: int, stride: int, dilation: int) -> int:
    """Return how many elements the windows of a block span."""
    return (BLOCK - 1) * stride + (window - 1) * dilation + 1


# --- Host function ---------------------------------------------------------------------------


@signature.takes("input: n c l, weight: o taps k, bias?: o -> n o size")
def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
    *,
    variant: str = "tiled",
    out: Any = None,
    stream: Any = 0,
) -> Any:
    """Return the 1D convolution of a batch of signals with zero padding, as torch.conv1d does.

    Input (16, 2, 44100), weight (8, 2, 9) and bias (8,) with padding 4 give (16, 8, 44100). All
    float32 or all float64. The variant tiled falls back to direct where windows exceed its tile.
    """
    chosen = launch.pick("conv1d", VARIANTS, variant)
    stride, padding, dilation = (
        launch.check_int("conv1d", name, value, least=least)
        for name, value, least in (
            ("stride", stride, 1),
            ("padding", padding, 0),
            ("dilation", dilation, 1),
        )
    )
    _check_operands(input, weight, groups)
    size = out_size(input.shape[2], weight.shape[2], stride, padding, dilation)
    if size < 1:
        raise ValueError(
            "conv1d: expected a window no larger than the padded signal, got "
            f"{dilation * (weight.shape[2] - 1) + 1} and {input.shape[2] + 2 * padding}. Pad more."
        )
    shape = input.shape[0], weight.shape[0], size
    result = out.of(shape)
    if math.prod(shape):
        if chosen.instead and reach_of_block(weight.shape[2], stride, dilation) > TILE:
            chosen = launch.pick("conv1d", VARIANTS, chosen.instead)
        grid = chosen.grid("conv1d", size, shape[0] * shape[1])
        bias = launch.zeros(shape[1:2], weight.dtype, stream) if bias is None else bias
        config = grid, chosen.block, stream
        chosen.kernel[config](input, weight, bias, stride, padding, dilation, result.array)
    return result.get()


def _check_operands(input: Any, weight: Any, groups: Any) -> None:
    """Raise unless input and weight are signals and windows with channels that fit."""
    groups = launch.check_int("conv1d", "groups", groups, least=1)
    fits = input.shape[1] == groups * weight.shape[1] and weight.shape[0] % groups == 0
    if not fits or 0 in weight.shape[1:]:
        raise ValueError(
            "conv1d: expected input.shape[1] == groups * weight.shape[1], weight.shape[0] a "
            f"multiple of groups and a window of at least 1, got {tuple(input.shape)}, "
            f"{tuple(weight.shape)} and {groups}. Axis 1 of both is the input channel."
        )


_variant = functools.partial(
    Variant, reference=conv1d_reference, block=(BLOCK, 1), most_blocks=launch.GRID_LIMIT[1]
)
VARIANTS = (
    _variant("direct", conv1d_direct_kernel, conv1d_direct_cost),
    _variant("tiled", conv1d_tiled_kernel, conv1d_tiled_cost, instead="direct"),
)
__all__ = launch.public_names(globals())
