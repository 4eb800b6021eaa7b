"""Attention layers: every position of a sequence attends to the others."""

from __future__ import annotations

from typing import Any

import gpukit
from gpukit import launch
from gpukit.nn.dense import Linear
from gpukit.workspace import take


class MultiHeadAttention:
    """Positions (N, T, width) to (N, T, width): `heads` attention heads and a projection.

    With `causal` a position attends to itself and those before it. Queries, keys and values come
    from one product and are adjacent in memory; the heads are views of it, nothing is copied.
    """

    def __init__(self, width: int, heads: int, *, causal: bool = False) -> None:
        _check_heads("MultiHeadAttention", width, heads)
        self.heads, self.causal = heads, causal
        # Two products; a rank of a tensor parallel model has parts of them.
        self.layers: tuple[Any, Any] = Linear(width, 3 * width), Linear(width, width)

    def forward(self, x: Any) -> tuple[Any, Any]:
        """Return the output; the saved activations of both products and of the attention."""
        project, mix = self.layers
        packed, of_project = project.forward(x)
        means, logs = _attend(self._heads(packed), self.causal)
        out, of_mix = mix.forward(means.reshape(*x.shape[:-1], -1))
        return out, (of_project, packed, means, logs, of_mix)

    def backward(self, saved: Any, grad: Any) -> Any:
        """Return the gradient of x; write those of both products."""
        of_project, packed, means, logs, of_mix = saved
        project, mix = self.layers
        grad_packed = _like(packed)
        _attend_backward(
            mix.backward(of_mix, grad),
            self._heads(packed),
            means,
            logs,
            self.causal,
            out=self._heads(grad_packed),
        )
        return project.backward(of_project, grad_packed)

    def _heads(self, packed: Any) -> tuple[Any, ...]:
        return _heads(packed, 3, self.heads)


class CrossAttention:
    """Positions x (N, T, width) attend to those of a memory (N, S, width): (N, T, width).

    Like `MultiHeadAttention`, with queries from x and keys and values from the memory. It takes two
    inputs and has two gradients, so it is used inside a layer such as `Transformer`'s.
    """

    def __init__(self, width: int, heads: int) -> None:
        _check_heads("CrossAttention", width, heads)
        self.heads = heads
        self.layers = Linear(width, width), Linear(width, 2 * width), Linear(width, width)

    def forward(self, x: Any, memory: Any) -> tuple[Any, Any]:
        """Return the output; the saved activations of the products and of the attention."""
        ask, remember, mix = self.layers
        queries, of_ask = ask.forward(x)
        packed, of_remember = remember.forward(memory)
        means, logs = _attend(self._heads(queries, packed), causal=False)
        out, of_mix = mix.forward(means.reshape(x.shape))
        return out, (of_ask, queries, of_remember, packed, means, logs, of_mix)

    def backward(self, saved: Any, grad: Any) -> tuple[Any, Any]:
        """Return the gradients of x and of the memory; write those of the products."""
        of_ask, queries, of_remember, packed, means, logs, of_mix = saved
        ask, remember, mix = self.layers
        grad_queries, grad_packed = _like(queries), _like(packed)
        _attend_backward(
            mix.backward(of_mix, grad),
            self._heads(queries, packed),
            means,
            logs,
            causal=False,
            out=self._heads(grad_queries, grad_packed),
        )
        return ask.backward(of_ask, grad_queries), remember.backward(of_remember, grad_packed)

    def _heads(self, queries: Any, packed: Any) -> tuple[Any, ...]:
        return *_heads(queries, 1, self.heads), *_heads(packed, 2, self.heads)


# --- What both share -------------------------------------------------------------------------


def _check_heads(layer: str, width: int, heads: int) -> None:
    if width % heads:
        raise ValueError(
            f"{layer}: expected width to be a multiple of heads, got {width} and {heads}. "
            "Each head gets width / heads numbers."
        )


def _attend(heads: tuple[Any, ...], causal: bool) -> tuple[Any, Any]:
    """Return the weighted means, (N, T, heads, numbers), and their log-sum-exps."""
    queries, _, values = heads
    n, count, positions, _ = queries.shape
    means = take((n, positions, count, values.shape[3]), queries.dtype, on_device=True)
    logs = take((n, count, positions), queries.dtype, on_device=True)
    gpukit.scaled_dot_product_attention(*heads, causal, out=_by_head(means), logsumexp=logs)
    return means, logs


def _attend_backward(
    grad: Any, heads: tuple[Any, ...], means: Any, logs: Any, causal: bool, out: tuple[Any, ...]
) -> None:
    """Write the gradients of queries, keys and values; grad is that of the means."""
    grad_means = _by_head(grad.reshape(means.shape))
    gpukit.scaled_dot_product_attention_backward(
        grad_means, *heads, _by_head(means), logs, causal, out=out
    )


def _heads(packed: Any, parts: int, heads: int) -> tuple[Any, ...]:
    """Return the adjacent parts, (N, heads, T, width / heads) each, as views."""
    n, positions, wide = packed.shape
    split = packed.reshape(n, positions, parts, heads, wide // (parts * heads))
    return tuple(_by_head(split[:, :, k]) for k in range(parts))


def _by_head(x: Any) -> Any:
    """Return (N, T, heads, numbers) as (N, heads, T, numbers), a view."""
    return launch.permuted(x, (0, 2, 1, 3))


def _like(array: Any) -> Any:
    return take(array.shape, array.dtype, on_device=True)
