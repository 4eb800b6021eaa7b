"""Make the learner's steps, each with another gradient, and note what is left of each."""

from types import SimpleNamespace

import numpy as np


def run(scaled_step, grads, start, scale, lr, weights, scales, made):
    """Write the weights and the scale after each step, and whether the step was made."""
    own, state = start.copy(), SimpleNamespace(scale=float(scale), good=0)
    for k, grad in enumerate(grads):
        calls = []

        def backward(factor, grad=grad, calls=calls):
            calls.append(factor)
            with np.errstate(over="ignore"):
                return (grad * np.float64(factor)).astype(np.float16)

        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = scaled_step(backward, own, state, float(lr))
        if len(calls) != 1:
            raise RuntimeError(
                f"scaled_step called backward {len(calls)} times in step {k}. Call it once per "
                "step, with the scale: a step that overflows is skipped, not repeated."
            )
        if not isinstance(found, (bool, np.bool_)):
            raise TypeError(
                f"scaled_step returned {'nothing' if found is None else repr(found)} in step {k}. "
                "Return True for a step that was made, False for one that was skipped."
            )
        weights[k], scales[k], made[k] = own, state.scale, found
