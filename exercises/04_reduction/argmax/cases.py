"""Cases of the argmax: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = {name: shape for name, shape in lengths(BLOCK).items() if shape != (0,)}


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n negative numbers, many of them equal."""
    x = (-rng.integers(1, 20, n)).astype(np.float32)
    # Equal largest elements, in one thread and in others.
    x[n // 3 :: BLOCK] = -0.5
    x[n // 3 + 100 : n // 3 + 101] = -0.5
    tie = "This is another of several equal largest elements; the first is asked: within a thread "
    tie += "x[i] > value keeps it, and in the tree the smaller index wins."

    def at(index: int) -> dict[str, np.ndarray]:
        return {"best": np.array([index], np.int32)}

    return Case(
        args={"x": x, "best": poison(1, np.int32)},
        grid=1,
        block=BLOCK,
        expected=at(int(np.argmax(x))),
        mistakes={
            tie: at(n // 3 + 100),
            tie + " Here it is the last.": at(n - 1 - int(np.argmax(x[::-1]))),
            "No element was larger than what the search began with: begin with minus infinity, all "
            "numbers may be negative.": at(n),
            "Index 0 came out: no element was larger than what the search began with. Begin with "
            "minus infinity, all numbers may be negative.": at(0),
            "This is the place of the smallest element.": at(int(np.argmin(x))),
        },
        per="block",
    )
