"""Accumulated gradients, exchanged in one bucket. The task is in task.md."""

import numpy as np


def gradient_bucket(group, grads, counts):
    """Return the mean gradient of each parameter over the examples of all ranks."""
    parameters = grads[0]
    bucket = np.zeros(sum(g.size for g in parameters) + 1, np.float32)
    for micro_batch, count in zip(grads, counts, strict=True):
        bucket[:-1] += count * np.concatenate([g.ravel() for g in micro_batch])
        bucket[-1] += count
    group.all_reduce(bucket)
    mean = bucket[:-1] / bucket[-1]
    parts = np.split(mean, np.cumsum([g.size for g in parameters])[:-1])
    return [part.reshape(g.shape) for part, g in zip(parts, parameters, strict=True)]
