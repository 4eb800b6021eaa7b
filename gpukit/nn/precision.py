"""Mixed precision: products of 16-bit numbers, everything else in float32.

    mixed = nn.MixedPrecision(model, nn.AdamW(parameters, lr=0.01))
    nn.fit(mixed.model, mixed, loader, epochs=10)

or, in a loop of one's own, as with any model and optimizer:

    logits, saved = mixed.model.forward(x)
    loss, grad = nn.cross_entropy(logits, label)
    mixed.model.backward(saved, grad)
    mixed.step()

16 bits pay in products, on tensor cores above all. So the dense and convolutional layers of
`mixed.model` round what they multiply, inputs, weights and gradients, to 16 bits, and sum in
float32; all other layers compute in float32, recurrent ones too. The products load half the bytes,
and the inputs that are saved for the backward pass take half the memory. No other layer has to
know of it: `mixed.model` is the model with other `Linear` and `Conv2d`, on the same parameters.

- **Master weights.** The parameters stay float32 and are what the optimizer updates: a step is
  often smaller than half of the last digit of a weight in 16 bits, which would then never change.
  Every forward pass rounds them anew, all in one launch.
- **Loss scaling.** float16 has no numbers between 0 and 6e-8, and gradients are small. The gradient
  of the loss is multiplied by a scale, a power of two, so all gradients are, and each is divided by
  it before the update. bfloat16 has the exponents of float32 and needs no scale.
- **Dynamic.** The scale doubles after `every` good steps, 2000 as in PyTorch. If a gradient is
  infinite or NaN, the step is skipped and the scale halved. Whether it is costs one synchronization
  with the device per step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import gpukit
from gpukit import cuda, launch
from gpukit.kernels.convert import FORMATS
from gpukit.nn.containers import replaced
from gpukit.nn.dense import Linear
from gpukit.nn.images import Conv2d
from gpukit.nn.optimizers import AnyOptimizer
from gpukit.nn.parameters import Parameter, Parameters, parts_of
from gpukit.workspace import take

LEAST = 2.0**-16  # if gradients are infinite at a lower scale, the scale is not the reason


class MixedPrecision:
    """An optimizer, and `model`, whose dense layers and convolutions multiply numbers of `dtype`.

    `dtype` is "float16" or "bfloat16". `scale` is the loss scale to begin with, by default 65536
    for float16 and none for bfloat16; with `every=None` it stays as it is. `skipped` counts the
    steps that were skipped. Raises FloatingPointError where gradients stay infinite or NaN at
    every scale.

    Source: Micikevicius et al., "Mixed Precision Training", ICLR 2018
    """

    def __init__(
        self,
        model: Any,
        optimizer: AnyOptimizer,
        *,
        dtype: str = "float16",
        scale: float | None = None,
        every: int | None = 2000,
    ) -> None:
        if dtype not in ("float16", "bfloat16"):
            raise ValueError(
                f"MixedPrecision: expected dtype to be 'float16' or 'bfloat16', got {dtype!r}. "
                "Pick one."
            )
        self.optimizer, self.dtype, self.every = optimizer, dtype, every
        self.scaled = scale is not None or dtype == "float16"
        self.scale = float((2**16 if self.scaled else 1) if scale is None else scale)
        self.good = self.skipped = 0
        self.found = cuda.to_device(np.zeros(1, np.int32))
        parts = _parts(model, optimizer.parameters)
        # The same shapes in the same order as in `Parameters`, so one launch rounds all of them.
        self._low, views = gpukit.flat_views([part.shape for part in parts], FORMATS[dtype])
        low = {id(part): view for part, view in zip(parts, views, strict=True)}
        self.model = _Scaled(replaced(model, lambda layer: _mixed(layer, low, dtype)), self)

    @property
    def parameters(self) -> Parameters:
        """The float32 master weights and their gradients."""
        return self.optimizer.parameters

    @property
    def exchanges(self) -> bool:
        """Whether other ranks take part in a step."""
        return self.optimizer.exchanges

    def round_weights(self) -> None:
        """Round the master weights to the 16 bits that products take."""
        gpukit.convert(self.parameters.value, self.dtype, out=self._low)

    def step(self) -> None:
        """Update the master weights, or skip the step and halve the scale.

        After a step that was skipped all gradients are zero.
        """
        if self.scaled and launch.to_host(self.found)[0]:
            self._skip()
            return
        self.optimizer.step()
        self.good += 1
        if self.good == self.every:
            self.scale, self.good = 2 * self.scale, 0

    def _skip(self) -> None:
        grad = self.parameters.grad
        gpukit.fill(grad.size, 0, out=grad)
        self.found.copy_to_device(np.zeros(1, np.int32))
        self.good, self.skipped = 0, self.skipped + 1
        if self.every is not None:
            self.scale /= 2
        if self.scale < LEAST:
            raise FloatingPointError(
                f"MixedPrecision: gradients are NaN or infinite at every scale down to "
                f"{self.scale:g}. Look at the loss: a lower lr makes shorter steps, and "
                'dtype="bfloat16" has the range of float32.'
            )

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return a copy on the host of the optimizer's state and of the loss scale."""
        return {**self.optimizer.state(), **{name: np.array(v) for name, v in self._own().items()}}

    def check(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Raise ValueError where `state` is of another optimizer, or not of mixed precision."""
        own = self._own()
        if missing := [name for name in own if name not in state]:
            raise ValueError(
                f"load: expected the state of MixedPrecision with {missing[0]}, got "
                f"{', '.join(state) or 'nothing'}. Was it saved in mixed precision? To begin from "
                "the weights alone, load them with Parameters.load."
            )
        self.optimizer.check({name: array for name, array in state.items() if name not in own})

    def load(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Restore a state that `state` returned."""
        own = self._own()
        self.scale = float(state["loss_scale"])
        self.good, self.skipped = int(state["good_steps"]), int(state["skipped_steps"])
        self.optimizer.load({name: array for name, array in state.items() if name not in own})

    def _own(self) -> dict[str, float]:
        return {"loss_scale": self.scale, "good_steps": self.good, "skipped_steps": self.skipped}


def _parts(model: Any, parameters: Parameters) -> list[Parameter]:
    """Return the parameters of a model, which must be those of the optimizer, in float32."""
    named = dict(parts_of(model, Parameter))
    if list(named.values()) != list(parameters.parts.values()):
        raise ValueError(
            f"MixedPrecision: expected the model of the optimizer's parameters, got one with "
            f"{', '.join(named) or 'none'}. Make Parameters of this model."
        )
    if parameters.value.dtype != np.float32:
        raise TypeError(
            f"MixedPrecision: expected float32 parameters, got {parameters.value.dtype}. Make "
            "Parameters without dtype."
        )
    return list(named.values())


def _mixed(layer: Any, low: dict[int, Any], dtype: str) -> Any:
    kind = {Linear: MixedLinear, Conv2d: MixedConv2d}.get(type(layer))
    return layer if kind is None else kind(layer, low[id(layer.weight)], dtype)


class MixedLinear:
    """A `Linear` on the same parameters, whose products take 16-bit numbers: `low` weights.

    Outputs and gradients are float32. Inputs are saved for the backward pass in 16 bits.
    """

    def __init__(self, linear: Linear, low: Any, dtype: str) -> None:
        self.weight, self.bias, self.first = linear.weight, linear.bias, linear.first
        self.low, self.dtype = low, dtype

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the outputs; the rounded rows and the shape of x for the backward."""
        rows = gpukit.convert(x.reshape(-1, x.shape[-1]), self.dtype)
        bias = self.bias and self.bias.value
        out = gpukit.mixed_matmul(rows, self.low, bias, transpose_b=True)
        return out.reshape(*x.shape[:-1], out.shape[-1]), (rows, x.shape)

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of weight and bias."""
        (rows, shape), exact = saved, grad.reshape(-1, grad.shape[-1])
        rounded = gpukit.convert(exact, self.dtype)
        gpukit.mixed_matmul(rounded, rows, transpose_a=True, out=self.weight.grad)
        if self.bias:
            gpukit.column_sum(exact, out=self.bias.grad)
        return None if self.first else gpukit.mixed_matmul(rounded, self.low).reshape(shape)


class MixedConv2d:
    """A `Conv2d` on the same parameters, whose products take 16-bit numbers: `low` weights."""

    def __init__(self, conv: Conv2d, low: Any, dtype: str) -> None:
        self.weight, self.bias, self.first = conv.weight, conv.bias, conv.first
        self.sizes, self.low, self.dtype = conv.sizes, low, dtype

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the outputs, and the rounded x for the backward."""
        rounded = gpukit.convert(x, self.dtype)
        bias = self.bias and self.bias.value
        return gpukit.mixed_conv2d(rounded, self.low, bias, *self.sizes), rounded

    def backward(self, rounded: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of weight and bias."""
        out = None, self.weight.grad, self.bias and self.bias.grad
        return gpukit.mixed_conv2d_backward(
            grad, rounded, self.low, *self.sizes, of_input=not self.first, out=out
        )[0]


class _Scaled:
    """The model of mixed precision: rounds the weights, scales the gradient and divides again."""

    def __init__(self, wrapped: Any, mixed: MixedPrecision) -> None:
        self.wrapped, self.mixed = wrapped, mixed
        self.layers = getattr(wrapped, "layers", (wrapped,))  # parameters keep their names

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return what the model returns, in mixed precision."""
        self.mixed.round_weights()
        return self.wrapped.forward(x)  # type: ignore[no-any-return]

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of all parameters, without the scale."""
        mixed = self.mixed
        if not mixed.scaled:
            return self.wrapped.backward(saved, grad)
        scaled = take(grad.shape, grad.dtype, on_device=True)
        scaled.copy_to_device(grad)
        gpukit.unscale(scaled, mixed.found, mixed.scale)
        of_x = self.wrapped.backward(saved, scaled)
        for each in (mixed.parameters.grad, *(() if of_x is None else (of_x,))):
            gpukit.unscale(each, mixed.found, 1 / mixed.scale)
        return of_x
