import numpy as np


def average(group, weights):
    """Return the mean of the weights of all ranks."""
    total = group.all_reduce(np.array(weights))
    return total / group.size


def average_replicas(group, weights, gradient, lr, steps, every):
    w = np.copy(weights)
    step = 0
    while step < steps:
        w = w - lr * gradient(w, step)
        step += 1
        if step % every == 0 or step == steps:
            w = average(group, w)
    return w
