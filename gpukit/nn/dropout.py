"""Dropout: set random activations to 0, so that the network does not depend on a few of them."""

from __future__ import annotations

from typing import Any

import gpukit
from gpukit.nn.parameters import Buffer


class Dropout:
    """Each number becomes 0 with probability p, else it is divided by 1 - p; in training only.

    The random choice depends on the seed and the number of batches so far. Give each layer its own
    seed. The count is a buffer: a training resumed from a checkpoint draws the same numbers.
    """

    training = True

    def __init__(self, p: float = 0.5, *, seed: int = 0) -> None:
        self.p, self.seed = p, seed
        self.batches = Buffer((), 0, on_host=True)

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return x of any shape with zeros in it, and the number of the batch."""
        if not self.training:
            return x, None
        batch = self.batches.count()
        return gpukit.dropout(x, self.p, seed=self.seed, offset=batch), batch

    def backward(self, batch: int | None, grad: Any) -> Any:
        """Return the gradient of x: 0 where x was dropped."""
        if batch is None:
            return grad
        return gpukit.dropout_backward(grad, self.p, seed=self.seed, offset=batch)
