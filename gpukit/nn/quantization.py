"""Quantization after training: dense layers with int8 weights, inputs and products.

    small = nn.quantized(model, images[:256])
    nn.accuracy(small, *test)

The weights of each output have a scale of their own, the inputs of a layer have one: the largest
magnitude that a batch of examples brought there. Products are summed in int32, without any rounding
(`dot4`); what is lost is lost where inputs and weights are rounded to 255 values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import gpukit
from gpukit import cuda, launch
from gpukit.nn.containers import replaced
from gpukit.nn.dense import Linear
from gpukit.nn.inference import inference

Ranges = dict[int, float]  # the largest magnitude of each layer's inputs, by the layer's id


def quantized(model: Any, examples: npt.ArrayLike) -> Any:
    """Return a model for inference with int8 dense layers, calibrated on a batch of examples.

    examples (N, ...) are typical inputs; inputs of larger magnitude are limited to theirs. All
    layers other than `Linear` are those of the model. Raises ValueError where an input or a weight
    is not finite.
    """
    seen: Ranges = {}
    observed = replaced(model, lambda layer: _Observed(layer, seen) if _dense(layer) else layer)
    with inference(observed):
        observed.forward(cuda.to_device(np.ascontiguousarray(examples)))
    return replaced(
        model, lambda layer: QuantizedLinear(layer, seen[id(layer)]) if _dense(layer) else layer
    )


def _dense(layer: Any) -> bool:
    return type(layer) is Linear


class _Observed:
    """A dense layer that notes the scale of its inputs."""

    def __init__(self, linear: Linear, seen: Ranges) -> None:
        self.linear, self.seen = linear, seen

    def forward(self, x: Any) -> tuple[Any, Any]:
        (scale,) = launch.to_host(gpukit.channel_scales(x.reshape(1, x.size)))
        if not np.isfinite(scale):
            raise ValueError(
                "quantized: expected finite inputs of every layer, got NaN or infinity. Look at "
                "the examples and the weights."
            )
        self.seen[id(self.linear)] = max(scale, self.seen.get(id(self.linear), 0.0))
        return self.linear.forward(x)


class QuantizedLinear:
    """A `Linear` for inference: int8 inputs and weights, int32 sums, float32 outputs."""

    def __init__(self, linear: Linear, x_scale: float) -> None:
        weight = linear.weight.value
        self.scale = gpukit.channel_scales(weight)
        if not np.isfinite(launch.to_host(self.scale)).all():
            raise ValueError("quantized: expected finite weights, got NaN or infinity. Train anew.")
        self.weight = gpukit.quantize(weight, self.scale)
        self.x_scale = cuda.to_device(np.array([x_scale], np.float32))
        self.bias = linear.bias and linear.bias.value

    def forward(self, x: Any) -> tuple[Any, None]:
        """Return the outputs, (..., inputs) to (..., outputs)."""
        q = gpukit.quantize(x.reshape(-1, x.shape[-1]), self.x_scale)
        if len(q) == 1:  # a product of one row would leave most of a tile empty
            sums = gpukit.int8_matvec(self.weight, q[0]).reshape(1, -1)
        else:
            sums = gpukit.int8_matmul(q, self.weight)
        out = gpukit.dequantize_sums(sums, self.x_scale, self.scale, self.bias)
        return out.reshape(*x.shape[:-1], out.shape[-1]), None
