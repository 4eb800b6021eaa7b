"""Backward pass of a network, distributed over threads in three ways: by layer, by weight, hybrid.

A network of dense layers without bias, y = sigmoid(net), net = w x. For the weight from input i to
output j of a layer, summed over the samples of the batch,

    dE/dw_ij = dE/dy_j * dy_j/dnet_j * dnet_j/dw_ij
                 |         |             |
                 |         |             input i of the layer
                 |         y_j (1 - y_j)
                 grad_out for the last layer; else sum over k of delta_k w_jk, with the deltas and
                 weights of the layer above

The first two factors are delta_j, which is the same for all weights into j, and which the layer
below needs. So a layer must wait for the one above it: all three ways go from the last layer to the
first, with at least one launch per layer. They differ in the work of a thread within a layer:

    by_layer    one block computes the whole layer, one thread per output j: delta_j for one sample
                after the other, and then its weights one after the other. Nothing is computed
                twice, but few threads are active
    by_weight   one thread per weight: as many threads as weights, but each computes the deltas
                that it needs by itself, the same ones for every input i
    hybrid      two launches: one thread per delta of the layer, then one thread per weight,
                which reads the deltas. Many threads, nothing twice, twice the launches

`mlp_backward_work` counts launches, threads, bytes and operations of each.

Legend
    N, n   samples in the batch                                                       64
    I, i   inputs of the layer                                                        784
    O, j   outputs of the layer                                                       128
    K, k   outputs of the layer above; where there is none, K = O and above is dE/dy  10
    x      (N, I): the inputs of the layer, the y of the layer below
    y      (N, O): its outputs
    above  (N, K): the deltas of the layer above, or dE/dy for the last layer
    weight_above  (K, O), or (0, O) for the last layer, since a kernel takes no None
    deltas (N, O): dE/dnet
    TILE   side of a block of threads for weights or deltas                           16
    BLOCK  threads of the one block of by_layer                                       256

All kernels, unless stated otherwise
    Dtypes     float32 or float64, the same for all arrays and the accumulators
    Errors     the host function rejects shapes that do not fit; the kernel assumes they do
    Source     Rumelhart, Hinton and Williams, Nature 323, 1986; the three ways are gpukit's
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gpukit import cuda, launch, signature
from gpukit.kernels.activations import sigmoid
from gpukit.kernels.backprop import dense
from gpukit.kernels.backprop.dense import linear
from gpukit.kernels.matmul.naive import TILE
from gpukit.launch import Cost, Variant
from gpukit.results import Result

BLOCK = 256

Float64 = npt.NDArray[np.float64]


# --- Reference -------------------------------------------------------------------------------


def mlp_backward_reference(
    grad_out: npt.ArrayLike, outputs: Sequence[npt.ArrayLike], weights: Sequence[npt.ArrayLike]
) -> tuple[Float64, ...]:
    """Return the gradient of each weight matrix; `outputs` are the input and each layer's y."""
    grad, made = np.asarray(grad_out, np.float64), []
    for x, y, weight in list(zip(outputs, outputs[1:], weights, strict=False))[::-1]:
        y = np.asarray(y, np.float64)
        delta = grad * y * (1 - y)
        made.append(delta.T @ np.asarray(x, np.float64))
        grad = delta @ np.asarray(weight, np.float64)
    return tuple(made[::-1])


# --- Kernels ---------------------------------------------------------------------------------


@cuda.jit(device=True)
def delta_of(above, weight_above, y, n, j):
    """Return delta_j of sample n: dE/dy_j, through all that y_j feeds, times dy_j/dnet_j."""
    if weight_above.shape[0] == 0:
        change = above[n, j]
    else:
        change = y.dtype.type(0)
        for k in range(weight_above.shape[0]):
            change += above[n, k] * weight_above[k, j]
    value = y[n, j]
    return change * value * (y.dtype.type(1) - value)


@cuda.jit
def backprop_by_layer_kernel(above, weight_above, y, x, deltas, grad_weight):
    """Compute a layer's deltas and gradients in one block, one thread for an output at a time.

    New here   the layer as the unit of work: a thread reads back the deltas that it wrote itself,
               so no barrier is needed. One block occupies one of a GPU's many multiprocessors,
               with as many active threads as outputs; neighbouring threads write different rows
               of grad_weight, which is not coalesced
    Shapes     above (N, K), weight_above (K, O) or (0, O), y (N, O), x (N, I), deltas (N, O),
               grad_weight (O, I); any sizes >= 1
    Launch     block BLOCK, grid 1; x = output
    Cost       bytes: itemsize (N O (2 K + 2) + O I (2 N + 1)), without a layer above
               3 N O instead of the first term; flops: N O (2 K + 3) + 2 N O I; barriers: 0
    """
    for j in range(cuda.threadIdx.x, y.shape[1], BLOCK):
        for n in range(y.shape[0]):
            deltas[n, j] = delta_of(above, weight_above, y, n, j)
        for i in range(x.shape[1]):
            acc = y.dtype.type(0)
            for n in range(y.shape[0]):
                acc += deltas[n, j] * x[n, i]
            grad_weight[j, i] = acc


