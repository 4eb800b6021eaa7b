"""The libraries that a kernel is compared with on a GPU: CuPy and PyTorch, if installed.

CuPy has NumPy's names, so it runs the work of NumPy: matrix products by cuBLAS, sums by CUB.
PyTorch's operations are listed below.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gpukit.bench.timing import Comparison, Work

_FACTOR = 2.5  # of the cases of saxpy


def normal_below(xp: Any, x: Any, out: Any) -> None:
    """Write the normal distribution function of x, with float32 accuracy.

    NumPy has no erf. This is formula 7.1.26 of Abramowitz and Stegun, with an error below 1.5e-7;
    the usual tanh approximation is another function.
    """
    t = 1 / (1 + np.float32(0.3275911 * 0.5**0.5) * xp.abs(x))
    out[:] = np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        out *= t
        out += np.float32(factor)
    out *= t
    out *= xp.exp(x * x * np.float32(-0.5))  # now erfc(|x| / sqrt(2))
    out *= np.float32(0.5)
    out[:] = xp.where(x > 0, 1 - out, out)


def attention_grad_scores(
    xp: Any, grad: Any, query: Any, key: Any, value: Any, kept: Any, delta: Any, scale: Any
) -> tuple[Any, Any]:
    """Return the weights of attention and the gradients of its scores, in any library's arrays."""
    weights = xp.exp(scale * (query @ key.swapaxes(-1, -2)) - kept[..., None])
    return weights, scale * weights * (grad @ value.swapaxes(-1, -2) - delta[..., None])


def _attention_grad_key_value(t: Any, grad: Any, query: Any, *rest: Any) -> Any:
    weights, grads = attention_grad_scores(t, grad, query, *rest)
    return t.stack((grads.swapaxes(-1, -2) @ query, weights.swapaxes(-1, -2) @ grad))


def _layer_norm_grads(
    t: Any, grad: Any, x: Any, mean: Any, rstd: Any, weight: Any, wanted: list[bool]
) -> Any:
    rows = mean[:, None], rstd[:, None]
    bias = t.zeros_like(weight) if wanted[2] else None
    return t.ops.aten.native_layer_norm_backward(grad, x, x.shape[1:], *rows, weight, bias, wanted)


def _batch_norm_grads(
    t: Any, grad: Any, x: Any, mean: Any, var: Any, weight: Any, wanted: list[bool]
) -> Any:
    rstd = (var + 1e-5).rsqrt()
    return t.ops.aten.native_batch_norm_backward(
        grad, x, weight, None, None, mean, rstd, True, 1e-5, wanted
    )


