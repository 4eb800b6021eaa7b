"""Loss functions and their gradients: cross-entropy and mean squared error.

`entropy` is for classification, `mse` for regression; `totals` reduces many losses to one.
A loss is an array of no axes on the device of the inputs, so that no launch waits for the host.
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
