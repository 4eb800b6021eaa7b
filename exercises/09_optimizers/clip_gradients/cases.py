"""Cases of the clipping: long, short and zero vectors, lengths on both sides of a block."""

import numpy as np

from gpukit.course import Case, lanes, lengths, poison

BLOCK = 128
# The length, and which of these norms.
NORMS = (0.0, 0.8, 1.25, 30.0, 1.0001, 0.9999, 1e15)
SHAPES = {name: (*n, 3) for name, n in lengths(BLOCK).items()} | {
    "a little too long": (67, 2),
    "a short vector": (67, 1),
    "all zeros": (131, 0),
    "hardly too long": (67, 4),
    "nearly too long": (67, 5),
    "much too long": (259, 6),
}


def case(rng: np.random.Generator, n: int, kind: int) -> Case:
    """Return the case of n gradients whose norm is of this kind."""
    drawn = rng.normal(1, 1, n)
    length = NORMS[min(kind, 6)]
    unit = drawn / max(np.sqrt((drawn**2).sum()), 1e-9)
    grad = (length * unit).astype(np.float32)
    wide = grad.astype(np.float64)
    norm = np.sqrt((wide**2).sum())
    (held,) = lanes.own(wide[None] ** 2, np.add, 0, BLOCK)  # the sum of squares of each thread

    def by(norm: float, always: bool = False) -> dict[str, np.ndarray]:
        """Return the vector made shorter as if this were its norm."""
        longer = norm > 1 or (always and norm > 0)
        return {"out": (wide / norm if longer else wide).astype(np.float32)}

    own = np.sqrt(held[np.arange(n) % BLOCK])  # the norm that each thread knows of
    whole = n // BLOCK * BLOCK
    return Case(
        args={"grad": grad, "out": poison(n)},
        grid=1,
        block=BLOCK,
        expected=by(norm),
        mistakes={
            "A vector a little longer than MOST stays as it is: the comparison is norm > MOST.": by(
                norm if norm > 2 else 0
            ),
            "Each element was clipped for itself, to -MOST ... MOST. The vector as a whole is made "
            "shorter, all elements by the same factor.": {
                "out": np.clip(wide, -1, 1).astype(np.float32)
            },
            "Short vectors were made longer: a norm below MOST stays as it is, so the factor is at "
            "most 1.": by(norm, always=True),
            "The vector is divided by the sum of squares; the norm is its root.": by(norm**2),
            "The norm is the sum of the sizes here; it is the root of the sum of squares.": by(
                np.abs(wide).sum()
            ),
            "The norm is the largest size here; it is the root of the sum of squares.": by(
                np.abs(wide).max(initial=0)
            ),
            "The squares were divided by their number: the norm is the root of their sum, not of "
            "their mean.": by(norm / np.sqrt(max(1, n))),
            "Each thread took its own elements for the vector: the sums of the 128 threads must be "
            "joined.": {"out": (wide / np.maximum(own, 1)).astype(np.float32)},
            **{words: by(np.sqrt(sums)) for words, sums in lanes.wrong_levels(held).items()},
            "Only the first 128 elements count for the norm: each thread took one.": by(
                np.sqrt((wide[:BLOCK] ** 2).sum())
            ),
            "The elements behind the last whole 128 are missing in the norm.": by(
                np.sqrt((wide[:whole] ** 2).sum())
            ),
            "Only the first 128 elements were written, and count: each thread took one. There are "
            "128 threads and takes the rest in a loop.": {
                "out": np.where(
                    np.arange(n) < BLOCK, by(np.sqrt((wide[:BLOCK] ** 2).sum()))["out"], poison(n)
                )
            },
            "Nothing was made shorter: this is grad itself.": {"out": grad.copy()},
            "A vector that is too long became 0; it is made shorter.": {
                "out": np.zeros_like(grad) if norm > 1 else grad.copy()
            },
        },
        per="block",
    )
