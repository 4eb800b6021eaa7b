"""Accumulated gradients, exchanged in one bucket. The task is in task.md."""

import numpy as np


def gradient_bucket(group, grads, counts):
    """Return the mean gradient of each parameter over the examples of all ranks."""
    # FILL ME IN (about 8 lines)