# PyTorch's operation for the arrays that NumPy gets, by the longest matching prefix of a case's
# name. None: NumPy's work uses only names that PyTorch has too.
_TORCH: dict[str, Callable[..., Any] | None] = {
    "vector_add": lambda t, x, y, mine: t.add(x, y, out=mine),
    "saxpy": lambda t, x, y, mine: t.add(y, x, alpha=_FACTOR, out=mine),
    "fill": lambda _, _x, _y, mine: mine.fill_(_FACTOR),
    "relu": lambda t, x, mine: t.clamp(x, min=0, out=mine),
    "sigmoid": lambda t, x, mine: t.sigmoid(x, out=mine),
    "tanh": lambda t, x, mine: t.tanh(x, out=mine),
    "gelu": lambda t, x, _mine: t.nn.functional.gelu(x),
    "relu_grad": lambda t, grad, given, mine: t.mul(grad, given > 0, out=mine),
    "sigmoid_grad": lambda t, grad, given, _: t.ops.aten.sigmoid_backward(grad, given),
    "tanh_grad": lambda t, grad, given, _: t.ops.aten.tanh_backward(grad, given),
    "gelu_grad": lambda t, grad, given, _: t.ops.aten.gelu_backward(grad, given),
    "copy": lambda _, source, mine: mine.copy_(source),
    "transpose": lambda _, source, mine: mine.copy_(source),
    "sum": lambda t, x: t.sum(x),
    "max": lambda t, x: t.max(x),
    "min": lambda t, x: t.min(x),
    "argmax": lambda t, x: t.argmax(x),
    "argmax_finish": lambda t, x, places: places[t.argmax(x[places])],
    "dot": lambda t, x, y: t.dot(x, y),
    "scan": lambda t, x, mine: t.cumsum(x, 0, out=mine),
    "add_offsets": lambda t, each, mine: t.add(mine, each, out=mine),
    "compact": lambda t, keep, x, _mine: t.masked_select(x, keep),
    "histogram": lambda t, x: t.bincount(x, minlength=256),
    "matvec": lambda t, a, x, mine: t.mv(a, x, out=mine),
    "matmul": lambda t, a, b, mine: t.matmul(a, b, out=mine),
    "conv1d": lambda t, *given: t.nn.functional.conv1d(*given, padding=4),
    "conv2d": lambda t, *given: t.nn.functional.conv2d(*given, padding=1),
    "conv2d_grad_input": lambda t, grad, weight: t.nn.grad.conv2d_input(
        (len(grad), weight.shape[1], *grad.shape[2:]), weight, grad, padding=1
    ),
    "conv2d_grad_weight": lambda t, grad, x: t.nn.grad.conv2d_weight(
        x, (grad.shape[1], x.shape[1], 3, 3), grad, padding=1
    ),
    "conv2d_grad_bias": lambda t, grad: t.sum(grad, (0, 2)),
    "im2col": lambda t, x: t.nn.functional.unfold(x, 3, padding=1),
    "col2im": lambda t, columns: t.nn.functional.fold(
        columns.flatten(3).flatten(1, 2), columns.shape[3:], 3, padding=1
    )[:, 0],
    "columns_product": lambda t, a, columns, bias: t.matmul(a, columns) + bias[:, :, None],
    "columns_grad_weight": lambda t, grad, columns: (
        t.matmul(grad, columns.transpose(2, 3)).unflatten(0, (-1, min(len(grad), 16))).sum(0)
    ),
    "max_pool2d": lambda t, x: t.nn.functional.max_pool2d(x, 2, return_indices=True)[0],
    "avg_pool2d": lambda t, x: t.nn.functional.avg_pool2d(x, 2),
    "max_pool2d_scatter": lambda t, grad, at: t.nn.functional.max_unpool2d(grad, at, 2),
    "max_pool2d_gather": lambda t, grad, at: t.nn.functional.max_unpool2d(grad, at, 2),
    "avg_pool2d_backward": lambda t, grad: t.repeat_interleave(
        t.repeat_interleave(grad / 4, 2, 1), 2, 2
    ),
    "linear": lambda t, x, weight, bias: t.nn.functional.linear(x, weight, bias),
    "linear_grad_x": lambda t, grad, weight: t.matmul(grad, weight),
    "linear_grad_weight": lambda t, grad, x: t.matmul(grad.T, x),
    "attention_scores": lambda t, query, key, scale: scale * t.matmul(query, key.mT),
    "attention_softmax": lambda t, scores: t.softmax(scores, -1),
    "attention_values": lambda t, weights, value: t.matmul(weights, value),
    "attention_transposed": lambda t, weights, rows: t.matmul(weights.mT, rows),
    "attention_delta": lambda t, grad, output: t.sum(grad * output, -1),
    "attention_grad_scores": lambda t, *given: attention_grad_scores(t, *given)[1],
    "attention_tiled": lambda t, *qkv_scale: t.nn.functional.scaled_dot_product_attention(
        *qkv_scale[:3], scale=float(qkv_scale[3])
    ),
    "attention_tiled_grad_query": lambda t, *given: attention_grad_scores(t, *given)[1] @ given[2],
    "attention_tiled_grad_key_value": _attention_grad_key_value,
    "gate": None,
    "lstm": None,
    "gru": None,
    "embedding": lambda t, index, weight, _mine: t.nn.functional.embedding(index, weight),
    "embedding_grad": lambda _, grad, index, mine: mine.zero_().index_add_(0, index, grad),
    "layer_norm": lambda t, x, weight, bias, _mine: t.nn.functional.layer_norm(
        x, x.shape[1:], weight, bias
    ),
    "layer_norm_grad_input": lambda t, grad, x, mean, rstd, weight: _layer_norm_grads(
        t, grad, x, mean, rstd, weight, [True, False, False]
    )[0],
    "layer_norm_grad_weight": lambda t, grad, x, mean, rstd: _layer_norm_grads(
        t, grad, x, mean, rstd, t.ones_like(x[0]), [False, True, True]
    )[1],
    "batch_norm_stats": lambda t, x: t.var_mean(x, (0, 2), correction=0)[0],
    "batch_norm": lambda t, x, *known: t.nn.functional.batch_norm(x, *known[:4]),
    "batch_norm_grad_weight": lambda t, grad, x, mean, var: _batch_norm_grads(
        t, grad, x, mean, var, t.ones_like(mean), [False, True, True]
    )[1],
    "batch_norm_grad_input": lambda t, grad, x, mean, var, weight, _along, _total: (
        _batch_norm_grads(t, grad, x, mean, var, weight, [True, False, False])[0]
    ),
    # PyTorch draws other random numbers: it draws and discards them, and uses the given ones.
    "rand": lambda t, chance, mine: (t.rand(*mine.shape, out=mine), chance)[1],
    "dropout": lambda t, x, chance, mine: (
        t.rand(*mine.shape, out=mine),
        t.mul(x, chance >= 0.5, out=mine).mul_(2),
    )[1],
    "column_sum": lambda t, x, mine: t.sum(x, 0, out=mine),
    **dict.fromkeys(
        (f"softmax_{way}" for way in ("thread", "inner", "warp", "block", "online", "three_pass")),
        lambda t, x, _mine: t.softmax(x, 1),
    ),
    "log_softmax": lambda t, x, _mine: t.log_softmax(x, 1),
    "softmax_backward": lambda t, grad, y, _: t.ops.aten._softmax_backward_data(
        grad, y, 1, y.dtype
    ),
    "log_softmax_backward": lambda t, grad, y, _: t.ops.aten._log_softmax_backward_data(
        grad, y, 1, y.dtype
    ),
    "square_sum": lambda t, x: t.linalg.vector_norm(x),
    "scale": lambda _, mine: mine.mul_(1),
    "matmul_nt": lambda t, a, b, bias, mine: t.addmm(bias, a, b.T, out=mine),
    "matmul_tn": lambda t, a, b, mine: t.matmul(a.T, b, out=mine),
    "matmul_2_4": lambda t, x, weight, mine: t.matmul(x, weight.T, out=mine),
    "matmul_int8": lambda t, a, b: t.matmul(a.float(), b.float().T),
    "matvec_int8": lambda t, a, x: t.mv(a.float(), x.float()),
    "columns_product_mixed": lambda t, a, columns, bias, _mine: (
        t.matmul(a, columns) + bias[:, :, None]
    ),
    "convert_float16": lambda _, x, mine: mine.copy_(x),
    "convert_float32": lambda _, x, mine: mine.copy_(x),
    "apply_mask": lambda t, x, mask: t.mul(x, mask),
}


