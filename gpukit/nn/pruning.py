"""Pruning: weights that become zero and stay zero, and models that store only the others.

    nn.prune(model, 0.8)        # or nn.prune_2_4(model)
    nn.fit(model, optimizer, loader, epochs=5)
    small = nn.compressed(model)

Pruning costs accuracy, and training on for some epochs regains most of it: the weights that are
left adapt. Every optimizer keeps masked weights at zero, and a checkpoint has the masks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import gpukit
from gpukit import cuda, launch
from gpukit.nn.containers import replaced
from gpukit.nn.dense import Linear
from gpukit.nn.images import Conv2d
from gpukit.nn.parameters import Parameter


def prune(model: Any, fraction: float) -> None:
    """Set the fraction of weights of smallest magnitude in the whole model to zero, for good.

    Weights are those of `Linear` and `Conv2d`; biases are kept. All layers are compared with one
    another: where each loses the same fraction, small layers, such as the last one, lose what they
    cannot spare. The model has been given to `Parameters`. Pruning a pruned model again takes its
    zeros first, so it can be pruned step by step, with some epochs after each, which costs least.

    Source: Han, Pool, Tran and Dally, "Learning both Weights and Connections for Efficient Neural
    Networks", 2015; in steps as in Zhu and Gupta, "To Prune, or Not to Prune", 2017
    """
    weights = list(_weights(model))
    values = [launch.to_host(weight.value).reshape(-1) for weight in weights]
    mask = gpukit.magnitude_mask(np.concatenate([np.zeros(0, np.float32), *values]), fraction)
    ends = np.cumsum([len(value) for value in values])
    for weight, part in zip(weights, np.split(mask, ends), strict=False):
        _put(weight, part.reshape(weight.shape))


def prune_2_4(model: Any) -> None:
    """Set the two of smallest magnitude of every four neighbouring weights to zero, for good.

    Layers are `Linear` and `Conv2d`, except those whose rows are no multiple of four weights.

    Source: Mishra et al., "Accelerating Sparse Deep Neural Networks", NVIDIA, 2021
    """
    for weight in _weights(model):
        if math.prod(weight.shape[1:]) % 4 == 0:
            _put(weight, gpukit.mask_2_4(launch.to_host(weight.value)))


def _put(weight: Parameter, mask: npt.NDArray[np.uint8]) -> None:
    """Give weights a mask, and set those that are masked to zero."""
    weight.mask = cuda.to_device(mask)
    gpukit.apply_mask(weight.value, weight.mask)


def _weights(layer: Any) -> Iterator[Parameter]:
    if isinstance(layer, Linear | Conv2d):
        yield layer.weight
    for inner in getattr(layer, "layers", ()):
        yield from _weights(inner)


# --- Inference -------------------------------------------------------------------------------


def compressed(model: Any, form: str = "csr") -> Any:
    """Return a model for inference whose dense layers store only weights that are not zero.

    `form` is "csr", for any zeros, or "2:4". All other layers are those of the model.
    """
    kinds = {"csr": CsrLinear, "2:4": TwoFourLinear}
    if form not in kinds:
        raise ValueError(f"compressed: expected form to be 'csr' or '2:4', got {form!r}. Pick one.")
    return replaced(model, lambda layer: kinds[form](layer) if type(layer) is Linear else layer)


class CsrLinear:
    """A `Linear` for inference with its weights in compressed sparse rows."""

    def __init__(self, linear: Linear) -> None:
        self.weight = tuple(map(cuda.to_device, gpukit.to_csr(launch.to_host(linear.weight.value))))
        self.bias = linear.bias and linear.bias.value

    def forward(self, x: Any) -> tuple[Any, None]:
        """Return the outputs, (..., inputs) to (..., outputs)."""
        out = gpukit.csr_matvec(*self.weight, x.reshape(-1, x.shape[-1]))
        return _biased(out, self.bias).reshape(*x.shape[:-1], out.shape[-1]), None


class TwoFourLinear:
    """A `Linear` for inference with two weights of every four, and where they belong."""

    def __init__(self, linear: Linear) -> None:
        self.weight = gpukit.compress_2_4(linear.weight.value)
        self.bias = linear.bias and linear.bias.value

    def forward(self, x: Any) -> tuple[Any, None]:
        """Return the outputs, (..., inputs) to (..., outputs)."""
        out = gpukit.matmul_2_4(x.reshape(-1, x.shape[-1]), *self.weight)
        return _biased(out, self.bias).reshape(*x.shape[:-1], out.shape[-1]), None


def _biased(out: Any, bias: Any) -> Any:
    return out if bias is None else gpukit.add_bias(out, bias, out=out)
