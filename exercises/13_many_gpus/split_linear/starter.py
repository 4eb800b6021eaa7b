"""Two dense layers whose weights are divided among ranks. The task is in task.md."""

import numpy as np


def split_linear(group, x, w1, b1, w2, b2, grad):
    """Return the output of both layers and the gradient of x, the same on all ranks."""
    # FILL ME IN (about 6 lines)