def of(comparison: Comparison) -> dict[str, Callable[[], Work]]:
    """Return, for each installed library, a function that makes its work on arrays on the GPU.

    Products with rounded factors are compared only with a library that rounds alike, not with CuPy.
    """
    found: dict[str, Callable[[], Work]] = {}
    cupy, torch = _installed("cupy"), _installed("torch")
    if cupy is not None and not comparison.units:
        found["CuPy"] = lambda: comparison.on(cupy)
    if torch is not None and named(comparison):
        found["PyTorch"] = lambda: by_torch(comparison, torch, "cuda")
    return found


def named(comparison: Comparison) -> str:
    """Return the prefix of a case's name that PyTorch has an operation for, or nothing."""
    fitting = [n for n in _TORCH if comparison.name == n or comparison.name.startswith(f"{n}_")]
    return max(fitting, key=len, default="")


def by_torch(comparison: Comparison, torch: Any, device: str) -> Work:
    """Return PyTorch's work on a device, for a case with an operation above."""
    function = _TORCH[named(comparison)] or comparison.work
    moved = [
        torch.as_tensor(a, device=device) if isinstance(a, np.ndarray) else a
        for a in comparison.given
    ]
    tf32 = comparison.units == "tf32"
    if comparison.units == "bf16":
        moved = [x.to(torch.bfloat16) if hasattr(x, "to") else x for x in moved]

    def work() -> Any:
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32  # for convolutions, where it is on by default
        return function(torch, *moved)

    return work


@functools.cache
def _installed(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
