"""Cases of the counts: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths

BLOCK = 128
SHAPES = lengths(BLOCK)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n brightnesses, most of them dark."""
    values = np.minimum(rng.exponential(40, n), 255).astype(np.uint8)
    values[1:2], values[2:3] = 255, 0
    right = np.bincount(values, minlength=256).astype(np.int32)
    number = np.arange(n)
    exchanged = np.zeros(256, np.int32)
    exchanged[: min(n, 256)] = values[:256]
    first = np.bincount(values[:256], minlength=256).astype(np.int32)
    block = np.bincount(values[:BLOCK], minlength=256).astype(np.int32)
    blocks = max(1, -(-n // BLOCK))
    return Case(
        args={"values": values, "counts": np.zeros(256, np.int32)},
        grid=blocks,
        block=BLOCK,
        expected={"counts": right},
        mistakes={
            "Only the first 256 pixels were counted: the guard compares with the length of counts, "
            "and i belongs to values.": {"counts": first},
            "counts[i] grew by values[i]: the counter of the pixel's value should grow by 1.": {
                "counts": exchanged
            },
            "Each value that occurs was counted once, however often it occurs.": {
                "counts": np.minimum(right, 1)
            },
            "Each counter grew by the pixel's value; it should grow by 1 for each pixel.": {
                "counts": right * np.arange(256, dtype=np.int32)
            },
            "Only the first 128 pixels were counted, once for each block: i lacks "
            "cuda.blockIdx.x * cuda.blockDim.x.": {"counts": blocks * block},
            "Pixels of later blocks were counted several times: each block goes on through them. A "
            "thread has one pixel.": {
                "counts": np.bincount(values, number // BLOCK + 1, 256).astype(np.int32)
            },
            "Nothing was counted: all counters are still 0, as before the launch.": {
                "counts": np.zeros(256, np.int32)
            },
        },
        per="block",
    )
