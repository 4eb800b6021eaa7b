"""Cases of the tone curve: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
COEFFICIENTS = np.array([0, 0.75, 0, 2.5, -3.75, 1.5])


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n brightnesses between 0 and 1."""
    x = rng.uniform(0, 1, n).astype(np.float32)
    x[1:2], x[2:3] = 0, 1
    powers = x.astype(np.float64)[:, None] ** np.arange(7)
    turned = COEFFICIENTS[(np.arange(n)[:, None] + np.arange(5)) % 6]
    higher, powers = powers[:, 1:], powers[:, :6]
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected={"out": (powers @ COEFFICIENTS).astype(np.float32)},
        scale={"out": powers @ np.abs(COEFFICIENTS)},
        mistakes={
            "The coefficients stand in the wrong order: COEFFICIENTS[0] belongs to x ** 0.": {
                "out": (powers @ COEFFICIENTS[::-1]).astype(np.float32)
            },
            "The last coefficient, COEFFICIENTS[5], is left out.": {
                "out": (powers[:, :5] @ COEFFICIENTS[:5]).astype(np.float32)
            },
            "The powers are one too low: the loop ends before COEFFICIENTS[0].": {
                "out": (powers[:, :5] @ COEFFICIENTS[1:]).astype(np.float32)
            },
            "This is the sum of the coefficients: no x is multiplied in.": {
                "out": np.full(n, COEFFICIENTS.sum(), np.float32)
            },
            "table[k] is added before x is multiplied in: it is acc * x[i] + table[k].": {
                "out": (higher[:, :5] @ COEFFICIENTS[:5] + powers[:, 5] * COEFFICIENTS[5]).astype(
                    np.float32
                )
            },
            "The powers are one too high: x is multiplied in once more after COEFFICIENTS[0].": {
                "out": (higher @ COEFFICIENTS).astype(np.float32)
            },
            "The index of table depends on the thread. All threads need the same coefficient at "
            "the same time: table[k].": {
                "out": (
                    (powers[:, :5] * turned).sum(axis=1) + powers[:, 5] * COEFFICIENTS[5]
                ).astype(np.float32)
            },
        },
    )
