"""Tensor parallel layers: each rank holds a part of the weights of every layer.

    world = parallel.World()
    model = parallel.tensor_gpt(tokens=96, positions=64, width=64, heads=4, blocks=2, group=world)
    parameters = nn.Parameters(model, seed=0)

All ranks of the group train on the same batch. The first of two products computes some columns of
the hidden activations per rank (`ColumnLinear`), the second multiplies them with the rows that
belong to them and sums the products of all ranks (`RowLinear`). So two products, whatever
elementwise function lies between them, take one all-reduce in the forward pass, of the output, and
one in the backward pass, of the gradient of the input.

The parts are slices of what one process draws with the same seed. LayerNorm, embeddings and the
bias of a RowLinear are replicated: the gradient of their output is the same on every rank, so that
their own is, and they stay equal without an exchange.

Source: Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model
Parallelism", 2019 (arXiv 1909.08053)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import gpukit
from gpukit.nn.activations import GELU
from gpukit.nn.attention import MultiHeadAttention
from gpukit.nn.containers import Residual, Sequential
from gpukit.nn.dense import Linear
from gpukit.nn.embedding import Embedding, Positions
from gpukit.nn.normalisation import LayerNorm
from gpukit.nn.parameters import Parameter
from gpukit.parallel.world import Group
from gpukit.workspace import take


class Slice(Parameter):
    """The part of a parameter that one rank of a group holds: an equal share along `axis`.

    `whole` is the parameter of one process. Where the axis has `parts` of equal size, such as
    queries, keys and values, a rank holds its share of each of them.
    """

    def __init__(self, whole: Parameter, group: Group, axis: int, parts: int = 1) -> None:
        self.whole, self.ranks = whole.shape, group.size
        before, size, after = whole.shape[:axis], whole.shape[axis], whole.shape[axis + 1 :]
        share = size // (parts * group.size)
        self._split = math.prod(before), parts, group.size, share * math.prod(after)
        super().__init__(
            (*before, parts * share, *after),
            # Every rank draws the numbers of all, as those after them depend on how many were.
            lambda rng, _: self.of(whole.init(rng, whole.shape), group.rank),
        )

    def of(self, array: npt.NDArray[Any], rank: int) -> npt.NDArray[Any]:
        """Return the slice of a rank of an array of the shape `whole`."""
        return np.ascontiguousarray(array.reshape(self._split)[:, :, rank].reshape(self.shape))

    def join(self, slices: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the whole array from the slices of all ranks in their order."""
        before, parts, _, share = self._split
        made = np.stack([part.reshape(before, parts, share) for part in slices], axis=2)
        return made.reshape(self.whole)


class ColumnLinear:
    """Like `Linear` on the same x; each rank computes a part of the outputs, with its own bias.

    With `gather` every rank gets all outputs, else its own part: (..., outputs / size). `parts`
    says of how many equal parts the outputs consist, each of which is divided among the ranks.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        group: Group,
        *,
        bias: bool = True,
        first: bool = False,
        gather: bool = False,
        parts: int = 1,
    ) -> None:
        _check_divisible("ColumnLinear", "outputs", outputs, group, parts)
        self.dense = dense = Linear(inputs, outputs, bias=bias, first=first)
        self.weight = dense.weight = Slice(dense.weight, group, 0, parts)
        self.bias = dense.bias = dense.bias and Slice(dense.bias, group, 0, parts)
        self.group, self.gather = group, gather

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the outputs, and x for the backward."""
        out, saved = self.dense.forward(x)
        return self._gathered(out) if self.gather else out, saved

    def backward(self, x: Any, grad: Any) -> Any:
        """Return the gradient of x, a sum over the ranks; write those of weight and bias."""
        grad_x = self.dense.backward(x, self._own(grad) if self.gather else grad)
        if grad_x is not None:
            self.group.all_reduce(grad_x, name="gradient of the input of ColumnLinear")
        return grad_x

    def _gathered(self, out: Any) -> Any:
        """Return the outputs of all ranks side by side, which transposed are below each other."""
        columns = gpukit.transpose(out.reshape(-1, out.shape[-1]))
        every = take((self.group.size, *columns.shape), out.dtype, on_device=True)
        self.group.all_gather(columns, out=every, name="outputs of ColumnLinear")
        rows = gpukit.transpose(every.reshape(-1, columns.shape[1]))
        return rows.reshape(*out.shape[:-1], rows.shape[1])

    def _own(self, grad: Any) -> Any:
        """Return the columns of this rank."""
        columns = gpukit.transpose(grad.reshape(-1, grad.shape[-1]))
        share = len(columns) // self.group.size
        own = gpukit.transpose(columns[self.group.rank * share : (self.group.rank + 1) * share])
        return own.reshape(*grad.shape[:-1], share)


