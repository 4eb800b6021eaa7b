"""Layers made of layers."""

from __future__ import annotations

from typing import Any

import gpukit


class Sequential:
    """Layers one after the other: what one returns, the next one gets.

    An error names the layer that refused what it got.
    """

    def __init__(self, *layers: Any) -> None:
        self.layers = layers

    def forward(self, x: Any) -> tuple[Any, list[Any]]:
        """Return the last layer's output, and what each layer saved."""
        saved = []
        for number, layer in enumerate(self.layers):
            try:
                x, kept = layer.forward(x)
            except (TypeError, ValueError) as error:
                name = type(layer).__name__
                given = f"x of shape {tuple(x.shape)} and dtype {x.dtype}"
                raise type(error)(f"layer {number}, {name}, given {given}: {error}") from error
            saved.append(kept)
        return x, saved

    def backward(self, saved: list[Any], grad: Any) -> Any:
        """Return the gradient of the first layer's input; write those of all parameters.

        Where a layer returns None, as those with `first` do, those before it are left out.
        """
        for layer, kept in zip(reversed(self.layers), reversed(saved), strict=True):
            if grad is not None:
                grad = layer.backward(kept, grad)
        return grad


class Residual:
    """What layers make of x, added to x: gradients find a way past them."""

    def __init__(self, *layers: Any) -> None:
        self.layers = (Sequential(*layers),)

    def forward(self, x: Any) -> tuple[Any, Any]:
        """x of any shape, which the layers must keep."""
        made, saved = self.layers[0].forward(x)
        return add(x, made), saved

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x, by both ways."""
        return add(grad, self.layers[0].backward(saved, grad))


def add(a: Any, b: Any) -> Any:
    """Return the sum of two arrays of one shape."""
    return gpukit.vector_add(a.reshape(a.size), b.reshape(b.size)).reshape(a.shape)
