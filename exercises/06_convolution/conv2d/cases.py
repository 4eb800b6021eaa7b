"""Cases of the convolution: strides and paddings, windows that are wider than tall."""

import numpy as np

from gpukit.course import Case, poison

BLOCK = (16, 8)
# Channels, filters, rows and columns of the result, stride, padding, rows and columns of a window.
SHAPES = {
    "exactly one block": (1, 1, 8, 16, 1, 0, 3, 5),
    "padding": (1, 1, 8, 16, 1, 1, 3, 5),
    "a stride of two": (1, 1, 7, 15, 2, 1, 3, 5),
    "two channels": (2, 1, 9, 17, 1, 1, 3, 5),
    "three filters": (2, 3, 1, 31, 1, 2, 5, 3),
    "one result": (3, 1, 1, 1, 3, 2, 3, 5),
    "a window of one pixel": (2, 2, 7, 9, 2, 1, 1, 1),
    "a tall window": (2, 2, 5, 19, 1, 3, 7, 5),
    "two primes": (3, 2, 11, 37, 2, 2, 2, 6),
    "many blocks": (2, 3, 16, 32, 1, 1, 3, 5),
}


def convolved(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, stride: int, pad: int
) -> np.ndarray:
    """Return the convolution of the padded x, summed in float64, in float32."""
    x, weight, bias = (array.astype(np.float64) for array in (x, weight, bias))
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], axis=(1, 2))
    sums = np.einsum("crsmn,fcmn->frs", windows[:, ::stride, ::stride], weight)
    return (sums + bias[:, None, None]).astype(np.float32)


def case(
    rng: np.random.Generator,
    channels: int,
    filters: int,
    rows: int,
    cols: int,
    stride: int,
    pad: int,
    k_rows: int,
    k_cols: int,
) -> Case:
    """Return the case of an image with at least rows x cols results."""
    window = (k_rows, k_cols)
    # The last stride - 1 rows and columns are in no window.
    height, width = (
        max(1, (n - 1) * stride + k - 2 * pad + stride - 1)
        for n, k in zip((rows, cols), window, strict=True)
    )
    x = rng.normal(1, 1, (channels, height, width)).astype(np.float32)
    weight = rng.normal(0.5, 1, (filters, channels, *window)).astype(np.float32)
    bias = rng.normal(0, 4, filters).astype(np.float32)
    right = convolved(x, weight, bias, stride, pad)
    return Case(
        args={
            "x": x,
            "weight": weight,
            "bias": bias,
            "stride": stride,
            "pad": pad,
            "out": poison(right.shape),
        },
        grid=(-(-right.shape[2] // BLOCK[0]), -(-right.shape[1] // BLOCK[1]), filters),
        block=BLOCK,
        expected={"out": right},
        scale={"out": convolved(np.abs(x), np.abs(weight), np.abs(bias), stride, pad)},
    )
