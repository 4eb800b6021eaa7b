"""Sliding windows over images: size, stride, padding and dilation. Host code only, no kernels.

Convolutions and pooling move a window over an image, `stride` pixels at a time; `dilation` is the
distance between neighbouring elements of the window. `padding` pixels are added around the image.

Legend
    rows, cols   windows that fit down and across: the size of out  224, 224
    kh, kw       index in the window                                [0, 3)
    Pair         a number for down, a number for across             (1, 1)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpukit import launch
from gpukit.launch import Variant

Pair = tuple[int, int]
Shape = tuple[int, ...]


class Windows(NamedTuple):
    """How windows move over images; `padding` is that above and to the left of the image."""

    stride: Pair
    padding: Pair
    dilation: Pair
    size: Pair  # rows and columns of windows


class Geometry(NamedTuple):
    """What `out_sizes` and `taps_inside` take: an image, a window, and how the window moves."""

    size: Shape
    window: Shape
    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)


def out_size(size: int, window: int, stride: int, padding: int, dilation: int = 1) -> int:
    """Return how many windows fit along one axis of the padded image.

    >>> out_size(224, 3, 1, 1), out_size(7, 3, 2, 0), out_size(7, 3, 1, 0, 2)
    (224, 3, 3)
    """
    return (size + 2 * padding - dilation * (window - 1) - 1) // stride + 1


def out_sizes(size: Shape, window: Shape, stride: Pair, padding: Pair, dilation: Pair) -> Pair:
    """Return out_size down and across."""
    rows, cols = map(out_size, size, window, stride, padding, dilation)
    return rows, cols


def taps_inside(size: Shape, window: Shape, stride: Pair, padding: Pair, dilation: Pair) -> int:
    """Count the taps of all windows that are inside an image of rows and columns."""
    down, across = map(_taps_along, size, window, stride, padding, dilation)
    return down * across


def _taps_along(size: int, window: int, stride: int, padding: int, dilation: int) -> int:
    """Count the taps of the windows along one axis that are inside."""
    count = max(out_size(size, window, stride, padding, dilation), 0)
    starts = np.arange(count) * stride - padding
    places = starts[:, None] + np.arange(window) * dilation
    return int(np.count_nonzero((places >= 0) & (places < size)))


# --- Checks ----------------------------------------------------------------------------------


def pair(function: str, name: str, value: Any, *, least: int) -> Pair:
    """Return a number, or a tuple or list of two, as two ints of at least `least`."""
    two = value if isinstance(value, tuple | list) else (value, value)
    if len(two) != 2:
        raise ValueError(
            f"{function}: expected {name} to be a number or a pair (down, across), got {value!r}. "
            f"Pass for example {name}=(1, 1)."
        )
    down, across = (launch.check_int(function, name, one, least=least) for one in two)
    return down, across


def place_windows(
    function: str, size: Shape, window: Shape, stride: Any, padding: Any, dilation: Any
) -> Windows:
    """Return how windows move over an image of `size`, and how many; ValueError if none fits.

    With padding "same" there are as many windows as pixels, for stride 1; with "valid" no window
    extends beyond an edge.
    """
    stride = pair(function, "stride", stride, least=1)
    dilation = pair(function, "dilation", dilation, least=1)
    reach = tuple(step * (n - 1) + 1 for step, n in zip(dilation, window, strict=True))
    if padding == "same":
        if stride != (1, 1):
            raise ValueError(
                f"{function}: expected stride 1 with padding='same', got {stride}. "
                "Pass padding as numbers."
            )
        before = (reach[0] - 1) // 2, (reach[1] - 1) // 2
        return Windows(stride, before, dilation, (size[0], size[1]))
    if isinstance(padding, str) and padding != "valid":
        raise ValueError(
            f"{function}: expected padding to be numbers, 'same' or 'valid', got {padding!r}. "
            "Pass one of them."
        )
    padding = pair(function, "padding", 0 if padding == "valid" else padding, least=0)
    rows, cols = out_sizes(size, window, stride, padding, dilation)
    if rows < 1 or cols < 1:
        padded = size[0] + 2 * padding[0], size[1] + 2 * padding[1]
        raise ValueError(
            f"{function}: expected a window no larger than the padded image, got {reach} and "
            f"{padded}. Pad more."
        )
    return Windows(stride, padding, dilation, (rows, cols))


VARIANTS: tuple[Variant, ...] = ()
__all__ = launch.public_names(globals())
