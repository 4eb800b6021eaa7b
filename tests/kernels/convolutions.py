"""Shapes of convolution layers, and their output by the formula."""

import itertools

import numpy as np

from gpukit.kernels import conv

# (image, weight, stride, padding, dilation)
CASES = [
    ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1), (0, 0), (1, 1)),
    ((1, 1, 3, 3), (1, 1, 3, 3), (1, 1), (0, 0), (1, 1)),
    ((2, 3, 7, 11), (4, 3, 3, 3), (1, 1), (1, 1), (1, 1)),
    ((1, 2, 9, 35), (3, 2, 3, 2), (1, 1), (0, 0), (1, 1)),
    ((1, 2, 10, 6), (2, 2, 2, 3), (2, 1), (0, 2), (1, 1)),
    ((2, 1, 5, 13), (1, 1, 4, 1), (3, 2), (3, 0), (1, 1)),
    ((1, 1, 2, 2), (1, 1, 1, 1), (1, 1), (2, 2), (1, 1)),
    ((1, 1, 1, 1), (2, 1, 5, 5), (1, 2), (2, 3), (1, 1)),
    ((2, 4, 9, 34), (6, 2, 3, 3), (1, 1), (2, 1), (2, 3)),
    ((3, 5, 17, 8), (5, 1, 2, 3), (2, 3), (1, 0), (3, 1)),
    ((1, 3, 33, 65), (17, 3, 5, 3), (2, 1), (2, 1), (1, 1)),
    ((5, 6, 4, 4), (9, 2, 1, 1), (1, 1), (0, 0), (1, 1)),
]


def conv_by_formula(image, weight, bias, stride, padding, dilation):
    """Return output(n, o, h, w) by the formula in the docstring of the module."""
    rows, cols = (
        (image.shape[k + 2] + 2 * padding[k] - dilation[k] * (weight.shape[k + 2] - 1) - 1)
        // stride[k]
        + 1
        for k in (0, 1)
    )
    depth = weight.shape[1]
    group = weight.shape[0] * depth // image.shape[1]
    out = np.empty((image.shape[0], weight.shape[0], rows, cols))
    for n, o, h, w in itertools.product(*map(range, out.shape)):
        out[n, o, h, w] = bias[o]
        for i, kh, kw in itertools.product(*map(range, weight.shape[1:])):
            r = stride[0] * h + dilation[0] * kh - padding[0]
            c = stride[1] * w + dilation[1] * kw - padding[1]
            if r in range(image.shape[2]) and c in range(image.shape[3]):
                pixel = image[n, o // group * depth + i, r, c]
                out[n, o, h, w] += float(weight[o, i, kh, kw]) * float(pixel)
    return out


def absolute(image, weight, bias, *moves):
    """Return the sum of the absolute terms of each element, for tolerances."""
    named = dict(zip(("stride", "padding", "dilation"), moves, strict=True))
    return conv.conv2d_reference(np.abs(image), np.abs(weight), np.abs(bias), **named)
