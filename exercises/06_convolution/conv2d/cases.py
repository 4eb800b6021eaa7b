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
    channels: int, filters: int, rows: int, cols: int, stride: int, pad: int,
    k_rows: int, k_cols: int,
) -> Case:  # fmt: skip
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
            "x": x, "weight": weight, "bias": bias, "stride": stride, "pad": pad,
            "out": poison((filters, rows, cols)),
        },
        grid=(-(-cols // BLOCK[0]), -(-rows // BLOCK[1]), filters),
        block=BLOCK,
        expected=left(right),
        scale={"out": left(np.abs(right), np.abs(by), np.abs(plus))["out"]},
        mistakes={
            "The bias is missing: the sum begins with bias[f].": left(right, by, 0.0),
            "The bias is added once for each channel; it belongs to a result once.": left(
                right, by, channels * plus
            ),
            "The padding is left out: the window of a result begins `pad` before row * stride, col "
            "* stride.": left(taken(0, stride)),
            "The padding is added; the window begins `pad` before: row * stride + m - pad.": left(
                taken(pad, stride)
            ),
            "The stride is left out: the window of a result begins at row * stride - pad.": left(
                taken(-pad, 1)
            ),
            "The stride multiplies the padding too: it is row * stride - pad.": left(
                taken(-pad * stride, stride)
            ),
            "The window is turned round: weight[f, c, 0, 0] belongs to its upper left pixel.": left(
                right, by[:, :, ::-1, ::-1]
            ),
            "Only the first channel was added: the sum goes over all channels, too.": left(
                right[:1], by[:, :1]
            ),
            "Only the last channel is there: the sum begins anew for each channel.": left(
                right[-1:], by[:, -1:]
            ),
            "Every channel takes the weights of the first: weight[f, c, m, n].": left(
                right, np.broadcast_to(by[:, :1], by.shape)
            ),
            "Every filter takes the weights of the first: weight[f, c, m, n].": left(
                right, np.broadcast_to(by[:1], by.shape)
            ),
            "Outside the picture its edge is repeated; padding counts as 0.": left(
                taken(-pad, stride, "edge")
            ),
            "Only as many columns of a window were added as it has rows: they are "
            "weight.shape[3].": left(right[..., :k_rows], by[..., :k_rows]) if k_rows < k_cols
            else {},
            "A window has 3 rows and 5 columns here, whatever weight says: they are "
            "weight.shape[2] and weight.shape[3].": left(right[..., :3, :5], by[..., :3, :5])
            if k_rows >= 3 and k_cols >= 5 else {},
            "Only the last product is there: each one replaced the one before. It is `+=`.": left(
                right[-1:, :, :, -1:, -1:], by[:, -1:, -1:, -1:], 0.0
            ),
        },
    )  # fmt: skip
