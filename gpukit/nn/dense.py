"""Dense layers: every output depends on every input."""

from __future__ import annotations

import math
from typing import Any

import gpukit
from gpukit.nn.parameters import Parameter, uniform


class Linear:
    """x weight^T + bias along the last axis: (..., inputs) to (..., outputs).

    With `first` its backward skips the gradient of x, which the first layer of a model does not
    need, and returns None.
    """

    def __init__(
        self, inputs: int, outputs: int, *, bias: bool = True, first: bool = False
    ) -> None:
        begin = uniform(1 / math.sqrt(inputs))
        self.weight = Parameter((outputs, inputs), begin)
        self.bias = Parameter((outputs,), begin) if bias else None
        self.first = first

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the outputs, and x for the backward."""
        rows = x.reshape(-1, x.shape[-1])
        out = gpukit.linear(rows, self.weight.value, self.bias and self.bias.value)
        return out.reshape(*x.shape[:-1], out.shape[-1]), x

    def backward(self, x: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of weight and bias."""
        rows, grad_rows = x.reshape(-1, x.shape[-1]), grad.reshape(-1, grad.shape[-1])
        out = None, self.weight.grad, self.bias and self.bias.grad
        grad_x, *_ = gpukit.linear_backward(
            grad_rows, rows, self.weight.value, of_input=not self.first, out=out
        )
        return None if self.first else grad_x.reshape(x.shape)


class Flatten:
    """All axes after the first one flattened into one: (N, ...) to (N, numbers)."""

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return a view of x, and the shape of x."""
        return x.reshape(x.shape[0], -1), x.shape

    def backward(self, shape: Any, grad: Any) -> Any:
        """Return grad reshaped to the shape of x."""
        return grad.reshape(shape)