def backprop_by_layer_cost(n: int, i: int, o: int, k: int | None, itemsize: int = 4) -> Cost:
    """Each delta once, then per weight N deltas and N inputs loaded, one store."""
    delta = backprop_delta_cost(n, o, k, itemsize)
    return Cost(delta.bytes + itemsize * o * i * (2 * n + 1), delta.flops + 2 * n * o * i)


@cuda.jit
def backprop_by_weight_kernel(above, weight_above, y, x, deltas, grad_weight):
    """Compute a layer's gradients, one thread per weight, which recomputes the deltas it needs.

    New here   the weight as the unit of work: threads are independent, but every delta is computed
               I times. The thread of input 0 stores it for the layer below
    Shapes     above (N, K), weight_above (K, O) or (0, O), y (N, O), x (N, I), deltas (N, O),
               grad_weight (O, I); any sizes >= 1
    Launch     block (TILE, TILE), grid (ceil_div(I, TILE), ceil_div(O, TILE)); x = input,
               y = output
    Cost       bytes: itemsize (O I (N (2 K + 2) + 1) + N O), without a layer above 3 N instead of
               N (2 K + 2); flops: N O I (2 K + 5), without 5 N O I; barriers: 0
    """
    i, j = cuda.grid(2)
    if i < x.shape[1] and j < y.shape[1]:
        acc = y.dtype.type(0)
        for n in range(y.shape[0]):
            delta = delta_of(above, weight_above, y, n, j)
            acc += delta * x[n, i]
            if i == 0:
                deltas[n, j] = delta
        grad_weight[j, i] = acc


def backprop_by_weight_cost(n: int, i: int, o: int, k: int | None, itemsize: int = 4) -> Cost:
    """The delta of each sample once per weight, the input, one store; deltas stored once."""
    loads, flops = _delta_work(k)
    elements = o * i * (n * (loads + 1) + 1) + n * o
    return Cost(bytes=itemsize * elements, flops=n * o * i * (flops + 2))


def _delta_work(k: int | None) -> tuple[int, int]:
    """Return the loads and operations of one delta; k is None where there is no layer above."""
    return (2, 3) if k is None else (2 * k + 1, 2 * k + 3)


@cuda.jit
def backprop_delta_kernel(above, weight_above, y, deltas):
    """Compute a layer's deltas, one thread per output of one sample.

    New here   the samples of the batch in parallel too: deltas of different samples are
               independent. The gradients follow with linear_grad_weight_kernel, one thread per
               weight; that launch needs all deltas, so it must be a separate one
    Shapes     above (N, K), weight_above (K, O) or (0, O), y (N, O), deltas (N, O); any sizes >= 1
    Launch     block (TILE, TILE), grid (ceil_div(O, TILE), ceil_div(N, TILE)); x = output,
               y = sample
    Cost       bytes: itemsize N O (2 K + 2), without a layer above 3 N O; flops: N O (2 K + 3),
               without 3 N O; barriers: 0
    """
    j, n = cuda.grid(2)
    if n < y.shape[0] and j < y.shape[1]:
        deltas[n, j] = delta_of(above, weight_above, y, n, j)


def backprop_delta_cost(n: int, o: int, k: int | None, itemsize: int = 4) -> Cost:
    """Per delta: K deltas and weights above, or dE/dy, then y, and one store."""
    loads, flops = _delta_work(k)
    return Cost(bytes=itemsize * n * o * (loads + 1), flops=n * o * flops)


# --- Host functions --------------------------------------------------------------------------


def mlp(input: Any, weights: Sequence[Any], *, stream: Any = 0) -> list[Any]:
    """Return the outputs of each layer of a network, sigmoid(x weight^T), from the first.

    input (N, I) and weights (O1, I), (O2, O1), ... give (N, O1), (N, O2), ...
    """
    outputs = []
    for weight in weights:
        net = linear(input, weight, stream=stream)
        outputs.append(input := sigmoid(net, out=net, stream=stream))
    return outputs


