"""The Transformer: attention and dense layers in blocks, alone or as encoder and decoder.

Each part of a block is a `Residual` that begins with a `LayerNorm` (pre-norm), as in GPT-2; in the
article below the norm follows the sum (post-norm), which needs a warm-up to train at all.

Source: Vaswani et al., "Attention Is All You Need", 2017; Xiong et al., "On Layer Normalization in
the Transformer Architecture", 2020
"""

from __future__ import annotations

from typing import Any

from gpukit.nn.activations import GELU
from gpukit.nn.attention import CrossAttention, MultiHeadAttention
from gpukit.nn.containers import Residual, Sequential, add
from gpukit.nn.dense import Linear
from gpukit.nn.embedding import Embedding, Positions
from gpukit.nn.normalisation import LayerNorm


def block(width: int, heads: int, *, causal: bool = False) -> Sequential:
    """Return attention and two dense layers, each with a skip connection: (N, T, width)."""
    attention = MultiHeadAttention(width, heads, causal=causal)
    return Sequential(Residual(LayerNorm(width), attention), _dense(width))


def gpt(tokens: int, positions: int, width: int, heads: int, blocks: int) -> Sequential:
    """Return a model that predicts the next token: (N, T) tokens to (N, T, tokens) logits.

    T is `positions` or less, and position t sees tokens 0 to t.
    """
    return Sequential(
        _embedding(tokens, positions, width),
        *(block(width, heads, causal=True) for _ in range(blocks)),
        LayerNorm(width),
        Linear(width, tokens),
    )


class Transformer:
    """Encoder and decoder: sequences of one kind to predictions of another kind's next token.

    forward takes (source, target), tokens (N, S) and (N, T), int32 on the device, with S and T
    at most `positions`, and returns logits (N, T, tokens): those at position t depend on all of the
    source and on target 0 to t.
    """

    def __init__(self, tokens: int, positions: int, width: int, heads: int, blocks: int) -> None:
        encoder = (block(width, heads) for _ in range(blocks))
        self.layers: tuple[Any, ...] = (
            Sequential(_embedding(tokens, positions, width), *encoder, LayerNorm(width)),
            _embedding(tokens, positions, width),
            *(_DecoderBlock(width, heads) for _ in range(blocks)),
            Sequential(LayerNorm(width), Linear(width, tokens)),
        )

    def forward(self, pair: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return the logits, and what each layer saved."""
        source, target = pair
        encoder, embedding, *blocks, head = self.layers
        memory, of_encoder = encoder.forward(source)
        x, of_embedding = embedding.forward(target)
        saved = []
        for each in blocks:
            x, kept = each.forward(x, memory)
            saved.append(kept)
        logits, of_head = head.forward(x)
        return logits, (of_encoder, of_embedding, saved, of_head)

    def backward(self, saved: Any, grad: Any) -> None:
        """Write the gradients of all parameters. Tokens have none."""
        of_encoder, of_embedding, of_blocks, of_head = saved
        encoder, embedding, *blocks, head = self.layers
        grad, of_memory = head.backward(of_head, grad), None
        for each, kept in zip(reversed(blocks), reversed(of_blocks), strict=True):
            grad, more = each.backward(kept, grad)
            of_memory = more if of_memory is None else add(of_memory, more)
        embedding.backward(of_embedding, grad)
        encoder.backward(of_encoder, of_memory)


class _DecoderBlock:
    """Attention to the target's earlier positions, attention to the source, two dense layers."""

    def __init__(self, width: int, heads: int) -> None:
        own = MultiHeadAttention(width, heads, causal=True)
        self.layers = (
            Residual(LayerNorm(width), own),
            LayerNorm(width),
            CrossAttention(width, heads),
            _dense(width),
        )

    def forward(self, x: Any, memory: Any) -> tuple[Any, Any]:
        own, norm, cross, dense = self.layers
        x, of_own = own.forward(x)
        normed, of_norm = norm.forward(x)
        found, of_cross = cross.forward(normed, memory)
        out, of_dense = dense.forward(add(x, found))
        return out, (of_own, of_norm, of_cross, of_dense)

    def backward(self, saved: Any, grad: Any) -> tuple[Any, Any]:
        of_own, of_norm, of_cross, of_dense = saved
        own, norm, cross, dense = self.layers
        grad = dense.backward(of_dense, grad)
        grad_normed, of_memory = cross.backward(of_cross, grad)
        return own.backward(of_own, add(grad, norm.backward(of_norm, grad_normed))), of_memory


def _embedding(tokens: int, positions: int, width: int) -> Sequential:
    return Sequential(
        Embedding(tokens, width, deviation=0.02), Positions(positions, width, deviation=0.02)
    )


def _dense(width: int) -> Residual:
    return Residual(LayerNorm(width), Linear(width, 4 * width), GELU(), Linear(4 * width, width))
