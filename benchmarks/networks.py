"""Networks of gpukit.nn, and the same networks in PyTorch.

`NETWORKS` are measured and tested against PyTorch; `PUBLISHED` are those of a published comparison
of CPUs with GPUs (docs/benchmarks.md). `twin(model)` builds a PyTorch module from any model of
gpukit.nn, with the same parameter names, and `copy` copies the weights.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from gpukit import nn

# --- Networks --------------------------------------------------------------------------------


class Network(NamedTuple):
    """A function that makes a model, the shape of a batch, and for tokens the vocabulary size.

    With `pair` the model takes two such batches, a source and a target.
    """

    make: Callable[[], Any]
    batch: tuple[int, ...]
    tokens: int = 0
    pair: bool = False

    def inputs(self, rng: np.random.Generator) -> Any:
        """Return a batch of random numbers or tokens, or a pair of them."""
        if self.pair:
            return tuple(self._replace(pair=False).inputs(rng) for _ in range(2))
        if self.tokens:
            return rng.integers(0, self.tokens, self.batch)
        return rng.standard_normal(self.batch, np.float32)


def each(function: Callable[[Any], Any], x: Any) -> Any:
    """Apply a function to inputs, or to both of a pair."""
    return tuple(map(function, x)) if isinstance(x, tuple) else function(x)


def mlp() -> Any:
    """64 features, one hidden layer, ten classes."""
    return nn.Sequential(nn.Linear(64, 128, first=True), nn.ReLU(), nn.Linear(128, 10))


def lenet() -> Any:
    """LeNet-5 with ReLU and max-pooling, for images of 28 x 28 pixels."""
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2, first=True),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def cifar() -> Any:
    """The network of lesson 10, for images of 32 x 32 pixels."""
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1, first=True),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(4096, 512),
        nn.ReLU(),
        nn.Linear(512, 10),
    )


def recurrent(layer: Any) -> Any:
    """A recurrent layer and a dense layer over its hidden states."""
    return nn.Sequential(layer(64, 128), nn.Linear(128, 10))


def fully_connected(*sizes: int) -> Any:
    """Dense layers with a sigmoid between them."""
    layers: list[Any] = [nn.Linear(sizes[0], sizes[1], first=True)]
    for inputs, outputs in itertools.pairwise(sizes[1:]):
        layers += [nn.Sigmoid(), nn.Linear(inputs, outputs)]
    return nn.Sequential(*layers)


def alexnet() -> Any:
    """AlexNet for images of 32 x 32 pixels, without local response normalization."""
    return nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2, first=True),
        nn.MaxPool2d(3, 2),
        nn.ReLU(),
        nn.Conv2d(32, 32, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(3, 2),
        nn.Conv2d(32, 64, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(3, 2),
        nn.Flatten(),
        nn.Linear(576, 10),
    )


def language(tokens: int, units: int) -> Any:
    """A language model of two LSTM layers; batches are (steps, N)."""
    return nn.Sequential(
        nn.Embedding(tokens, units, deviation=0.1),
        nn.LSTM(units, units),
        nn.LSTM(units, units),
        nn.Linear(units, tokens),
    )


NETWORKS = {
    "mlp": Network(mlp, (64, 64)),
    "lenet": Network(lenet, (64, 1, 28, 28)),
    "cifar": Network(cifar, (64, 3, 32, 32)),
    "rnn": Network(functools.partial(recurrent, nn.RNN), (28, 64, 64)),
    "lstm": Network(functools.partial(recurrent, nn.LSTM), (28, 64, 64)),
    "gru": Network(functools.partial(recurrent, nn.GRU), (28, 64, 64)),
    "gpt": Network(functools.partial(nn.gpt, 65, 64, 64, 4, 2), (16, 64), tokens=65),
    "transformer": Network(
        functools.partial(nn.Transformer, 65, 32, 64, 4, 2), (16, 32), tokens=65, pair=True
    ),
}
# Sizes of hclhkbu/dlbench: fully connected on features of speech and on MNIST, AlexNet on CIFAR-10,
# an LSTM on Penn Treebank.
PUBLISHED = {
    "fcn5": Network(functools.partial(fully_connected, 26752, *[2048] * 3, 26752), (64, 26752)),
    "fcnr": Network(functools.partial(fully_connected, 784, 2048, 4096, 1024, 10), (1024, 784)),
    "alexnet": Network(alexnet, (128, 3, 32, 32)),
    "ptb": Network(functools.partial(language, 10_000, 256), (32, 32), tokens=10_000),
}


# --- The same in PyTorch ---------------------------------------------------------------------


def twin(layer: Any) -> torch.nn.Module:
    """Return the PyTorch module equivalent to a layer or model of gpukit.nn."""
    return TWINS[type(layer)](layer)


def copy(parameters: Any, module: torch.nn.Module) -> None:
    """Copy the parameters of a model to its twin."""
    state = {name: torch.from_numpy(array) for name, array in parameters.state().items()}
    for ours, theirs in THEIR_NAMES.items():
        state = {name.replace(ours, theirs): array for name, array in state.items()}
    module.load_state_dict(state)


THEIR_NAMES = {
    f"{kind}_{side}": f"{name}_{side}_l0"
    for side in ("ih", "hh")
    for kind, name in (("w", "weight"), ("b", "bias"))
}


class Layers(torch.nn.Module):
    """The twins of a layer's inner layers, named by their indices."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        for number, inner in enumerate(layer.layers):
            self.add_module(str(number), twin(inner))


