"""Cut a model into the stages of a pipeline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gpukit.nn.containers import Sequential
from gpukit.nn.parameters import Parameter, parts_of


def cut(model: Any, stages: int, boundaries: Sequence[int] | None = None) -> list[range]:
    """Return the layers of each stage, as ranges of `model.layers`.

    `boundaries` are the first layers of the stages 1, 2, ...; without them the largest number of
    parameters of a stage is the smallest that there can be. A stage has at least one layer.
    """
    if not isinstance(model, Sequential):
        raise TypeError(
            f"Pipeline: expected a Sequential, got {type(model).__name__}. Its layers are divided "
            "into stages: put them into nn.Sequential."
        )
    count = len(model.layers)
    if count < stages:
        raise ValueError(
            f"Pipeline: expected a layer for each of {stages} stages, got {count} in all. Use "
            "fewer ranks, or put the layers of inner Sequentials into the outer one."
        )
    ends = (
        _balanced([weight(layer) for layer in model.layers], stages)
        if boundaries is None
        else [*boundaries, count]
    )
    made = [range(*pair) for pair in zip([0, *ends], ends, strict=False)]
    if len(made) != stages or not all(made) or ends[-1] != count or min(ends) < 0:
        raise ValueError(
            f"Pipeline: expected {stages - 1} rising boundaries between 1 and {count - 1}, got "
            f"{list(boundaries or ())}. Each is the number of the first layer of a stage."
        )
    return made


def weight(layer: Any) -> int:
    """Return the number of learned values of a layer."""
    return sum(math.prod(parameter.shape) for _, parameter in parts_of(layer, Parameter))


def _balanced(weights: Sequence[int], stages: int) -> list[int]:
    """Return where each stage ends: dynamic programming over the ends of the stages before.

    >>> _balanced([5, 1, 1, 1, 5], 3)
    [1, 4, 5]
    """
    total = [0]
    for each in weights:
        total.append(total[-1] + each)
    count = len(weights)
    # The largest stage, and the ends, of the first `end` layers in so many stages.
    best: dict[int, tuple[int, list[int]]] = {
        end: (total[end], [end]) for end in range(1, count + 1)
    }
    for number in range(2, stages + 1):
        best = {
            end: min(
                (max(best[cut][0], total[end] - total[cut]), [*best[cut][1], end])
                for cut in range(number - 1, end)
            )
            for end in range(number, count + 1)
        }
    return best[count][1]
