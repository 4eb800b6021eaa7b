"""The libraries that a kernel is measured against on a GPU: CuPy and PyTorch, where installed.

CuPy has NumPy's names, so it does the very work that NumPy does on a CPU: its products are
cuBLAS's, its sums CUB's. PyTorch has names of its own, below.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gpukit.bench.timing import Contest, Work

_FACTOR = 2.5  # of the cases of saxpy

# By the beginning of a case's name, the longest that fits: what PyTorch calls the same, on the
# arrays that NumPy gets.
_TORCH: dict[str, Callable[..., Any]] = {
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
    "conv2d": lambda t, *given: t.nn.functional.conv2d(*given, padding=1),
    "linear": lambda t, x, weight, bias: t.nn.functional.linear(x, weight, bias),
    "linear_grad_x": lambda t, grad, weight: t.matmul(grad, weight),
    "linear_grad_weight": lambda t, grad, x: t.matmul(grad.T, x),
    "column_sum": lambda t, x, mine: t.sum(x, 0, out=mine),
    "matmul_nt": lambda t, a, b, bias, mine: t.addmm(bias, a, b.T, out=mine),
    "matmul_tn": lambda t, a, b, mine: t.matmul(a.T, b, out=mine),
}


def of(contest: Contest) -> dict[str, Callable[[], Work]]:
    """Return, for each library that is installed, what makes its work, on arrays on the GPU.

    Products that round what they multiply are measured against a library that rounds alike, so not
    against CuPy.
    """
    found: dict[str, Callable[[], Work]] = {}
    cupy, torch = _installed("cupy"), _installed("torch")
    if cupy is not None and not contest.units:
        found["CuPy"] = lambda: contest.on(cupy)
    if torch is not None and named(contest):
        found["PyTorch"] = lambda: by_torch(contest, torch, "cuda")
    return found


def named(contest: Contest) -> str:
    """Return the beginning of a case's name for which PyTorch has a name; nothing without one."""
    fitting = [n for n in _TORCH if contest.name == n or contest.name.startswith(f"{n}_")]
    return max(fitting, key=len, default="")


def by_torch(contest: Contest, torch: Any, device: str) -> Work:
    """Return PyTorch's work of a case that it has a name for, on a device."""
    function = _TORCH[named(contest)]
    moved = [
        torch.as_tensor(a, device=device) if isinstance(a, np.ndarray) else a for a in contest.given
    ]
    tf32 = contest.units == "tf32"
    if contest.units == "bf16":
        moved = [x.to(torch.bfloat16) if hasattr(x, "to") else x for x in moved]

    def work() -> Any:
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32  # convolutions; on unless it is turned off
        return function(torch, *moved)

    return work


@functools.cache
def _installed(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
