"""Cases of the compacted vector: full blocks, ragged blocks, one element and none."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
# Whole numbers and fractions, some of them very small: all above 0 are positive.
SMALL = (0.3, 0.7, 1e-6, 1e-37, 1e37, np.inf, -0.3, -1e-6, -0.0)


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, some of them 0."""
    x = np.round(rng.normal(0, 2, n)).astype(np.float32)
    small = rng.random(n) < 0.25
    x[small] = rng.choice(np.array(SMALL, np.float32), int(small.sum()))
    kept = x[x > 0]
    ends = np.cumsum(x > 0).astype(np.int32)
    places = np.arange(kept.size)
    own = np.flatnonzero(x > 0)  # where the positive numbers stand in x

    def only(which: np.ndarray) -> dict[str, np.ndarray]:
        return {"out": np.where(which, kept, poison(kept.size))}

    def last_of(which: np.ndarray) -> dict[str, np.ndarray]:
        """Return what is left where all of these store at out[ends[i] - 1], one by one."""
        out = poison(kept.size)
        for i in np.flatnonzero(which & (ends > 0)):
            out[ends[i] - 1] = x[i]
        return {"out": out}

    begins = np.diff(ends, prepend=ends[-1:])  # with ends[-1], the last one, before the first
    return Case(
        args={"x": x, "ends": ends, "out": poison(kept.size)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": kept},
        mistakes={
            "The numbers stand back to front; their order must stay.": {"out": kept[::-1]},
            "Positive numbers below 1 were left out: every number above 0 is positive, x[i] > "
            "0.": only(kept >= 1),
            "Very small positive numbers were left out: every number above 0 is positive, x[i] > "
            "0.": (only(kept > 1e-5)),
            "Positive numbers up to 0.5 were left out: every number above 0 is positive, x[i] > "
            "0.": only(kept > 0.5),
            "Only the first numbers of x were looked at: the guard compares i with the length of "
            "out, and i belongs to x.": only(own < kept.size),
            "Only the first 128 numbers of x were looked at, by every block: i is cuda.grid(1), "
            "not cuda.threadIdx.x.": only(own < BLOCK),
            "This is ends[i], the place; the number x[i] is asked.": {
                "out": (places + 1).astype(np.float32)
            },
            "This is ends[i] - 1, the place; the number x[i] is asked.": {
                "out": places.astype(np.float32)
            },
            "Zeros were kept too: 0 is not positive, so the test is x[i] > 0.": last_of(x >= 0),
            "Numbers that are not positive were written too: only threads with x[i] > 0 store.": (
                last_of(np.ones(n, bool))
            ),
            "Thread 0 compared with ends[-1], which is the last one: before the first number "
            "stands 0. The test x[i] > 0 needs no neighbour.": last_of(begins != 0),
        },
        per="block",
    )
