"""Cases of the sigmoid: lengths on both sides of a block, and none at all."""

import numpy as np

from gpukit.course import Case, lengths, poison

BLOCK = 128
SHAPES = lengths(BLOCK)
# One length alone has numbers between these: there the last bits of exp decide what a subtraction
# leaves, so that no mistake can be computed.
MIDDLE = (-18, -2.5)
FAR = (-700, 700)  # where exp has long overflowed a float32, and not yet a float64


def case(rng: np.random.Generator, n: int) -> Case:
    """Return the case of n numbers, a few of them far from 0."""
    x = rng.uniform(MIDDLE[1], 16, n)
    x[3::7] = rng.uniform(-86, -21, x[3::7].size)
    x[5::7] = rng.uniform(-200, -100, x[5::7].size)
    x[6::7] = rng.uniform(100, 200, x[6::7].size)
    x[:1], x[1:2] = -2.25, 0
    x[12:13], x[13:14] = -3e38, 3e38
    middle = n == BLOCK + 1
    if middle:
        x[1::2] = rng.uniform(*MIDDLE, x[1::2].size)
    x = x.astype(np.float32)
    wide = x.astype(np.float64)
    right = _sigmoid(wide)
    one, half = np.float32(1), np.float32(0.5)

    def left(values: np.ndarray) -> dict[str, np.ndarray]:
        with np.errstate(over="ignore"):
            return {"out": values.astype(np.float32)}

    lost = {} if middle else left(np.where(wide < MIDDLE[0], 0, right))
    clipped = {
        f"x is held above -{most}, yet the result goes on falling: sigmoid(-60) is 9e-27.": left(
            _sigmoid(np.clip(wide, -most, most))
        )
        for most in (10, 15, 20, 30, 50)
    }
    straight = {
        f"This is {slope} * x + 0.5, held between 0 and 1: a straight line, not a sigmoid.": {
            "out": np.clip(x * np.float32(slope) + half, 0, one)
        }
        for slope in (0.25, 0.2)
    }
    return Case(
        args={"x": x, "out": poison(n)},
        grid=max(1, -(-n // BLOCK)),
        block=BLOCK,
        expected=left(right),
        mistakes={
            "This is the sigmoid of -x: the sign in front of x is missing or there twice.": left(
                _sigmoid(-wide)
            ),
            "This is the sigmoid of abs(x): for negative x it is below a half.": left(
                _sigmoid(np.abs(wide))
            ),
            "This is 1 / 1 + exp(-x): a division comes before a sum. Put 1 + exp(-x) into "
            "parentheses.": left(1 + np.exp(-np.clip(wide, *FAR))),
            "Small results are lost: as the sum or the difference of two numbers near 1 a result "
            "is a multiple of 6e-8 in float32, or 0. Divide 1 by 1 + exp(-x).": lost,
            "Large numbers give 0: exp(x) / (1 + exp(x)) is infinity divided by infinity there, "
            "and the right result is 1.": left(np.where(wide > 89, 0, right)),
            "The base is 2.718 and e has more digits: math.exp knows them all.": left(
                _sigmoid(wide * np.log(2.718))
            ),
            "Where x is 0 nothing was written: neither x > 0 nor x < 0 holds there.": {
                "out": np.where(x == 0, poison(n), right.astype(np.float32))
            },
            "This is tanh, which runs from -1 to 1.": left(np.tanh(wide)),
        }
        | clipped
        | straight,
    )


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(x, *FAR)))
