"""Cases of the argmax: full blocks, ragged blocks, one element and none."""

from collections.abc import Callable

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = {
    **{name: shape for name, shape in lengths(BLOCK).items() if shape != (0,)},
    "numbers that differ by fractions": (300,),
    "numbers far below zero": (500,),
    "more than 1024 numbers": (1300,),
    "numbers of both signs": (257,),
    "minus infinity and the least number above it": (262,),
    "minus infinity everywhere": (275,),
}
BOTH_SIGNS, LEAST, NOTHING = 257, 262, 275  # lengths
Better = Callable[[float, float, bool], bool]


def numbers(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return n numbers, nearly always negative, many equal, the largest in several places."""
    if n == BOTH_SIGNS:
        x = np.round(rng.normal(0, 4, n)).astype(np.float32)
        x[n // 3 :: BLOCK] = x.max() + 1
        return x
    if n == NOTHING:
        return np.full(n, -np.inf, np.float32)
    if n == LEAST:
        x = np.full(n, -np.inf, np.float32)
        x[[n // 3, n // 3 + BLOCK]] = np.finfo(np.float32).min
        return x
    steps = rng.integers(1, 20, n).astype(np.float64)
    # Equal largest elements, in one thread and in others.
    steps[n // 3 :: BLOCK] = 0.5
    steps[n // 3 + 100 : n // 3 + 101] = 0.5
    if n > 1024:
        steps[-1] = 0.25  # behind all that a loop of a fixed length reaches
    # In turns: equal but for their fractions, whole, and near the least of all float32.
    first, step = ((1, 1 / 32), (0, 1), (3e38, 2e36))[n % 3]
    return (-first - step * steps).astype(np.float32)


def own_best(x: np.ndarray) -> list[tuple[float, int]]:
    """Return the largest element of each thread and its index."""
    best = [(-np.inf, tid) for tid in range(BLOCK)]
    for tid in range(min(BLOCK, len(x))):
        at = tid + BLOCK * int(np.argmax(x[tid::BLOCK]))
        best[tid] = float(x[at]), at
    return best


def tree(pairs: list[tuple[float, int]], better: Better) -> int:
    """Return the index that a tree leaves in its first place."""
    pairs, half = list(pairs), BLOCK // 2
    while half:
        for tid in range(half):
            (mine, place), (other, there) = pairs[tid], pairs[tid + half]
            if better(other, mine, there < place):
                pairs[tid] = other, there
        half //= 2
    return pairs[0][1]


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, many of them equal."""
    x = numbers(rng, n)
    right = int(np.argmax(x))
    tie = "This is another of several equal largest elements; the first is asked: within a thread "
    tie += "x[i] > value keeps it, and in the tree the smaller index wins."
    pairs = own_best(x)
    whole = [(float(np.trunc(max(value, -1e6))), at) for value, at in pairs]
    with np.errstate(invalid="ignore"):
        value = int(x[right].astype(np.int32))
    smallest = "This is the number nearest to 0: the largest is asked, whatever the sign."

    def at(index: int) -> dict[str, np.ndarray]:
        return {"best": np.array([index], np.int32)}

    # What stands in best is not known to the kernel: often nothing sensible, here and there 0.
    before = np.zeros(1, np.int32) if n % 12 in (0, 4) and right else poison(1, np.int32)
    kept = "best[0] still holds the 0 that stood there before the launch: an atomic minimum needs "
    kept += "a start. Store the result with =."
    return Case(
        args={"x": x, "best": before},
        grid=1,
        block=BLOCK,
        expected=at(right),
        mistakes={
            **({} if before.any() else {kept: at(0)}),
            "This is the largest value, made a whole number; its index is asked.": at(value),
            smallest: at(int(np.argmin(np.abs(x)))) if n == BOTH_SIGNS else {},
            tie: {} if n in (BOTH_SIGNS, LEAST, NOTHING) else at(n // 3 + 100),
            tie + " Here it is the last.": (
                {} if n == NOTHING else at(n - 1 - int(np.argmax(x[::-1])))
            ),
            "All elements are minus infinity here, so none is larger than what the search began "
            "with: begin with the index of an element, such as tid, and let tid < x.size count.": (
                at(-1) if n == NOTHING else {}
            ),
            "No element was larger than what the search began with: begin with minus infinity, all "
            "numbers may be negative.": at(n),
            "Index 0 came out: no element was larger than what the search began with; begin with "
            "minus infinity, all numbers may be negative.": at(0),
            "This is the place of the smallest element.": at(int(np.argmin(x))),
            "Only the first 128 elements were looked at: each thread goes on, in steps of BLOCK.": (
                at(int(np.argmax(x[:BLOCK])))
            ),
            "Elements behind the first 1024 were not looked at: the loop must reach x.size, "
            "whatever the length.": at(int(np.argmax(x[:1024]))),
            "Only the elements of thread 0 count here: where the tree takes the other value, it "
            "must take its index too.": at(pairs[0][1]),
            "The last level is missing: half must come down to 1. The best of elements 1, 3, 5, "
            "... is left in values[1].": at(2 * int(np.argmax(x[::2]))),
            "A larger value with a larger index lost: the other pair wins if it is larger, or if "
            "it is equal and its index is smaller.": at(
                tree(pairs, lambda other, mine, first: other >= mine and first)
            ),
            "Values that differ by fractions became equal: the shared array of values must be of "
            "np.float32.": at(
                tree(whole, lambda other, mine, first: other > mine or (other == mine and first))
            ),
        },
        per="block",
    )
