"""One step with a dynamic loss scale. The task is in task.md."""

import numpy as np

EVERY = 3


def scaled_step(backward, weights, state, lr):
    """Update the weights with the gradient of a scaled loss, or skip the step; adapt the scale."""
    # FILL ME IN (about 11 lines)
