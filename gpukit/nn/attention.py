"""Attention layers: every place of a sequence looks at the others."""

from __future__ import annotations

from typing import Any

import gpukit
from gpukit import launch
from gpukit.nn.dense import Linear
from gpukit.workspace import take


class MultiHeadAttention:
    """Places (N, T, width) to (N, T, width): `heads` weighted means of the places, mixed.

    With `causal` a place sees itself and those before it. Queries, keys and values come from one
    product and lie beside each other; the heads are views of it, nothing is moved.
    """

    def __init__(self, width: int, heads: int, *, causal: bool = False) -> None:
        if width % heads:
            raise ValueError(
                f"MultiHeadAttention: expected width to be a multiple of heads, got {width} and "
                f"{heads}. Each head gets width / heads numbers."
            )
        self.heads, self.causal = heads, causal
        self.layers = Linear(width, 3 * width), Linear(width, width)

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the mixed means; what the backward needs of both products and between them."""
        project, mix = self.layers
        packed, of_project = project.forward(x)
        n, places, width = x.shape
        means = take((n, places, self.heads, width // self.heads), x.dtype, on_device=True)
        logs = take((n, self.heads, places), x.dtype, on_device=True)
        gpukit.scaled_dot_product_attention(
            *self._heads(packed), self.causal, out=_by_head(means), logsumexp=logs
        )
        out, of_mix = mix.forward(means.reshape(x.shape))
        return out, (of_project, packed, means, logs, of_mix)

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of both products."""
        of_project, packed, means, logs, of_mix = saved
        project, mix = self.layers
        grad_means = mix.backward(of_mix, grad).reshape(means.shape)
        grad_packed = take(packed.shape, packed.dtype, on_device=True)
        gpukit.scaled_dot_product_attention_backward(
            _by_head(grad_means), *self._heads(packed), _by_head(means), logs, self.causal,
            out=self._heads(grad_packed),
        )  # fmt: skip
        return project.backward(of_project, grad_packed)

    def _heads(self, packed: Any) -> tuple[Any, ...]:
        """Return queries, keys and values, (N, heads, T, width / heads) each, as views."""
        n, places, wide = packed.shape
        parts = packed.reshape(n, places, 3, self.heads, wide // (3 * self.heads))
        return tuple(_by_head(parts[:, :, k]) for k in range(3))


def _by_head(x: Any) -> Any:
    """Return (N, T, heads, numbers) as (N, heads, T, numbers), a view."""
    return launch.permuted(x, (0, 2, 1, 3))
