from __future__ import annotations

from typing import TYPE_CHECKING

import gpukit
from gpukit import nn

if TYPE_CHECKING:
    import numpy as np


def training_step(model: nn.Sequential, optimizer: nn.Momentum, x: np.ndarray, label: np.ndarray, most: float = 1.0) -> float:
    """One step: forward, loss, backward, clip, update."""
    assert most > 0
    logits, saved = model.forward(x)
    mean, gradient_of_the_logits = nn.cross_entropy(logits, label)
    model.backward(saved, gradient_of_the_logits)
    gpukit.clip_grad_norm(optimizer.parameters.grad, most)
    optimizer.step()
    return mean.copy_to_host().item()
