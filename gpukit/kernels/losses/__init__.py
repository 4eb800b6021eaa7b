"""Losses and their gradients: one number that says how wrong a model is, and which way is down.

`entropy` is for classes, `mse` for numbers; `totals` makes one number of many losses.
A loss is an array of no axes that lies where the inputs lie: nothing waits for the host.
"""

from gpukit.kernels.losses import entropy, mse, totals
from gpukit.kernels.losses.entropy import (
    cross_entropy,
    cross_entropy_backward,
    cross_entropy_grad_reference,
    cross_entropy_reference,
    cross_entropy_with_grad,
)
from gpukit.kernels.losses.mse import mse_loss, mse_loss_backward, mse_terms_reference

VARIANTS = (*entropy.VARIANTS, *mse.VARIANTS, *totals.VARIANTS)

__all__ = [
    "VARIANTS",
    "cross_entropy",
    "cross_entropy_backward",
    "cross_entropy_grad_reference",
    "cross_entropy_reference",
    "cross_entropy_with_grad",
    "mse_loss",
    "mse_loss_backward",
    "mse_terms_reference",
]
