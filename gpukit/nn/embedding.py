"""Embedding: a row of numbers for each token, which is learned."""

from __future__ import annotations

from typing import Any

import gpukit
from gpukit.nn.parameters import Parameter, normal


class Embedding:
    """Tokens (...), whole numbers below `count`, to (..., width)."""

    def __init__(self, count: int, width: int, *, deviation: float = 1.0) -> None:
        self.weight = Parameter((count, width), normal(deviation))

    def forward(self, tokens: Any) -> tuple[Any, Any]:
        """Return the rows that the tokens name, and the tokens for the backward."""
        return gpukit.embedding(tokens, self.weight.value), tokens

    def backward(self, tokens: Any, grad: Any) -> None:
        """Write the gradient of weight. Tokens have none."""
        count = self.weight.shape[0]
        gpukit.embedding_backward(grad, tokens, count, rung="column", out=self.weight.grad)
