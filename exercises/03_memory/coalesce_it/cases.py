"""Cases of the roots: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 64
EACH = 8
AWKWARD = np.array([0, 1e-12, 1e12], np.float32)
# It ends inside a sector, so that what is counted from its end needs five sectors and not four.
MEASURED = "eight blocks but for three elements"
SHAPES = {
    **lengths(BLOCK),
    "eight whole blocks": (8 * EACH * BLOCK,),
    MEASURED: (8 * EACH * BLOCK - 3,),
}


def left_by(roots: np.ndarray, starts: range, step: int) -> dict[str, np.ndarray]:
    """Return what is left where each thread begins at one of `starts` and goes on by `step`."""
    out = poison(roots.size)
    for start in starts:
        out[start::step] = roots[start::step]
    return {"out": out}


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers."""
    x = rng.uniform(0, 9, n).astype(np.float32)
    x[1 : 1 + AWKWARD.size] = AWKWARD[: max(0, n - 1)]
    threads = max(1, -(-n // (EACH * BLOCK))) * BLOCK
    roots = np.sqrt(x)
    return Case(
        args={"x": x, "out": poison(n)},
        grid=threads // BLOCK,
        block=BLOCK,
        expected={"out": roots},
        mistakes={
            "Each thread took one element and stopped; there are eight times as many elements as "
            "threads.": left_by(roots, range(threads), n),
            "Every block begins with element 0, so all blocks take the same elements: begin at "
            "`cuda.grid(1)`, not at `cuda.threadIdx.x`.": left_by(roots, range(BLOCK), threads),
            f"The step is {EACH * BLOCK}. It must be the number of all threads in this launch: "
            "`cuda.gridsize(1)`.": left_by(roots, range(threads), EACH * BLOCK),
            "Each thread begins at `cuda.grid(1) * EACH`. Where the step is the number of all "
            "threads, it begins at `cuda.grid(1)`.": left_by(
                roots, range(0, threads * EACH, EACH), threads
            ),
            "The last turn is left out: a thread takes 8 elements, not 7.": {
                "out": np.where(np.arange(n) // BLOCK % EACH < EACH - 1, roots, poison(n))
            },
            "Every second turn is left out: the step is `cuda.gridsize(1)`, once.": left_by(
                roots, range(threads), 2 * threads
            ),
        }
        if n > threads
        else {},
    )
