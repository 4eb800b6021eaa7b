"""Run the learner's exchange of gradients on virtual ranks, each with its micro-batches."""

import numpy as np

from gpukit.course import strict_ranks


def run(
    gradient_bucket, of_rank, counts, weight, bias, filters, weight_mean, bias_mean, filters_mean
):
    """Write the mean gradients of three parameters that each rank returns."""
    ends, parameters = np.cumsum(of_rank), (weight, bias, filters)

    def body(group):
        own = range(ends[group.rank] - of_rank[group.rank], ends[group.rank])
        grads = [[array[b].copy() for array in parameters] for b in own]
        found = gradient_bucket(group, grads, [int(counts[b]) for b in own])
        return checked(found, [array.shape[1:] for array in parameters])

    for rank, found in enumerate(strict_ranks.run(body, len(of_rank))):
        weight_mean[rank], bias_mean[rank], filters_mean[rank] = found


def checked(found, shapes):
    """Return what a rank has returned, or raise saying what it should be."""
    if found is None:
        raise TypeError("gradient_bucket returned nothing: end it with `return` and the list.")
    if not isinstance(found, (list, tuple)) or len(found) != len(shapes):
        raise TypeError(
            "gradient_bucket should return a list with an array per parameter, here three, not "
            f"{type(found).__name__}{f' of {len(found)}' if hasattr(found, '__len__') else ''}."
        )
    for number, (array, shape) in enumerate(zip(found, shapes, strict=True)):
        if np.shape(array) != shape:
            raise ValueError(
                f"gradient_bucket returned parameter {number} in shape {np.shape(array)}, expected "
                f"{shape}, that of its gradients"
            )
    return found
