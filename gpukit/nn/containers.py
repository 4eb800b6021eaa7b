"""Layers composed of layers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gpukit
from gpukit.nn.inference import inference


class Sequential:
    """Layers in sequence: each receives the output of the one before.

    An error names the layer that raised it.
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

        Where a layer returns None, as those with `first` do, the layers before it are skipped.
        """
        for layer, kept in zip(reversed(self.layers), reversed(saved), strict=True):
            if grad is not None:
                grad = layer.backward(kept, grad)
        return grad


class Residual:
    """The output of layers added to their input x: a skip connection for gradients."""

    def __init__(self, *layers: Any) -> None:
        self.layers = (Sequential(*layers),)

    def forward(self, x: Any) -> tuple[Any, Any]:
        """x of any shape, which the layers must preserve."""
        made, saved = self.layers[0].forward(x)
        return add(x, made), saved

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x, through the layers and the skip connection."""
        return add(grad, self.layers[0].backward(saved, grad))


class Frozen:
    """A layer that is not trained: its parameters keep their values, in no `Parameters` of a model.

    They must have been in one before, where they got their values. Dropout, batch norm and
    augmentation inside it are those of inference. With `first` its backward skips the gradient of
    x, which the first layer of a model does not need, and returns None.
    """

    def __init__(self, layer: Any, *, first: bool = True) -> None:
        self.inner, self.first = layer, first

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the layer's output in inference, and what it saved."""
        with inference(self.inner):
            out, saved = self.inner.forward(x)
        return out, None if self.first else saved

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x."""
        if self.first:
            return None
        with inference(self.inner):
            return self.inner.backward(saved, grad)


def add(a: Any, b: Any) -> Any:
    """Return the sum of two arrays of one shape."""
    return gpukit.vector_add(a.reshape(a.size), b.reshape(b.size)).reshape(a.shape)


def replaced(layer: Any, new: Callable[[Any], Any]) -> Any:
    """Return a model in which every layer is what `new` returns for it: the layer, or another.

    Containers are copied where a layer in them is another; all other layers, and all parameters,
    are those of the model itself.
    """
    made = new(layer)
    inner = getattr(made, "layers", ())
    layers = tuple(replaced(each, new) for each in inner)
    if all(one is other for one, other in zip(layers, inner, strict=True)):
        return made
    made = copy.copy(made)
    made.layers = layers
    return made
