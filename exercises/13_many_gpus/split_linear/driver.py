"""Run the learner's divided layers on virtual ranks, each with its part of the hidden units."""

import numpy as np

from gpukit.course import strict_ranks


def run(split_linear, ranks, x, w1, b1, w2, b2, grad, out, grad_x):
    """Write the output and the gradient of x that each rank returns."""
    parts = np.array_split(np.arange(len(b1)), ranks)

    def body(group):
        own = parts[group.rank]
        mine = x, w1[own], b1[own], w2[:, own], b2, grad
        found = split_linear(group, *(array.copy() for array in mine))
        return pair(found, out.shape[1:], grad_x.shape[1:])

    for rank, found in enumerate(strict_ranks.run(body, ranks)):
        out[rank], grad_x[rank] = found


def pair(found, *shapes):
    """Return what a rank has returned, or raise saying what it should be."""
    if found is None:
        raise TypeError("split_linear returned nothing: end it with `return out, grad_x`.")
    if not isinstance(found, (tuple, list)) or len(found) != len(shapes):
        raise TypeError(
            f"split_linear should return the pair out, grad_x, not {type(found).__name__}."
        )
    for name, array, shape in zip(("out", "grad_x"), found, shapes, strict=True):
        if getattr(array, "shape", None) != shape:
            raise ValueError(
                f"split_linear returned {name} of shape {getattr(array, 'shape', None)}, expected "
                f"{shape}, that of the whole layers"
            )
    return found