class Residual(Layers):
    """The sum of x and the output of a module."""

    def forward(self, x: Any) -> Any:
        """Return the sum."""
        return x + self.get_submodule("0")(x)


class Attention(Layers):
    """`torch.nn.functional.scaled_dot_product_attention` between projections."""

    def __init__(self, layer: Any) -> None:
        super().__init__(layer)
        self.heads, self.causal = layer.heads, getattr(layer, "causal", False)

    def forward(self, x: Any, memory: Any = None) -> Any:
        """Return the attention of x to itself, or to a memory."""
        *project, mix = self.children()
        heads = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer, given in zip(project, (x, memory), strict=False)
            for part in layer(given).split(x.shape[-1], -1)
        )
        means = torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=self.causal)
        return mix(means.transpose(1, 2).flatten(2))


class Decoder(Layers):
    """A decoder block: self-attention, cross-attention, dense layers."""

    def forward(self, x: Any, memory: Any) -> Any:
        """Return the input of the next block."""
        own, norm, cross, dense = self.children()
        x = own(x)
        return dense(x + cross(norm(x), memory))


class Transformer(torch.nn.Module):
    """Encoder, target embedding, decoder blocks, head."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        encoder, embedding, *blocks, head = layer.layers
        made = [twin(encoder), twin(embedding), *map(Decoder, blocks), twin(head)]
        for number, module in enumerate(made):
            self.add_module(str(number), module)

    def forward(self, pair: tuple[Any, Any]) -> Any:
        """Return the logits."""
        encoder, embedding, *blocks, head = self.children()
        memory, x = encoder(pair[0]), embedding(pair[1])
        for block in blocks:
            x = block(x, memory)
        return head(x)


class Positions(torch.nn.Module):
    """The sum of x and a learned vector for each position."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(layer.weight.shape))

    def forward(self, x: Any) -> Any:
        """Return the sum."""
        return x + self.weight


def _states(kind: type[torch.nn.Module]) -> Callable[[Any], torch.nn.Module]:
    """Return a function that makes a recurrent module which returns only its hidden states."""

    class Layer(kind):
        def forward(self, x: Any) -> Any:
            return super().forward(x)[0]

    return lambda layer: Layer(layer.w_ih.shape[1], layer.w_hh.shape[1])


TWINS: dict[Any, Callable[[Any], torch.nn.Module]] = {
    nn.Linear: lambda layer: torch.nn.Linear(
        *layer.weight.shape[::-1], bias=layer.bias is not None
    ),
    nn.Conv2d: lambda layer: torch.nn.Conv2d(
        layer.weight.shape[1] * layer.sizes[3],
        layer.weight.shape[0],
        layer.weight.shape[2:],
        *layer.sizes,
        bias=layer.bias is not None,
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
    nn.CrossAttention: Attention,
    nn.Transformer: Transformer,
    nn.RNN: _states(torch.nn.RNN),
    nn.LSTM: _states(torch.nn.LSTM),
    nn.GRU: _states(torch.nn.GRU),
    nn.Residual: Residual,
    nn.Sequential: lambda model: torch.nn.Sequential(*map(twin, model.layers)),
}
