"""Cases of the convolution: strides and paddings, windows that are wider than high."""

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
    "a high window": (2, 2, 5, 19, 1, 3, 7, 5),
    "two primes": (3, 2, 11, 37, 2, 2, 2, 6),
    "many blocks": (2, 3, 16, 32, 1, 1, 3, 5),
}


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
    """Return the case of a picture with at least so many rows and columns of results."""
    window = (k_rows, k_cols)
    # With a stride, the last rows and columns belong to no window.
    high, wide = (
        max(1, (n - 1) * stride + k - 2 * pad + stride - 1)
        for n, k in zip((rows, cols), window, strict=True)
    )
    rows, cols = (
        (n + 2 * pad - k) // stride + 1 for n, k in zip((high, wide), window, strict=True)
    )
    x = rng.normal(1, 1, (channels, high, wide)).astype(np.float32)
    weight = rng.normal(0.5, 1, (filters, channels, *window)).astype(np.float32)
    bias = rng.normal(0, 4, filters).astype(np.float32)
    pixels, by, plus = (a.astype(np.float64) for a in (x, weight, bias[:, None, None]))
    margin = pad + max(window) + stride * max(rows, cols)  # beyond what a wrong window reaches

    def taken(begin: int, step: int, mode: str = "constant") -> np.ndarray:
        """Return the windows that begin at `begin` and stand `step` apart."""
        around = np.pad(pixels, ((0, 0), (margin, margin), (margin, margin)), mode=mode)
        views = np.lib.stride_tricks.sliding_window_view(around, window, axis=(1, 2))
        views = views[:, margin + begin :: step, margin + begin :: step]
        return views[:, :rows, :cols]

    def left(
        windows: np.ndarray, weights: np.ndarray = by, constant: np.ndarray | float = plus
    ) -> dict[str, np.ndarray]:
        sums = np.einsum("crsmn,fcmn->frs", windows, weights) + constant
        return {"out": sums.astype(np.float32)}

    right = taken(-pad, stride)
    return Case(
        args={
            "x": x,
            "weight": weight,
            "bias": bias,
            "stride": stride,
            "pad": pad,
            "out": poison((filters, rows, cols)),
        },
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1]), filters),
        block=BLOCK,
        expected=left(right),
        scale={"out": left(np.abs(right), np.abs(by), np.abs(plus))["out"]},
    )
