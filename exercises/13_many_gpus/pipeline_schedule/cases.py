"""Cases of the schedule: more micro-batches than stages, as many, and fewer."""

import numpy as np

from gpukit.course import Case, called, poison, some

# Stages, micro-batches.
SHAPES = {
    "two stages": (2, 4),
    "three stages": (3, 5),
    "one micro-batch": (2, 1),
    "fewer micro-batches than stages": (3, 2),
    "as many as stages": (3, 3),
    "one stage": (1, 3),
    "many micro-batches": (3, 16),
}


def case(_rng: np.random.Generator, stages: int, micro_batches: int) -> Case:
    """Return the case of these numbers of stages and micro-batches."""
    rows = [order(stages - s, micro_batches) for s in range(stages)]
    codes = np.array(rows, np.int32)
    right = {
        "held": np.cumsum(np.where(codes >= 0, 1, -1), axis=1).max(axis=1).astype(np.int32),
        "is_backward": (codes < 0).astype(np.int32),
        "micro_batch": np.where(codes >= 0, codes, ~codes).astype(np.int32),
    }
    return called(
        args={"stages": stages, "micro_batches": micro_batches}
        | {name: poison(array.shape, np.int32) for name, array in right.items()},
        expected=right,
        shown=f"{some(stages, 'stage')}, {some(micro_batches, 'micro-batch', 'micro-batches')}",
    )


def order(ahead: int, micro_batches: int) -> list[int]:
    """Return the operations of a stage; m is a forward pass, ~m a backward pass of micro-batch m.

    An event loop: backward if `ahead` micro-batches are in flight, or no forward pass is left.
    """
    found: list[int] = []
    went = came = 0
    while came < micro_batches:
        if went - came == ahead or went == micro_batches:
            found.append(~came)
            came += 1
        else:
            found.append(went)
            went += 1
    return found
