"""Normalisation layers: scale to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import gpukit
from gpukit.nn.parameters import Buffer, Parameter, constant


class LayerNorm:
    """Normalise each row along the last axes, `normalized_shape`; times weight, plus bias."""

    def __init__(self, normalized_shape: int | tuple[int, ...], *, eps: float = 1e-5) -> None:
        shape = normalized_shape
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.eps = eps
        self.weight = Parameter(self.shape, constant(1))
        self.bias = Parameter(self.shape, constant(0))

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the output; x, and mean and 1 / deviation of its rows, for the backward."""
        out, *stats = gpukit.layer_norm(
            x, self.shape, self.weight.value, self.bias.value, self.eps, return_stats=True
        )
        return out, (x, *stats)

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of weight and bias."""
        out = None, self.weight.grad, self.bias.grad
        return gpukit.layer_norm_backward(grad, *saved, self.weight.value, out=out)[0]


class BatchNorm:
    """Normalise each channel, the second axis; times weight, plus bias.

    In training with mean and variance of the batch, in inference with running averages of them.
    """

    training = True

    def __init__(self, channels: int, *, momentum: float = 0.1, eps: float = 1e-5) -> None:
        self.momentum, self.eps = momentum, eps
        self.weight = Parameter((channels,), constant(1))
        self.bias = Parameter((channels,), constant(0))
        self.mean = Buffer((channels,), 0)
        self.var = Buffer((channels,), 1)

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the output; x, and the mean and the variance used, for the backward."""
        out, *stats = gpukit.batch_norm(
            x,
            self.mean.value,
            self.var.value,
            self.weight.value,
            self.bias.value,
            self.training,
            self.momentum,
            self.eps,
            return_stats=True,
        )
        return out, (x, *stats)

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of weight and bias."""
        out = None, self.weight.grad, self.bias.grad
        return gpukit.batch_norm_backward(
            grad, *saved, self.weight.value, self.training, self.eps, out=out
        )[0]
