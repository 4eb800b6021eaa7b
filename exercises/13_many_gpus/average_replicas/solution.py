"""Replicas that average their weights every few steps. The task is in task.md."""


def average_replicas(group, weights, gradient, lr, steps, every):
    """Train this rank's replica; return the weights that all replicas have at the end."""
    for step in range(steps):
        weights -= lr * gradient(weights, step)
        is_last = step == steps - 1
        if (step + 1) % every == 0 or is_last:
            group.all_reduce(weights)
            weights /= group.size
    return weights
