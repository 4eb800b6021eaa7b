"""Replicas that average their weights every few steps. The task is in task.md."""


def average_replicas(group, weights, gradient, lr, steps, every):
    """Train this rank's replica; return the weights that all replicas have at the end."""
    # FILL ME IN (about 6 lines)
