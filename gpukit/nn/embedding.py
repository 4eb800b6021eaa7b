"""Embeddings of tokens and of positions: learned vectors."""

from __future__ import annotations

from typing import Any

import gpukit
from gpukit.nn.parameters import Parameter, normal


class Embedding:
    """Tokens (...), whole numbers below `count`, to (..., width)."""

    def __init__(self, count: int, width: int, *, deviation: float = 1.0) -> None:
        self.weight = Parameter((count, width), normal(deviation))

    def forward(self, tokens: Any) -> tuple[Any, Any]:
        """Return the rows of weight that the tokens index, and the tokens for the backward."""
        return gpukit.embedding(tokens, self.weight.value), tokens

    def backward(self, tokens: Any, grad: Any) -> None:
        """Write the gradient of weight. Tokens have none."""
        count = self.weight.shape[0]
        gpukit.embedding_backward(grad, tokens, count, variant="column", out=self.weight.grad)


class Positions:
    """A learned vector per position, added to x (N, T, width); T is `positions` or less."""

    def __init__(self, positions: int, width: int, *, deviation: float = 0.02) -> None:
        self.weight = Parameter((positions, width), normal(deviation))

    def forward(self, x: Any) -> tuple[Any, None]:
        """Return the sum. The backward needs nothing."""
        positions, width = self.weight.shape
        if x.shape[1] > positions:
            raise ValueError(f"Positions: expected up to {positions} positions, got {x.shape[1]}.")
        used = self.weight.value.reshape(positions * width)[: x.shape[1] * width]
        return gpukit.add_bias(x.reshape(len(x), -1), used).reshape(x.shape), None

    def backward(self, _: None, grad: Any) -> Any:
        """Return the gradient of x, which is grad; write that of weight, 0 for unused positions."""
        total, used = self.weight.grad.reshape(-1), grad.shape[1] * grad.shape[2]
        gpukit.column_sum(grad.reshape(len(grad), -1), out=total[:used])
        if unused := total.size - used:
            gpukit.fill(unused, 0, dtype=total.dtype, out=total[used:])
        return grad