class RowLinear:
    """Like `Linear`; each rank has a part of the inputs, (..., inputs / size), and all outputs.

    The output is a sum over the ranks, to which the bias is added once.
    """

    def __init__(self, inputs: int, outputs: int, group: Group, *, bias: bool = True) -> None:
        _check_divisible("RowLinear", "inputs", inputs, group)
        self.dense = dense = Linear(inputs, outputs, bias=bias)
        self.weight = dense.weight = Slice(dense.weight, group, 1)
        self.bias, self.group = dense.bias, group

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the outputs, and x for the backward."""
        out = gpukit.linear(x.reshape(-1, x.shape[-1]), self.weight.value)
        self.group.all_reduce(out, name="output of RowLinear")
        if self.bias is not None:
            out = gpukit.add_bias(out, self.bias.value)
        return out.reshape(*x.shape[:-1], out.shape[-1]), x

    def backward(self, x: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of weight and bias. It sends nothing."""
        return self.dense.backward(x, grad)


class TensorAttention:
    """Like `MultiHeadAttention`; each rank computes the same number of the heads."""

    def __init__(self, width: int, heads: int, group: Group, *, causal: bool = False) -> None:
        _check_divisible("TensorAttention", "heads", heads, group)
        self.layers = ColumnLinear(width, 3 * width, group, parts=3), RowLinear(width, width, group)
        self.attention = MultiHeadAttention(width, heads, causal=causal)
        self.attention.heads, self.attention.layers = heads // group.size, self.layers

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the output, and what backward needs."""
        return self.attention.forward(x)

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of both products."""
        return self.attention.backward(saved, grad)


def tensor_block(width: int, heads: int, group: Group, *, causal: bool = False) -> Sequential:
    """Return what `nn.block` does, divided among the ranks of a group."""
    return Sequential(
        Residual(LayerNorm(width), TensorAttention(width, heads, group, causal=causal)),
        Residual(
            LayerNorm(width),
            ColumnLinear(width, 4 * width, group),
            GELU(),
            RowLinear(4 * width, width, group),
        ),
    )


def tensor_gpt(
    tokens: int, positions: int, width: int, heads: int, blocks: int, group: Group
) -> Sequential:
    """Return what `nn.gpt` does, divided among the ranks of a group, all of which get the logits.

    `heads` and `tokens` must be multiples of the size of the group: for another number of tokens,
    add some that do not occur. The embeddings are replicated.
    """
    return Sequential(
        Sequential(
            Embedding(tokens, width, deviation=0.02), Positions(positions, width, deviation=0.02)
        ),
        *(tensor_block(width, heads, group, causal=True) for _ in range(blocks)),
        LayerNorm(width),
        ColumnLinear(width, tokens, group, gather=True),
    )


def _check_divisible(layer: str, argument: str, count: int, group: Group, parts: int = 1) -> None:
    if count % (parts * group.size):
        of = f" with {parts} parts" if parts > 1 else ""
        raise ValueError(
            f"{layer}: expected {argument} to be a multiple of {parts * group.size} for "
            f"{group.size} ranks{of}, got {count}. Each rank gets an equal share: pass a multiple, "
            "or use fewer ranks."
        )
