"""Train the learner's replicas on virtual ranks, on quadratic losses."""

import numpy as np

from gpukit.course import strict_ranks


def run(average_replicas, curvature, target, start, lr, every, weights):
    """Write the weights that each rank returns."""
    steps = len(target)

    def body(group):
        asked = []

        def gradient(at, step):
            if step != len(asked):
                raise ValueError(
                    f"gradient was called for step {step}, expected {len(asked)}: call it once per "
                    "step, from 0 on"
                )
            asked.append(step)
            return curvature[group.rank] * (at - target[step, group.rank])

        found = average_replicas(group, start.copy(), gradient, lr, steps, every)
        if len(asked) != steps:
            raise ValueError(f"gradient was called for {len(asked)} steps, expected {steps}")
        return vector(found, start.shape)

    weights[:] = strict_ranks.run(body, len(curvature))


def vector(found, shape):
    """Return what a rank has returned, or raise saying what it should be."""
    if found is None:
        raise TypeError("average_replicas returned nothing: end it with `return weights`.")
    if np.shape(found) != shape:
        raise TypeError(
            f"average_replicas should return the weights, of shape {shape}, not "
            f"{type(found).__name__} of shape {np.shape(found)}."
        )
    return found
