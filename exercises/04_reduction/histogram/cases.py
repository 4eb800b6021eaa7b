"""Cases of the histogram: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths

BLOCK = 128
SHAPES = {**lengths(BLOCK), "many elements": (9000,)}


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n brightnesses, most of them dark."""
    values = np.minimum(rng.exponential(40, n), 255).astype(np.uint8)
    right = np.bincount(values, minlength=256).astype(np.int32)
    once = np.bincount(values[: 4 * BLOCK], minlength=256).astype(np.int32)
    upper = right.copy()
    upper[BLOCK:] = 0
    return Case(
        args={"values": values, "counts": np.zeros(256, np.int32)},
        grid=max(1, min(4, -(-n // BLOCK))),
        block=BLOCK,
        expected={"counts": right},
        mistakes={
            "Only the first 128 counters were handed on: there are 128 threads and 256 counters.": {
                "counts": upper
            },
            "Only as many elements as there are threads: each thread counted one and stopped.": {
                "counts": once
            },
            "Only the last block's counters are there: add them to counts, do not store them.": {
                "counts": np.zeros(256, np.int32)
            },
        },
        per="block",
    )
