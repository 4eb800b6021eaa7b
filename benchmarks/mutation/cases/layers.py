"""Launches of softmax, losses, normalisation, dropout, embedding and attention."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.mutation.cases.register import called, given, values
from gpukit import cuda
from gpukit.kernels import (
    attention,
    augment,
    dropout,
    embedding,
    layer_norm_grad,
    losses,
    philox,
    softmax,
)
from gpukit.kernels.losses import entropy, mse, totals
from gpukit.kernels.softmax import backward, log, threads


def signed(*shape: int) -> Any:
    """Return values from -3 to 3 on the device, with alternating signs."""
    x = 2 * values(*shape) - 1
    return cuda.to_device(np.where(np.arange(x.size).reshape(shape) % 2, x, -x))


# ---- softmax and losses ---------------------------------------------------------------------


def _logits(rows: int, cols: int) -> Any:
    """Return rows far below 0, every second one with one element far above, at varying columns.

    A missed running maximum shows as an overflow, or as a normalizer of 0.
    """
    x = 3 * values(rows, cols) - 200
    for row in range(1, rows, 2):
        x[row, 37 * row % cols] = 3
    return x


def _softmax(variant: str, rows: int, cols: int) -> Any:
    return softmax.softmax(cuda.to_device(_logits(rows, cols)), variant=variant)


def _inner(function: Any) -> Any:
    """Call a function along the middle one of three axes."""
    x = np.ascontiguousarray(_logits(3 * 300, 9).reshape(3, 300, 9).swapaxes(1, 2))
    return function(cuda.to_device(x), 1)


def _backward(function: Any, *shape: int) -> Any:
    return function(given(*shape), signed(*shape), 1)


for _variant in softmax.VARIANTS[1:]:
    _rows = 300 if _variant.name == "thread" else 35
    called(
        [_variant.kernel],
        partial(_softmax, _variant.name, _rows, 300 if _rows == 35 else 9),
        partial(_softmax, _variant.name, 3, 1),
    )
called(
    [variant.kernel for variant in threads.VARIANTS[:3]],
    partial(_softmax, "three_pass", 300, 9),
    partial(_softmax, "three_pass", 3, 1),
)
called([threads.VARIANTS[4].kernel], partial(_inner, softmax.softmax))
_rows_of, _inner_of = (variant.kernel for variant in log.VARIANTS)
called([_rows_of], lambda: softmax.log_softmax(cuda.to_device(_logits(35, 70))))
called([_inner_of], partial(_inner, softmax.log_softmax))
for _kernel, _function, _shape in zip(
    [variant.kernel for variant in backward.VARIANTS],
    (softmax.softmax_backward, softmax.log_softmax_backward) * 2,
    [(11, 70)] * 2 + [(3, 9, 300)] * 2,
    strict=True,
):
    called([_kernel], partial(_backward, _function, *_shape))


def _targets(rows: int, cols: int) -> Any:
    """Return a class for each row; some are ignored, and some are invalid."""
    target = 37 * np.arange(rows, dtype=np.int32) % cols
    target[::5], target[3], target[6] = -100, -1, cols
    target[[0, -1]] = 0, cols - 1
    return cuda.to_device(target)


def _entropy(function: Any, reduction: str) -> Any:
    return function(cuda.to_device(_logits(21, 70)), _targets(21, 70), reduction)


called([entropy.LOSS.kernel], partial(_entropy, losses.cross_entropy, "none"))
called(
    [entropy.GRAD.kernel],
    partial(_entropy, losses.cross_entropy_backward, "mean"),
    lambda: losses.cross_entropy_backward(
        cuda.to_device(_logits(21, 70)), _targets(21, 70), "none", grad_out=given(21)
    ),
)
called([totals.COUNT.kernel], lambda: losses.cross_entropy(given(300, 2), _targets(300, 2)))
called(
    [totals.TOTAL.kernel],
    lambda: losses.cross_entropy(given(300, 2), _targets(300, 2), "sum"),
    lambda: losses.cross_entropy(given(600, 2), cuda.to_device(np.arange(600) % 2)),
)
_grad = mse.GRAD.kernel
called(
    [_grad],
    lambda: losses.mse_loss_backward(given(300), signed(300)),
    lambda: losses.mse_loss_backward(given(300), signed(300), "none", grad_out=given(300)),
)


# ---- normalization, random numbers, embedding -----------------------------------------------


def _layer_norm_columns() -> None:
    """Add the rows in two parts, the second one shorter."""
    by_column = layer_norm_grad.VARIANTS[1]
    sums = (cuda.device_array((2, 150), np.float32) for _ in range(2))
    arrays = given(11, 150), signed(11, 150), signed(11), given(11)
    by_column.kernel[(2, 2), by_column.block](*arrays, *sums)


called([layer_norm_grad.VARIANTS[1].kernel], _layer_norm_columns)


# More than 32 bits, so that both halves count.
CHANCE = {"seed": 0x9E3779B97F4A7C15, "offset": 0xBB67AE8584CAA73B}
called(
    [philox.VARIANTS[0].kernel],
    lambda: philox.rand(2301, **CHANCE, out=cuda.device_array(2301, np.float32)),
)
called([dropout.VARIANTS[0].kernel], lambda: dropout.dropout(given(2301), 0.3, **CHANCE))
called(
    [augment.VARIANTS[0].kernel], lambda: augment.augment(given(5, 3, 9, 7), 2, True, 0.5, **CHANCE)
)


def _index() -> Any:
    """Return indices into 11 rows: some twice, some invalid."""
    index = 7 * np.arange(19) % 11
    index[[3, 6]] = -1, 11
    index[[0, -1, 8]] = 0, 10, 10
    return cuda.to_device(index)


def _embedding_backward(variant: str, cols: int) -> Any:
    return embedding.embedding_backward(given(19, cols), _index(), 11, variant=variant)


called([embedding.VARIANTS[0].kernel], lambda: embedding.embedding(_index(), given(11, 35)))
for _variant, _cols in zip(embedding.GRAD_VARIANTS, (35, 300), strict=True):
    called([_variant.kernel], partial(_embedding_backward, _variant.name, _cols))


# ---- attention ------------------------------------------------------------------------------


def _attend(variant: str, causal: bool, scale: float | None, rows: int, keys: int) -> Any:
    """Return the gradients of attention, for a batch of two with three heads each."""
    query, key, value = signed(2, 3, rows, 19), signed(2, 3, keys, 19), given(2, 3, keys, 35)
    kept = cuda.device_array((2, 3, rows), np.float32)
    out = attention.scaled_dot_product_attention(
        query, key, value, causal, scale, variant=variant, logsumexp=kept
    )
    grad = given(2, 3, rows, 35)
    return attention.scaled_dot_product_attention_backward(
        grad, query, key, value, out, kept, causal, scale, variant=variant
    )


# Scores whose exponential overflows; more keys than queries, and fewer.
_ATTEND = {
    "naive": ((False, 30.0, 18, 35), (True, None, 35, 18)),
    "tiled": ((False, 30.0, 35, 50), (True, None, 50, 35)),
}
for _variant in attention.VARIANTS:
    _way = "tiled" if "tiled" in _variant.kernel.py_func.__name__ else "naive"
    called([_variant.kernel], *(partial(_attend, _way, *told) for told in _ATTEND[_way]), terms=64)
