"""What a rank holds in memory, for data, tensor and pipeline parallelism and their combinations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gpukit.parallel.schedules import Schedule, gpipe


class Memory(NamedTuple):
    """What one rank holds, in bytes."""

    parameters: float
    gradients: float
    optimizer: float
    activations: float

    @property
    def total(self) -> float:
        """The sum of all four."""
        return sum(self)


@dataclass(frozen=True)
class Training:
    """What is trained: the whole model, and the batch of one step over all ranks.

    `activations` and `boundary` are bytes per sample: those saved for the backward passes of all
    layers, and those that pass between two stages. An optimizer keeps `optimizer_values` numbers
    per parameter: 0 for SGD, 1 with momentum, 2 for Adam.
    """

    parameters: float
    activations: float
    batch: int
    boundary: float = 0.0
    optimizer_values: int = 2
    bytes_per_value: int = 4


def memory_per_rank(
    training: Training,
    *,
    data: int = 1,
    tensor: int = 1,
    schedule: Schedule | None = None,
    recompute: bool = False,
    replicated: float = 0.0,
) -> list[Memory]:
    """Return the memory of a rank of each pipeline stage; without a schedule there is one.

    `data` ranks hold copies of the model. `tensor` ranks share each layer, and with it the
    activations except for a fraction, `replicated`. All stages are equal. With `recompute` a stage
    keeps the inputs of its micro-batches and the activations of one.

    >>> memory_per_rank(Training(parameters=100, activations=80, batch=8), data=2)
    [Memory(parameters=400.0, gradients=400.0, optimizer=800.0, activations=320.0)]
    """
    schedule = schedule or gpipe(1, 1)
    stages = len(schedule)
    weights = training.parameters * training.bytes_per_value / (tensor * stages)
    samples = training.batch / (data * schedule.micro_batches)
    saved = training.activations / stages * (replicated + (1 - replicated) / tensor)
    found = []
    for stage in range(stages):
        held = schedule.held(stage, recompute=recompute)
        activations = samples * (held.activations * saved + held.inputs * training.boundary)
        found.append(Memory(weights, weights, weights * training.optimizer_values, activations))
    return found
