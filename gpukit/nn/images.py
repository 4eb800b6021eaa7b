"""Layers of images, (N, C, H, W): convolution and pooling."""

from __future__ import annotations

import math
from typing import Any

import gpukit
from gpukit.nn.parameters import Parameter, uniform


class Conv2d:
    """A convolution with zero padding: (N, inputs, H, W) to (N, outputs, rows, cols).

    Sizes are numbers or pairs (down, across), as in `gpukit.conv2d`. With `first` its backward
    skips the gradient of x, which the first layer of a model does not need, and returns None.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel_size: int | tuple[int, int],
        *,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        first: bool = False,
    ) -> None:
        pair = (kernel_size, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size)
        shape = (outputs, inputs // groups, *pair)
        begin = uniform(1 / math.sqrt(math.prod(shape[1:])))
        self.weight = Parameter(shape, begin)
        self.bias = Parameter((outputs,), begin) if bias else None
        self.sizes, self.first = (stride, padding, dilation, groups), first

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the outputs, and x for the backward."""
        return gpukit.conv2d(x, self.weight.value, self.bias and self.bias.value, *self.sizes), x

    def backward(self, x: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of weight and bias."""
        out = None, self.weight.grad, self.bias and self.bias.grad
        return gpukit.conv2d_backward(
            grad, x, self.weight.value, *self.sizes, of_input=not self.first, out=out
        )[0]


class MaxPool2d:
    """The maximum of each window; windows do not overlap unless a stride is given."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        self.sizes = kernel_size, stride, padding

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the outputs; the indices of the maxima, and the shape of x, for the backward."""
        out, indices = gpukit.max_pool2d(x, *self.sizes, return_indices=True)
        return out, (indices, x.shape)

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x, which goes to the maximum of each window."""
        return gpukit.max_pool2d_backward(grad, *saved, *self.sizes)


class AvgPool2d:
    """The mean of each window; windows do not overlap unless a stride is given."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        self.sizes = kernel_size, stride, padding

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the outputs, and the shape of x for the backward."""
        return gpukit.avg_pool2d(x, *self.sizes), x.shape

    def backward(self, shape: Any, grad: Any) -> Any:
        """Return the gradient of x, which each window distributes evenly."""
        return gpukit.avg_pool2d_backward(grad, shape, *self.sizes)
