"""Train a small network by the learner's step, and bring back what it has become."""

import numpy as np

from gpukit import cuda, nn

HIDDEN, CLASSES = 8, 3
LR, MOMENTUM = 1.0, 0.9


def run(training_step, x, label, weights, most, first, norm, last, averages, losses):
    """Make a step for each batch; write each layer's weights, the averages and the losses."""
    model = nn.Sequential(
        nn.Linear(x.shape[2], HIDDEN), nn.BatchNorm(HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, CLASSES)
    )
    parameters = nn.Parameters(model, seed=0)
    begin, at = parameters.state(), 0
    for name in parameters.names:
        size = begin[name].size
        begin[name] = weights[at : at + size].reshape(begin[name].shape)
        at += size
    parameters.load(begin)
    optimizer = nn.Momentum(parameters, lr=LR, momentum=MOMENTUM)
    for k, bound in enumerate(most.tolist()):
        samples = x.shape[1] - k  # the batches get smaller
        batch = [cuda.to_device(array[k, :samples]) for array in (x, label)]
        loss = training_step(model, optimizer, *batch, bound)
        losses[k] = number(loss)
    state = parameters.state()
    for out, layer, names in (
        (first, 0, ("weight", "bias")),
        (norm, 1, ("weight", "bias")),
        (last, 3, ("weight", "bias")),
        (averages, 1, ("mean", "var")),
    ):
        out[:] = np.concatenate([state[f"{layer}.{name}"].ravel() for name in names])


def number(loss):
    """Return the loss as a float, or raise saying what was returned instead."""
    if loss is None:
        raise TypeError("training_step returned nothing: end it with `return` and the mean loss.")
    if hasattr(loss, "copy_to_host"):
        raise TypeError(
            "training_step returned an array on the device. Return a number of Python: "
            "float(loss.copy_to_host())."
        )
    try:
        return float(loss)
    except (TypeError, ValueError):
        raise TypeError(
            f"training_step returned a {type(loss).__name__}. Return one number, the mean loss."
        ) from None