@signature.takes_old_names
def mlp_backward(
    grad_out: Any,
    input: Any,
    outputs: Sequence[Any],
    weights: Sequence[Any],
    *,
    variant: str = "hybrid",
    stream: Any = 0,
) -> tuple[Any, ...]:
    """Return the gradient of each weight matrix of a network, given the results of `mlp`.

    `grad_out` is dE/d outputs[-1]. The variants "by_layer", "by_weight" and "hybrid" give the same
    results; `mlp_backward_work` returns their costs.
    """
    function = "mlp_backward"
    if variant not in WAYS:
        names = ", ".join(map(repr, WAYS))
        raise ValueError(
            f"{function}: expected variant to be one of {names}, got {variant!r}. Pick one."
        )
    above, layers, matrices, results = _checked(
        function, grad_out, [input, *outputs], weights, stream
    )
    weight_above = launch.empty((0, above.shape[1]), above.dtype)
    for at in reversed(range(len(matrices))):
        x, y, grad_weight = layers[at], layers[at + 1], results[at].array
        deltas = launch.empty(tuple(y.shape), y.dtype)
        both = (above, weight_above, y, x, deltas, grad_weight)
        arrays = {
            "delta": (above, weight_above, y, deltas),
            "grad_weight": (deltas, x, grad_weight),
        }
        for step in WAYS[variant]:
            sizes = y.shape[::-1] if step.name == "delta" else grad_weight.shape[::-1]
            if min(sizes):
                grid = 1 if step.name == "by_layer" else step.grid(function, *sizes)
                step.kernel[grid, step.block, stream](*arrays.get(step.name, both))
        above, weight_above = deltas, matrices[at]
    return tuple(result.get() for result in results)


def _checked(
    function: str, grad_out: Any, layers: Sequence[Any], weights: Sequence[Any], stream: Any
) -> tuple[Any, list[Any], list[Any], list[Result]]:
    """Return all arrays on the device, and where gradients go; raise unless the shapes fit."""
    if len(layers) != len(weights) + 1:
        raise ValueError(
            f"{function}: expected an array of outputs for each of {len(weights)} weights, "
            f"got {len(layers) - 1}. Pass what mlp returned."
        )
    (x, *moved), made = _takes(len(weights)).bind(
        function, (*layers[:1], *weights, *layers[1:], grad_out), stream=stream
    )
    matrices, outputs, grad = moved[: len(weights)], moved[len(weights) : -1], moved[-1]
    for k, weight in enumerate(matrices):
        if weight.shape[0] == 0:
            raise ValueError(
                f"{function}: expected weights[{k}] to have a row for each output, got none. "
                "A layer has one output or more."
            )
    results = made if isinstance(made, list) else [made]
    return grad, [x, *outputs], matrices, results


@functools.cache
def _takes(layers: int) -> signature.Signature:
    """Return the signature of a network of so many layers."""
    weights = ", ".join(f"weights[{k}]: o{k + 1} o{k}" for k in range(layers))
    outputs = ", ".join(f"outputs[{k}]: n o{k + 1}" for k in range(layers))
    made = ", ".join(f"o{k + 1} o{k}" for k in range(layers))
    return signature.Signature(
        f"input: n o0, {weights}, {outputs}, grad_out: n o{layers} -> {made}"
    )


class Work(NamedTuple):
    """The work of a backward pass: active threads of each launch, and the cost of all launches."""

    threads: tuple[int, ...]
    cost: Cost

    @property
    def launches(self) -> int:
        """The number of launches, which are sequential."""
        return len(self.threads)


def mlp_backward_work(variant: str, n: int, sizes: Sequence[int], itemsize: int = 4) -> Work:
    """Return the work of one of the three ways, for n samples and layers of `sizes`.

    `sizes` begins with the inputs: (784, 128, 10). Launches are in their order, the last layer
    first.
    """
    threads, costs = [], []
    for at in reversed(range(len(sizes) - 1)):
        i, o, k = sizes[at], sizes[at + 1], sizes[at + 2] if at + 2 < len(sizes) else None
        threads_of = {"by_layer": [min(o, BLOCK)], "by_weight": [o * i], "hybrid": [n * o, o * i]}
        costs += {
            "by_layer": [backprop_by_layer_cost(n, i, o, k, itemsize)],
            "by_weight": [backprop_by_weight_cost(n, i, o, k, itemsize)],
            "hybrid": [
                backprop_delta_cost(n, o, k, itemsize),
                dense.linear_grad_weight_cost(n, i, o, itemsize),
            ],
        }[variant]
        threads += threads_of[variant]
    total = Cost(sum(cost.bytes for cost in costs), sum(cost.flops for cost in costs))
    return Work(tuple(threads), total)


VARIANTS = (
    Variant(
        "by_layer", backprop_by_layer_kernel, backprop_by_layer_cost, mlp_backward_reference, BLOCK
    ),
    Variant(
        "by_weight",
        backprop_by_weight_kernel,
        backprop_by_weight_cost,
        mlp_backward_reference,
        (TILE, TILE),
    ),
    Variant(
        "delta", backprop_delta_kernel, backprop_delta_cost, mlp_backward_reference, (TILE, TILE)
    ),
)
# The launches of each way per layer.
WAYS = {
    "by_layer": VARIANTS[:1],
    "by_weight": VARIANTS[1:2],
    "hybrid": (VARIANTS[2], dense.BACKWARD_VARIANTS[1]),
}
__all__ = launch.public_names(globals())
