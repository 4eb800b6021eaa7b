"""Networks of gpukit.nn, and the same networks in PyTorch.

`NETWORKS` are those that are measured and held to PyTorch; `twin(model)` builds a module of
PyTorch's out of any model of gpukit.nn, whose parameters have the same names, and `copy` gives it
the same weights.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from gpukit import nn

# --- Networks --------------------------------------------------------------------------------


class Network(NamedTuple):
    """What makes a model, the shape of a batch, and where inputs are tokens, how many there are."""

    make: Callable[[], Any]
    batch: tuple[int, ...]
    tokens: int = 0


def mlp() -> Any:
    """64 numbers, one hidden layer, ten classes."""
    return nn.Sequential(nn.Linear(64, 128, first=True), nn.ReLU(), nn.Linear(128, 10))


def lenet() -> Any:
    """LeNet-5 with ReLU and max-pooling, for digits of 28 x 28 pixels."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2, first=True), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def cifar() -> Any:
    """The network of lesson 10, for photographs of 32 x 32 pixels."""
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1, first=True), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(4096, 512), nn.ReLU(), nn.Linear(512, 10),
    )  # fmt: skip


def recurrent(layer: Any) -> Any:
    """A recurrent layer and a dense one over its states."""
    return nn.Sequential(layer(64, 128), nn.Linear(128, 10))


def gpt(tokens: int, places: int, width: int, heads: int, blocks: int) -> Any:
    """A language model: blocks of causal attention and two dense layers, each with a way around."""
    layers: list[Any] = []
    for _ in range(blocks):
        layers += [
            nn.Residual(nn.LayerNorm(width), nn.MultiHeadAttention(width, heads, causal=True)),
            nn.Residual(
                nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                nn.Linear(4 * width, width),
            ),
        ]  # fmt: skip
    return nn.Sequential(
        nn.Embedding(tokens, width, deviation=0.02), nn.Positions(places, width), *layers,
        nn.LayerNorm(width), nn.Linear(width, tokens),
    )  # fmt: skip


NETWORKS = {
    "mlp": Network(mlp, (64, 64)),
    "lenet": Network(lenet, (64, 1, 28, 28)),
    "cifar": Network(cifar, (64, 3, 32, 32)),
    "rnn": Network(functools.partial(recurrent, nn.RNN), (28, 64, 64)),
    "lstm": Network(functools.partial(recurrent, nn.LSTM), (28, 64, 64)),
    "gru": Network(functools.partial(recurrent, nn.GRU), (28, 64, 64)),
    "gpt": Network(functools.partial(gpt, 65, 64, 64, 4, 2), (16, 64), tokens=65),
}


# --- The same in PyTorch ---------------------------------------------------------------------


def twin(layer: Any) -> torch.nn.Module:
    """Return the module that does what a layer or a model of gpukit.nn does."""
    return TWINS[type(layer)](layer)


def copy(parameters: Any, module: torch.nn.Module) -> None:
    """Give a twin the weights of the model that it is made of."""
    state = {name: torch.from_numpy(array) for name, array in parameters.state().items()}
    for ours, theirs in THEIR_NAMES.items():
        state = {name.replace(ours, theirs): array for name, array in state.items()}
    module.load_state_dict(state)


THEIR_NAMES = {f"{kind}_{side}": f"{name}_{side}_l0" for side in ("ih", "hh")
               for kind, name in (("w", "weight"), ("b", "bias"))}  # fmt: skip


class Residual(torch.nn.Module):
    """x and what a module makes of it."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.add_module("0", inner)

    def forward(self, x: Any) -> Any:
        """Return the sum."""
        return x + self.get_submodule("0")(x)


class Attention(torch.nn.Module):
    """`torch.nn.functional.scaled_dot_product_attention` between two dense layers."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.heads, self.causal = layer.heads, layer.causal
        for number, inner in enumerate(layer.layers):
            self.add_module(str(number), twin(inner))

    def forward(self, x: Any) -> Any:
        """Return the mixed means."""
        project, mix = self.children()
        heads = project(x).reshape(*x.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        means = torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=self.causal)
        return mix(means.transpose(1, 2).reshape(x.shape))


class Positions(torch.nn.Module):
    """x and a row of numbers for each place."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(layer.weight.shape))

    def forward(self, x: Any) -> Any:
        """Return the sum."""
        return x + self.weight


def _states(kind: type[torch.nn.Module]) -> Callable[[Any], torch.nn.Module]:
    """Return what makes a recurrent module that returns its states and nothing else."""

    class Layer(kind):  # type: ignore[misc, valid-type]
        def forward(self, x: Any) -> Any:
            return super().forward(x)[0]

    return lambda layer: Layer(layer.w_ih.shape[1], layer.w_hh.shape[1])


TWINS: dict[Any, Callable[[Any], torch.nn.Module]] = {
    nn.Linear: lambda layer: torch.nn.Linear(
        *layer.weight.shape[::-1], bias=layer.bias is not None
    ),
    nn.Conv2d: lambda layer: torch.nn.Conv2d(
        layer.weight.shape[1] * layer.sizes[3], layer.weight.shape[0], layer.weight.shape[2:],
        *layer.sizes, bias=layer.bias is not None,
    ),
    nn.MaxPool2d: lambda layer: torch.nn.MaxPool2d(*layer.sizes),
    nn.AvgPool2d: lambda layer: torch.nn.AvgPool2d(*layer.sizes),
    nn.ReLU: lambda _: torch.nn.ReLU(),
    nn.GELU: lambda _: torch.nn.GELU(),
    nn.Tanh: lambda _: torch.nn.Tanh(),
    nn.Sigmoid: lambda _: torch.nn.Sigmoid(),
    nn.Flatten: lambda _: torch.nn.Flatten(),
    nn.LayerNorm: lambda layer: torch.nn.LayerNorm(layer.shape, layer.eps),
    nn.Embedding: lambda layer: torch.nn.Embedding(*layer.weight.shape),
    nn.Positions: Positions,
    nn.MultiHeadAttention: Attention,
    nn.RNN: _states(torch.nn.RNN),
    nn.LSTM: _states(torch.nn.LSTM),
    nn.GRU: _states(torch.nn.GRU),
    nn.Residual: lambda layer: Residual(twin(layer.layers[0])),
    nn.Sequential: lambda model: torch.nn.Sequential(*map(twin, model.layers)),
}  # fmt: skip
