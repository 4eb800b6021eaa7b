"""Backpropagation: a dense layer, its gradients, and kernels fused around it.

`dense` has the layer and the chain rule, `columns` the gradient of its bias,
`bias_activation` bias and activation fused, `sharing` three ways to distribute the backward pass
of a whole network over threads.
"""

from __future__ import annotations

from gpukit.kernels.backprop import bias_activation, columns, dense, sharing
from gpukit.kernels.backprop.bias_activation import (
    add_bias,
    bias_gelu,
    bias_gelu_backward,
    bias_relu,
    bias_relu_backward,
)
from gpukit.kernels.backprop.columns import column_sum
from gpukit.kernels.backprop.dense import (
    BACKWARD_VARIANTS,
    FORWARD_VARIANTS,
    linear,
    linear_backward,
    linear_backward_reference,
    linear_reference,
)
from gpukit.kernels.backprop.sharing import mlp, mlp_backward, mlp_backward_work

VARIANTS = (*dense.VARIANTS, *columns.VARIANTS, *bias_activation.VARIANTS, *sharing.VARIANTS)
__all__ = [
    "BACKWARD_VARIANTS",
    "FORWARD_VARIANTS",
    "VARIANTS",
    "add_bias",
    "bias_gelu",
    "bias_gelu_backward",
    "bias_relu",
    "bias_relu_backward",
    "column_sum",
    "linear",
    "linear_backward",
    "linear_backward_reference",
    "linear_reference",
    "mlp",
    "mlp_backward",
    "mlp_backward_work",
]
