"""Activation functions: elementwise, between layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpukit


class _Elementwise:
    """A layer without parameters: `function(x)`, and its `gradient(grad, saved)`.

    It saves the function's output, or with `from_input` x.
    """

    function: Callable[..., Any]
    gradient: Callable[..., Any]
    from_input = False

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the function of x, of any shape, and what the backward needs."""
        out = self.function(x)
        return out, x if self.from_input else out

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x."""
        return self.gradient(grad, saved)


class ReLU(_Elementwise):
    """max(x, 0)."""

    function, gradient = staticmethod(gpukit.relu), staticmethod(gpukit.relu_grad)


class Sigmoid(_Elementwise):
    """1 / (1 + e^-x)."""

    function, gradient = staticmethod(gpukit.sigmoid), staticmethod(gpukit.sigmoid_grad)


class Tanh(_Elementwise):
    """tanh x."""

    function, gradient = staticmethod(gpukit.tanh), staticmethod(gpukit.tanh_grad)


class GELU(_Elementwise):
    """x times the fraction of a normal distribution that lies below x."""

    function, gradient = staticmethod(gpukit.gelu), staticmethod(gpukit.gelu_grad)
    from_input = True
